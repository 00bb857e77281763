// A separate process for the system's keyring: its calls may wait for a person to unlock it, which must
// neither delay the caller nor keep Sluice from ending, and a fault in native code ends only this process.
import process from 'node:process'
import type { Entry } from '@napi-rs/keyring'
import { toThrownText } from '../../../shared/messages/thrown.ts'
import { KEYRING_SERVICE, type KeyringAnswer, type KeyringCall, type KeyringOutcome } from './keyring.ts'

process.on('disconnect', () => process.exit())
process.on('message', async (call: KeyringCall) => {
  process.send?.({ id: call.id, outcome: await answer(call) } satisfies KeyringAnswer)
})

async function answer(call: KeyringCall): Promise<KeyringOutcome> {
  const library = await import('@napi-rs/keyring').catch(() => null)
  if (library === null) return { kind: 'absent', detail: null }
  let entry: Entry
  try {
    // Never the kernel's keyring, which forgets keys when the machine is switched off.
    entry = new library.Entry(KEYRING_SERVICE, call.name, { linux: { store: 'secret-service' } })
  } catch (error) {
    return { kind: 'absent', detail: toThrownText(error) }
  }
  try {
    return { kind: 'done', value: act(entry, call) }
  } catch (error) {
    return { kind: 'failed', detail: toThrownText(error) }
  }
}

/** The keyring stores bytes: a text would take twice the space on Windows, which has little. */
function act(entry: Entry, call: KeyringCall): string | null {
  if (call.kind === 'get') {
    const secret = entry.getSecret()
    return secret === null ? null : Buffer.from(secret).toString('utf8')
  }
  if (call.kind === 'set') entry.setSecret(Buffer.from(call.secret, 'utf8'))
  if (call.kind === 'remove') entry.deleteCredential()
  return null
}
