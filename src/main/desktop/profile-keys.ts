import { readFileSync } from 'node:fs'
import process from 'node:process'
import { safeStorage } from 'electron'
import { z } from 'zod'
import { toSystemCode, toThrownText } from '../../shared/messages/thrown.ts'
import { type LastingStore, NoLastingStore } from '../engine/secrets/key-store.ts'
import { replaceFileSync } from '../engine/workspace/replace-file.ts'

const fileSchema = z.object({
  version: z.literal(1),
  /** Each secret as encrypted by safeStorage, in base64, by its name. */
  secrets: z.record(z.string(), z.base64()),
})

type ProfileFile = z.infer<typeof fileSchema>

/** Prefix of texts that Chromium encrypts with a publicly known password. */
const KNOWN_PASSWORD = 'v10'

/**
 * Stores typed keys of the desktop app, encrypted by the system (safeStorage), in a file of the person's
 * profile that only they can read. On Linux without a password store nothing is kept, since anybody who has
 * the file could decrypt it.
 */
export function createProfileKeys(file: string, platform = process.platform): LastingStore {
  let turn: Promise<unknown> = Promise.resolve()

  const check = async () => {
    const backend = platform === 'linux' ? safeStorage.getSelectedStorageBackend() : null
    if (backend === 'basic_text' || backend === 'unknown') {
      throw new NoLastingStore(
        `this desktop has no password store such as GNOME Keyring or KWallet (${backend})`,
      )
    }
    if (!(await safeStorage.isAsyncEncryptionAvailable())) {
      throw new NoLastingStore('the system does not encrypt anything for Sluice at the moment')
    }
  }

  const encrypt = async (secret: string): Promise<string> => {
    const encrypted = await safeStorage.encryptStringAsync(secret)
    if (
      platform === 'linux' &&
      encrypted.subarray(0, KNOWN_PASSWORD.length).equals(Buffer.from(KNOWN_PASSWORD))
    ) {
      throw new NoLastingStore('this desktop encrypts with a password that everybody knows')
    }
    return encrypted.toString('base64')
  }

  /** One change at a time, so that none overwrites another. */
  const change = (make: (secrets: ProfileFile['secrets']) => Promise<void>): Promise<void> => {
    const changed = turn.then(async () => {
      const content = readProfileFile(file)
      await make(content.secrets)
      replaceFileSync(file, `${JSON.stringify(content)}\n`, { isPrivate: true })
    })
    turn = changed.catch(() => {})
    return changed
  }

  const set = (name: string, secret: string) =>
    change(async (secrets) => {
      await check()
      secrets[name] = await encrypt(secret)
    })

  return {
    place: 'profile',
    check,
    set,
    async get(name) {
      const encrypted = readProfileFile(file).secrets[name]
      if (encrypted === undefined) return null
      await check()
      const { result, shouldReEncrypt } = await safeStorage.decryptStringAsync(
        Buffer.from(encrypted, 'base64'),
      )
      if (shouldReEncrypt) {
        // The old form stays readable, and another key may have been typed meanwhile.
        await change(async (secrets) => {
          if (secrets[name] === encrypted) secrets[name] = await encrypt(result)
        }).catch(() => {})
      }
      return result
    },
    remove: (name) =>
      change(async (secrets) => {
        delete secrets[name]
      }),
  }
}

function readProfileFile(file: string): ProfileFile {
  try {
    return fileSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    if (toSystemCode(error) === 'ENOENT') return { version: 1, secrets: {} }
    // The content is not repeated.
    const reason =
      error instanceof z.ZodError || error instanceof SyntaxError ? 'it is damaged' : toThrownText(error)
    throw new Error(`${file} cannot be read: ${reason}`, { cause: error })
  }
}
