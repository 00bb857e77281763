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
  applyConnection,
  changeConnections,
  findConnection,
  findKey,
  readConnections,
  removeUnlessChanged,
  replaceUnlessChanged,
} from '../../../engine/workspace/connections.ts'
import type { CliContext } from '../../context.ts'
import { writeDocument, writeDocumentLine } from '../../documents/write-document.ts'
import { resolveWorkspace } from '../../engine-access.ts'
import { parseConnectionName } from '../../options/parse-values.ts'
import { addDocumentOptions, addExamples, type DocumentFlags } from '../../options/shared-options.ts'
import {
  addConnectionListCommand,
  addConnectionShowCommand,
  formatKeySource,
  isSet,
  sayKeysLeft,
  sayKeysNotSet,
  toDocument,
} from './look.ts'
import { addConnectionAddCommand, addConnectionSetCommand } from './store.ts'

/** Adds `connection add|set|key|list|show|use|remove`: the deployments that a workspace remembers. */
export function addConnectionCommand(program: Command, context: CliContext): void {
  const connection = program
    .command('connection')
    .description(
      'Stores the settings of a service (URL, timeouts, certificates, proxy) under a name, for --connection NAME. ' +
        "API keys stay in environment variables or in the system's keyring, and are in no file of the workspace.",
    )
  addConnectionAddCommand(connection, context)
  addConnectionSetCommand(connection, context)
  addConnectionKeyCommand(connection, context)
  addConnectionListCommand(connection, context)
  addConnectionShowCommand(connection, context)
  addConnectionUseCommand(connection, context)
  addConnectionRemoveCommand(connection, context)
}

interface UseFlags extends DocumentFlags {
  key?: string
}

export function addConnectionUseCommand(parent: Command, context: CliContext): void {
  const command = parent
    .command('use')
    .argument('<name>', 'connection name')
    .summary('select a connection or switch its key')
    .description(
      'Selects the connection for commands without --connection or --base-url. --key switches its active key, also ' +
        'for runs in progress if the variable is set in their environment.',
    )
    .option('--key <label>', 'switch to this key')
  addDocumentOptions(command).action(async (name: string, flags: UseFlags) => {
    const { out, env } = context
    const workspace = resolveWorkspace(flags.workspace, env)
    const connections = changeConnections(workspace, (known) => applyConnection(known, name, flags.key))
    const used = findConnection(connections, name)
    const key = findKey(used, used.activeKey)
    await sayKeysNotSet(context, [key])
    if (flags.json) return writeDocument(out, toDocument(used, connections, env))
    await out.writeLine(`Using ${name}, ${used.baseUrl}, with key ${key.label} ${formatKeySource(env, key)}.`)
  })
  addExamples(command, ['connection use staging', 'connection use staging --key default'])
}

export function addConnectionRemoveCommand(parent: Command, context: CliContext): void {
  const command = parent
    .command('remove')
    .argument('<name>', 'connection name')
    .summary('remove a connection')
    .description(
      'Removes a connection, and its keys from the keyring. Its runs are kept and can still be resumed at their original address.',
    )
  addDocumentOptions(command).action(async (name: string, flags: Pick<UseFlags, 'json' | 'workspace'>) => {
    const workspace = resolveWorkspace(flags.workspace, context.env)
    const sources = { workspace, keyStore: context.keyStore }
    const stored = findConnection(readConnections(workspace), name)
    await readKeysToRemove(sources, stored)
    let wasInUse = false
    const { inUse } = changeConnections(workspace, (known) => {
      wasInUse = known.inUse === name
      // Unlocking the keyring may have taken long, and the connection may have changed since.
      return removeUnlessChanged(known, stored)
    })
    await sayKeysLeft(context, name, await removeUnusedKeys(sources))
    if (flags.json) return writeDocumentLine(context.out, { removed: name, in_use: inUse })
    await context.out.writeLine(`Removed ${name}.${wasInUse ? ' No connection is now in use.' : ''}`)
  })
  addExamples(command, ['connection remove staging', 'connection remove live --json'])
}

interface KeyFlags extends DocumentFlags {
  label?: string
  forget?: true
}

/** Adds `connection key NAME`: types a key into the system's keyring, or removes it. */
function addConnectionKeyCommand(parent: Command, context: CliContext): void {
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
  addDocumentOptions(command).action(async (name: string, flags: KeyFlags) => {
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
    // A key kept for the session alone would be gone as soon as this command ends.
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

/** Reads a typed key, or one from standard input, without the line break at its end. */
async function readKey(context: CliContext, question: string): Promise<string> {
  const { canAsk, askSecret, openStdin } = context
  const key = (canAsk ? await askSecret(question) : await readText(openStdin())).trim()
  if (key !== '') return key
  throw new InvalidArgumentError(
    canAsk ? 'no key was typed; nothing was changed' : 'standard input is empty; expected the key',
  )
}
