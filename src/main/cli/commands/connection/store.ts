import { type Command, InvalidArgumentError } from 'commander'
import {
  type ConnectionKey,
  DEFAULT_KEY_LABEL,
  type StoredConnection,
  storedConnectionSchema,
} from '../../../../shared/plan/stored-connection.ts'
import { quoteForShell } from '../../../../shared/shell-command.ts'
import { readSecureContext } from '../../../engine/secrets/tls-files.ts'
import { readKeysToRemove, removeUnusedKeys } from '../../../engine/workspace/connection-secrets.ts'
import {
  addConnection,
  changeConnections,
  findConnection,
  findKey,
  readConnections,
  replaceUnlessChanged,
} from '../../../engine/workspace/connections.ts'
import type { CliContext } from '../../context.ts'
import { writeDocument } from '../../documents/write-document.ts'
import { resolveWorkspace } from '../../engine-access.ts'
import { collect, parseConnectionName } from '../../options/parse-values.ts'
import {
  addDeploymentOptions,
  addRemoveHeaderOption,
  applyDeployment,
  collectKey,
  type DeploymentFlags,
  hideDefaults,
  noteCorrectedUrls,
  toTls,
} from '../../options/service-options.ts'
import { addDocumentOptions, addExamples, type DocumentFlags } from '../../options/shared-options.ts'
import { toPrintable } from '../../terminal/output.ts'
import { sayKeysLeft, sayKeysNotSet, toDocument } from './look.ts'

const DEFAULT_VARIABLE = 'SLUICE_API_KEY'

interface StoreFlags extends DeploymentFlags, DocumentFlags {
  key?: ConnectionKey[]
  production?: boolean
  rewritesIds?: boolean
}

interface SetFlags extends StoreFlags {
  removeKey?: string[]
  activeKey?: string
}

/** Returns the known facts about a deployment, overridden by the options. */
function applyFlags<T extends Partial<StoredConnection>>(
  known: T,
  flags: StoreFlags,
  env: NodeJS.ProcessEnv,
) {
  // Files named now are checked now; files stored earlier may be on a disk that is not mounted.
  readSecureContext(toTls(flags, undefined, env))
  return {
    ...applyDeployment(known, flags, env),
    ...(flags.production === undefined ? {} : { isProduction: flags.production }),
    ...(flags.rewritesIds === undefined ? {} : { rewritesIds: flags.rewritesIds }),
  }
}

/** Keys as options name them: `--api-key-env` is the key `default`. */
function toKeys({ key = [], apiKeyEnv }: StoreFlags): ConnectionKey[] {
  if (apiKeyEnv === undefined) return key
  if (key.some(({ label }) => label === DEFAULT_KEY_LABEL)) {
    throw new InvalidArgumentError(`--api-key-env and --key both set the key ${DEFAULT_KEY_LABEL}`)
  }
  return [{ label: DEFAULT_KEY_LABEL, env: apiKeyEnv }, ...key]
}

function addStoreOptions(command: Command): Command {
  command.option(
    '--key <label=variable>',
    'additional key: a label and its environment variable; repeatable',
    collectKey,
  )
  return addDocumentOptions(command)
}

