import { type Command, InvalidArgumentError } from 'commander'
import {
  type ConnectionKey,
  DEFAULT_KEY_LABEL,
  type StoredConnection,
  storedConnectionSchema,
} from '../../../../shared/plan/stored-connection.ts'
import { changeConnections } from '../../../engine/workspace/connections/connections-file.ts'
import {
  addConnection,
  findConnection,
  findKey,
  replaceConnection,
} from '../../../engine/workspace/connections/edit-connections.ts'
import type { CliContext } from '../../context.ts'
import { COMMAND_PREFIX } from '../../invocation.ts'
import { toProxy, toTls } from '../../options/connection-from-flags.ts'
import { collectKey } from '../../options/key-option.ts'
import { parseConnectionName } from '../../options/name-options.ts'
import { collect } from '../../options/number-option.ts'
import { addDeploymentOptions, type DeploymentFlags } from '../../options/service-options.ts'
import { addWorkspaceOption, type WorkspaceFlags } from '../../options/shared-options.ts'
import { resolveWorkspace } from '../../workspace.ts'
import { sayKeysNotSet, toDocument } from './describe.ts'

const DEFAULT_VARIABLE = 'SLUICE_API_KEY'

interface StoreFlags extends DeploymentFlags, WorkspaceFlags {
  key?: ConnectionKey[]
  production?: boolean
  json?: true
}

interface SetFlags extends StoreFlags {
  removeKey?: string[]
  activeKey?: string
}

/** What options say of a deployment, over what is known of it. */
function applyFlags<T extends Partial<StoredConnection>>(
  known: T,
  flags: StoreFlags,
  env: NodeJS.ProcessEnv,
) {
  const tls = toTls(flags, known.tls, env)
  const proxy = toProxy(flags, known.proxy)
  return {
    ...known,
    ...(flags.baseUrl === undefined ? {} : { baseUrl: flags.baseUrl }),
    ...(flags.taskBaseUrl === undefined ? {} : { taskBaseUrl: flags.taskBaseUrl }),
    ...(flags.timeout === undefined ? {} : { timeoutMs: flags.timeout }),
    ...(flags.deliveredCode === undefined ? {} : { deliveredCodes: flags.deliveredCode }),
    ...(flags.production === undefined ? {} : { isProduction: flags.production }),
    ...(tls === undefined ? {} : { tls }),
    ...(proxy === undefined ? {} : { proxy }),
  }
}

/** Keys as options name them: `--api-key-env` is the key `default`. */
function toKeys({ key = [], apiKeyEnv }: StoreFlags): ConnectionKey[] {
  if (apiKeyEnv === undefined) return key
  if (key.some(({ label }) => label === DEFAULT_KEY_LABEL)) {
    throw new InvalidArgumentError(`--api-key-env: names the key ${DEFAULT_KEY_LABEL}, as --key does already`)
  }
  return [{ label: DEFAULT_KEY_LABEL, env: apiKeyEnv }, ...key]
}

function addStoreOptions(command: Command): Command {
  addDeploymentOptions(command)
    .option('--key <label=variable>', 'a further key, by a label and its variable; repeatable', collectKey)
    .option('--json', 'one JSON document on stdout')
  return addWorkspaceOption(command)
}

/** Adds `connection add NAME`. */
export function addConnectionAddCommand(parent: Command, context: CliContext): void {
  const command = parent
    .command('add')
    .argument('<name>', 'what to call it', parseConnectionName)
    .summary('store a deployment')
    .description(
      'Stores a deployment. The first of its keys is the active one; the first deployment is in use.',
    )
  addStoreOptions(command)
    .option('--production', 'ask once more before anything is sent there')
    .action(async (name: string, flags: StoreFlags) => {
      if (flags.baseUrl === undefined) {
        throw new InvalidArgumentError('--base-url: a connection needs the address of the service')
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
      await sayKeysNotSet(context, added)
      const inUse = connections.inUse === name
      await context.out.writeLine(
        flags.json
          ? JSON.stringify(toDocument(added, connections, context.env), null, 2)
          : `Stored ${name}, ${added.baseUrl}. ${inUse ? 'It is the one in use.' : `Put it in use with: ${COMMAND_PREFIX} connection use ${name}`}`,
      )
    })
}

/** Adds `connection set NAME`. */
export function addConnectionSetCommand(parent: Command, context: CliContext): void {
  const command = parent
    .command('set')
    .argument('<name>', 'which connection')
    .summary('change what is stored of a deployment')
    .description(
      'Changes what is given and leaves the rest. A --key of a label that is there gets another variable.',
    )
  addStoreOptions(command)
    .option('--remove-key <label>', 'forget a key; repeatable', collect)
    .option('--active-key <label>', 'send this key from now on, also in runs that are going')
    .option('--production', 'ask once more before anything is sent there')
    .option('--no-production', 'do not ask')
    .action(async (name: string, flags: SetFlags) => {
      const workspace = resolveWorkspace(flags.workspace, context.env)
      const connections = changeConnections(workspace, (known) => {
        const before = findConnection(known, name)
        return replaceConnection(known, changeKeys(applyFlags(before, flags, context.env), flags))
      })
      const changed = findConnection(connections, name)
      await sayKeysNotSet(context, changed)
      await context.out.writeLine(
        flags.json
          ? JSON.stringify(toDocument(changed, connections, context.env), null, 2)
          : `Changed ${name}, ${changed.baseUrl}.`,
      )
    })
}

/** The connection with the keys that options add, move, remove and activate. */
function changeKeys(connection: StoredConnection, flags: SetFlags): StoredConnection {
  const given = toKeys(flags)
  const moved = connection.keys.map((key) => given.find(({ label }) => label === key.label) ?? key)
  const added = given.filter(({ label }) => !connection.keys.some((key) => key.label === label))
  const changed = { ...connection, keys: [...moved, ...added] }
  const removed = (flags.removeKey ?? []).map((label) => findKey(changed, label).label)
  const activeKey =
    flags.activeKey === undefined ? connection.activeKey : findKey(changed, flags.activeKey).label
  if (removed.includes(activeKey)) {
    throw new InvalidArgumentError(
      `--remove-key: ${activeKey} is the active key; name another one with --active-key first`,
    )
  }
  return { ...changed, activeKey, keys: changed.keys.filter(({ label }) => !removed.includes(label)) }
}
