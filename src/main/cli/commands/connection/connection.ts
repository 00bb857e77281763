import type { Command } from 'commander'
import { readKeysToRemove, removeUnusedKeys } from '../../../engine/workspace/connection-secrets.ts'
import {
  applyConnection,
  changeConnections,
  findConnection,
  findKey,
  readConnections,
  removeUnlessChanged,
} from '../../../engine/workspace/connections.ts'
import type { CliContext } from '../../context.ts'
import { writeDocument, writeDocumentLine } from '../../documents/write-document.ts'
import { resolveWorkspace } from '../../engine-access.ts'
import { addExamples, addWorkspaceOption, type WorkspaceFlags } from '../../options/shared-options.ts'
import { addConnectionKeyCommand } from './key.ts'
import {
  addConnectionListCommand,
  addConnectionShowCommand,
  formatKeySource,
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

interface UseFlags extends WorkspaceFlags {
  key?: string
  json?: true
}

/** Adds `connection use NAME`. */
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
    .option('--json', 'one JSON document on stdout')
  addWorkspaceOption(command).action(async (name: string, flags: UseFlags) => {
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

/** Adds `connection remove NAME`. */
export function addConnectionRemoveCommand(parent: Command, context: CliContext): void {
  const command = parent
    .command('remove')
    .argument('<name>', 'connection name')
    .summary('remove a connection')
    .description(
      'Removes a connection, and its keys from the keyring. Its runs are kept and can still be resumed at their original address.',
    )
    .option('--json', 'one JSON document on stdout')
  addWorkspaceOption(command).action(async (name: string, flags: Pick<UseFlags, 'json' | 'workspace'>) => {
    const workspace = resolveWorkspace(flags.workspace, context.env)
    const sources = { workspace, keyStore: context.keyStore }
    const stored = findConnection(readConnections(workspace), name)
    await readKeysToRemove(sources, stored)
    let wasInUse = false
    const { inUse } = changeConnections(workspace, (known) => {
      wasInUse = known.inUse === name
      // A person may have taken long to unlock the keyring.
      return removeUnlessChanged(known, stored)
    })
    await sayKeysLeft(context, name, await removeUnusedKeys(sources))
    if (flags.json) return writeDocumentLine(context.out, { removed: name, in_use: inUse })
    await context.out.writeLine(`Removed ${name}.${wasInUse ? ' No connection is now in use.' : ''}`)
  })
  addExamples(command, ['connection remove staging', 'connection remove live --json'])
}