export function addConnectionAddCommand(parent: Command, context: CliContext): void {
  const command = parent
    .command('add')
    .argument('<name>', 'connection name', parseConnectionName)
    .summary('store a connection')
    .description(
      'Stores a connection. Its first key becomes the active key. The first connection becomes the one in use.',
    )
  addStoreOptions(addDeploymentOptions(command))
    .option('--production', 'ask for confirmation before sending')
    .action(async (name: string, flags: StoreFlags) => {
      if (flags.baseUrl === undefined) {
        throw new InvalidArgumentError('--base-url is required')
      }
      const keys = toKeys(flags)
      const [first = { label: DEFAULT_KEY_LABEL, env: DEFAULT_VARIABLE }] = keys
      const added = storedConnectionSchema.parse(
        applyFlags(
          { name, keys: keys.length === 0 ? [first] : keys, activeKey: first.label },
          flags,
          context.env,
        ),
      )
      const workspace = resolveWorkspace(flags.workspace, context.env)
      const connections = changeConnections(workspace, (known) => addConnection(known, added))
      await sayNotes(context, noteCorrectedUrls(flags))
      await sayKeysNotSet(context, added.keys)
      const inUse = connections.inUse === name
      if (flags.json) return writeDocument(context.out, toDocument(added, connections, context.env))
      await context.out.writeLine(
        `Stored ${name}, ${added.baseUrl}. ${inUse ? 'It is now in use.' : `To use it, run: ${context.outTerminal.commandPrefix} connection use ${quoteForShell(name)}`}`,
      )
    })
  addExamples(command, [
    'connection add staging --base-url https://staging.example.com',
    'connection add live --base-url https://api.example.com --api-key-env LIVE_KEY --production',
  ])
}

export function addConnectionSetCommand(parent: Command, context: CliContext): void {
  const command = parent
    .command('set')
    .argument('<name>', 'connection name')
    .summary('change a connection')
    .description(
      'Changes the given options and keeps the others. --key with an existing label changes its variable.',
    )
  addStoreOptions(addRemoveHeaderOption(hideDefaults(addDeploymentOptions(command))))
    .option('--remove-key <label>', 'remove a key; repeatable', collect)
    .option('--active-key <label>', 'switch to this key, also for runs in progress')
    .option('--production', 'ask for confirmation before sending')
    .option('--no-production', 'do not ask for confirmation before sending')
    .option('--rewrites-ids', 'the service answers with other ids than were sent; do not compare them')
    .option('--no-rewrites-ids', 'compare the ids of answers')
    .action(async (name: string, flags: SetFlags) => {
      const workspace = resolveWorkspace(flags.workspace, context.env)
      const before = findConnection(readConnections(workspace), name)
      const changed = changeKeys(applyFlags(before, flags, context.env), flags)
      const sources = { workspace, keyStore: context.keyStore }
      const removed = before.keys.filter(({ label }) => flags.removeKey?.includes(label))
      await readKeysToRemove(sources, { name, keys: removed })
      changeConnections(workspace, (known) => replaceUnlessChanged(known, before, changed))
      const connections = await removeUnusedKeys(sources)
      await sayNotes(context, noteCorrectedUrls(flags))
      await sayKeysLeft(context, name, connections)
      await sayKeysNotSet(context, changed.keys)
      if (flags.json) return writeDocument(context.out, toDocument(changed, connections, context.env))
      await context.out.writeLine(`Changed ${name}, ${changed.baseUrl}.`)
    })
  addExamples(command, [
    'connection set staging --timeout 30s',
    'connection set staging --key second=SECOND_KEY --active-key second',
  ])
}

async function sayNotes({ err }: CliContext, notes: readonly string[]): Promise<void> {
  for (const note of notes) await err.writeLine(toPrintable(note))
}

/** The connection with the keys that options add, move, remove and activate. */
function changeKeys(connection: StoredConnection, flags: SetFlags): StoredConnection {
  const given = toKeys(flags)
  const moved = connection.keys.map((key) => ({
    ...key,
    ...given.find(({ label }) => label === key.label),
  }))
  const added = given.filter(({ label }) => !connection.keys.some((key) => key.label === label))
  const changed = { ...connection, keys: [...moved, ...added] }
  const removed = (flags.removeKey ?? []).map((label) => findKey(changed, label).label)
  const activeKey =
    flags.activeKey === undefined ? connection.activeKey : findKey(changed, flags.activeKey).label
  if (removed.includes(activeKey)) {
    throw new InvalidArgumentError(
      `--remove-key: ${activeKey} is the active key; choose another with --active-key`,
    )
  }
  return { ...changed, activeKey, keys: changed.keys.filter(({ label }) => !removed.includes(label)) }
}
