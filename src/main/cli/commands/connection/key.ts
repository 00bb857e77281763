import { text as readText } from 'node:stream/consumers'
import { type Command, InvalidArgumentError } from 'commander'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { Connections, StoredConnection } from '../../../../shared/plan/stored-connection.ts'
import { toOrigins } from '../../../engine/secrets/bound-secret.ts'
import {
  keepTypedKey,
  readKeysToRemove,
  removeUnusedKeys,
} from '../../../engine/workspace/connection-secrets.ts'
import {
  changeConnections,
  findConnection,
  findKey,
  readConnections,
  replaceUnlessChanged,
} from '../../../engine/workspace/connections.ts'
import type { CliContext } from '../../context.ts'
import { writeDocument } from '../../documents/write-document.ts'
import { resolveWorkspace } from '../../engine-access.ts'
import { parseConnectionName } from '../../options/parse-values.ts'
import { addExamples, addWorkspaceOption, type WorkspaceFlags } from '../../options/shared-options.ts'
import { isSet, sayKeysLeft, toDocument } from './look.ts'

interface KeyFlags extends WorkspaceFlags {
  label?: string
  forget?: true
  json?: true
}

/** Adds `connection key NAME`: types a key into the system's keyring, or removes it from there. */
export function addConnectionKeyCommand(parent: Command, context: CliContext): void {
  const command = parent
    .command('key')
    .argument('<name>', 'connection name')
    .summary('keep an API key in the keyring')
    .description(
      "Asks for an API key and keeps it in the system's keyring, for the connection's present address, proxy and CA file. " +
        'Without a terminal, reads it from standard input; a key is never an argument. A variable of the key wins where it is set.',
    )
    .option('--label <label>', 'label of a known or new key (default: the active key)', parseConnectionName)
    .option('--forget', 'remove the key from the keyring instead')
    .option('--json', 'one JSON document on stdout')
  addWorkspaceOption(command).action(async (name: string, flags: KeyFlags) => {
    const { out, err, env, keyStore } = context
    const workspace = resolveWorkspace(flags.workspace, env)
    const stored = findConnection(readConnections(workspace), name)
    const label = flags.label ?? stored.activeKey
    const sources = { workspace, keyStore }
    const connections = flags.forget
      ? await forgetKey(sources, stored, label)
      : await keepKey(sources, stored, label, await readKey(context, `API key ${label} of ${name}:`))
    await sayKeysLeft(context, name, connections)
    const changed = findConnection(connections, name)
    const { env: variable } = findKey(changed, label)
    if (!flags.forget && variable !== undefined && isSet(env, variable)) {
      await err.writeLine(`${variable} is set in this shell and wins over the key in the keyring.`)
    }
    if (flags.json) return writeDocument(out, toDocument(changed, connections, env))
    await out.writeLine(
      flags.forget
        ? `Removed the key ${label} of ${name} from the keyring.`
        : `Kept the key ${label} of ${name} in the keyring, for ${toOrigins(stored).join(' and ')} alone.`,
    )
  })
  addExamples(command, [
    'connection key staging',
    'connection key staging --label second',
    'connection key staging --forget',
  ])
}

type TypedKeyPlace = Parameters<typeof keepTypedKey>[0]

function keepKey(
  sources: TypedKeyPlace,
  stored: StoredConnection,
  label: string,
  text: string,
): Promise<Connections> {
  return keepTypedKey(sources, stored, { label, text }, (known, changed, storage) => {
    if (storage?.place !== 'session') return replaceUnlessChanged(known, stored, changed)
    // What is kept for the session alone would be gone as soon as this command ends.
    const variable = stored.keys.find((key) => key.label === label)?.env ?? 'SLUICE_API_KEY'
    const { reason, cause } = storage
    throw new SluiceError({ id: 'key_not_kept', reason: reason ?? '', variable }, { cause })
  })
}

async function forgetKey(
  sources: TypedKeyPlace,
  stored: StoredConnection,
  label: string,
): Promise<Connections> {
  const key = findKey(stored, label)
  await readKeysToRemove(sources, { ...stored, keys: [key] })
  const { typed: _gone, ...rest } = key
  const changed = { ...stored, keys: stored.keys.map((one) => (one === key ? rest : one)) }
  changeConnections(sources.workspace, (known) => replaceUnlessChanged(known, stored, changed))
  return removeUnusedKeys(sources)
}

/** What is typed, or what standard input holds, without the line break at its end. */
async function readKey(context: CliContext, question: string): Promise<string> {
  const { canAsk, askSecret, openStdin } = context
  const key = (canAsk ? await askSecret(question) : await readText(openStdin())).trim()
  if (key !== '') return key
  throw new InvalidArgumentError(
    canAsk ? 'no key was typed; nothing was changed' : 'standard input is empty; expected the key',
  )
}
