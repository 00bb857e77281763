import { type ChildProcess, fork } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { type LastingStore, NoLastingStore } from './key-store.ts'

/** The owner of our entries as the keyring shows it. */
export const KEYRING_SERVICE = 'Sluice'

/** A call to the keyring's process; `check` only opens the keyring. */
export type KeyringCall = { id: number; name: string } & (
  | { kind: 'check' | 'get' | 'remove' }
  | { kind: 'set'; secret: string }
)

export type KeyringOutcome =
  | { kind: 'done'; value: string | null }
  /** This machine has no reachable keyring; `detail` is its library's message. */
  | { kind: 'absent'; detail: string | null }
  | { kind: 'failed'; detail: string }

export interface KeyringAnswer {
  id: number
  outcome: KeyringOutcome
}

/** How long a person has to unlock the keyring, milliseconds. */
const ANSWER_WITHIN_MS = 60_000

/**
 * The system's keyring: Keychain on macOS, Credential Manager on Windows, the Secret Service on Linux. It is
 * used in a separate process (`processUrl`), which starts with the first call and never keeps this one from
 * ending.
 */
export function createKeyring(processUrl: URL, answerWithinMs = ANSWER_WITHIN_MS): LastingStore {
  let child: ChildProcess | null = null
  let lastId = 0
  const open = new Map<number, PromiseWithResolvers<KeyringOutcome>>()

  const start = () => {
    const started = fork(fileURLToPath(processUrl), {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    const end = () => started.kill('SIGKILL')
    const onGone = () => {
      if (child === started) child = null
      process.off('exit', end)
      for (const { reject } of open.values()) reject(new Error('the keyring did not answer'))
      open.clear()
    }
    process.once('exit', end)
    started.on('message', ({ id, outcome }: KeyringAnswer) => open.get(id)?.resolve(outcome))
    started.on('error', onGone)
    started.once('exit', onGone)
    started.unref()
    return started
  }

  const call = async (asked: DistributiveOmit<KeyringCall, 'id'>): Promise<string | null> => {
    child ??= start()
    const asking = child
    lastId += 1
    const id = lastId
    const answered = Promise.withResolvers<KeyringOutcome>()
    open.set(id, answered)
    // The awaited answer keeps this process alive, but only while it is awaited.
    asking.channel?.ref()
    const timer = setTimeout(() => {
      answered.reject(
        new Error(`the keyring did not answer within ${answerWithinMs / 1000} s; it may be locked`),
      )
      asking.kill('SIGKILL')
    }, answerWithinMs)
    try {
      asking.send({ ...asked, id })
      const outcome = await answered.promise
      if (outcome.kind === 'done') return outcome.value
      const { detail } = outcome
      // A system library's message is not a sentence for a person, only the cause.
      if (outcome.kind === 'absent') throw new NoLastingStore(sayAbsent(detail), { cause: detail })
      throw new Error(sayFailed(outcome.detail), { cause: detail })
    } finally {
      clearTimeout(timer)
      open.delete(id)
      if (open.size === 0) asking.channel?.unref()
    }
  }

  return {
    place: 'keyring',
    check: async () => void (await call({ kind: 'check', name: 'check' })),
    get: (name) => call({ kind: 'get', name }),
    set: async (name, secret) => void (await call({ kind: 'set', name, secret })),
    remove: async (name) => void (await call({ kind: 'remove', name })),
  }
}

function sayAbsent(detail: string | null): string {
  if (detail === null) return `this Sluice has no keyring library for ${process.platform}-${process.arch}`
  return process.platform === 'linux'
    ? 'no keyring answers. Start GNOME Keyring, KWallet or KeePassXC, and start Sluice in the same session'
    : 'the keyring of this system cannot be opened'
}

function sayFailed(detail: string): string {
  return /lock|prompt|dismiss|cancel|denied/i.test(detail)
    ? 'the keyring is locked, or was not unlocked when the system asked'
    : 'the keyring failed. Check that it works in other programs'
}

type DistributiveOmit<T, Name extends PropertyKey> = T extends unknown ? Omit<T, Name> : never
