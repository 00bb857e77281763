import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { NoLastingStore } from '../../../../src/main/engine/secrets/key-store.ts'
import { createKeyring } from '../../../../src/main/engine/secrets/keyring.ts'
import { KEYRING_PROCESS } from '../../../../src/main/program-files.ts'
import { findWhyNoSecretService, startSecretService } from '../../../helpers/secret-service.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'

/** A keyring whose process runs this code instead of ours. */
function createOddKeyring(code: string, answerWithinMs?: number) {
  const file = join(createTemporaryFolder(), 'odd.mjs')
  writeFileSync(file, code)
  return createKeyring(pathToFileURL(file), answerWithinMs)
}

function stubEnvironment(values: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(values)) vi.stubEnv(name, value)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
}

describe("the system's keyring", () => {
  it('is reported as missing in a plain sentence, with the raw error only as its cause', async () => {
    stubEnvironment({ DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere', XDG_RUNTIME_DIR: '/nowhere' })
    if (process.platform !== 'linux') return
    const keyring = createKeyring(KEYRING_PROCESS)
    const failed = await keyring.check().catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(NoLastingStore)
    expect(failed).toMatchObject({
      message:
        'no keyring answers. Start GNOME Keyring, KWallet or KeePassXC, and start Sluice in the same session',
      cause: expect.stringMatching(/DBus/),
    })
  })

  it.each([
    ['SS error: prompt dismissed', 'the keyring is locked, or was not unlocked when the system asked'],
    ['Platform failure: DBus error: 7', 'the keyring failed. Check that it works in other programs'],
  ])('explains "%s"', async (detail, message) => {
    const outcome = JSON.stringify({ kind: 'failed', detail })
    const keyring = createOddKeyring(
      `process.on('message', ({ id }) => process.send({ id, outcome: ${outcome} }))`,
    )
    const failed = await keyring.get('one').catch((error: unknown) => error)
    expect(failed).toMatchObject({ message, cause: detail })
  })

  it('fails its calls if its process breaks off, and is restarted for the next one', async () => {
    const keyring = createOddKeyring(`process.on('message', ({ id, kind }) => {
      if (kind === 'set') process.abort()
      process.send({ id, outcome: { kind: 'done', value: 'kept' } })
    })`)
    await expect(keyring.set('one', 'x')).rejects.toThrow('the keyring did not answer')
    expect(await keyring.get('one')).toBe('kept')
  })

  it('gives up on an unanswered call, for example while it waits to be unlocked', async () => {
    const keyring = createOddKeyring(`process.on('message', () => {})`, 100)
    await expect(keyring.get('one')).rejects.toThrow('it may be locked')
  })

  it.skipIf(findWhyNoSecretService() !== null)(
    `keeps, gives and removes what it was given${findWhyNoSecretService() === null ? '' : ` (${findWhyNoSecretService()})`}`,
    async () => {
      const service = await startSecretService()
      stubEnvironment(service.env)
      const keyring = createKeyring(KEYRING_PROCESS)
      await keyring.check()
      expect(await keyring.get('staging/default')).toBeNull()
      await keyring.set('staging/default', '{"text":"ключ-key"}')
      await keyring.set('staging/other', 'other')
      expect(await createKeyring(KEYRING_PROCESS).get('staging/default')).toBe('{"text":"ключ-key"}')
      await keyring.remove('staging/default')
      await keyring.remove('staging/default')
      expect(await keyring.get('staging/default')).toBeNull()
      await service.lock()
      await expect(createKeyring(KEYRING_PROCESS).get('staging/other')).rejects.toThrow(
        'the keyring is locked',
      )
    },
  )
})
