import type { Command } from 'commander'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { formatCount, formatDuration } from '../../../../shared/messages/figure-text.ts'
import type {
  ConnectionKey,
  Connections,
  KeyPlace,
  StoredConnection,
} from '../../../../shared/plan/stored-connection.ts'
import { saySystemRoute } from '../../../../shared/plan/system-route.ts'
import { foreign, text } from '../../../../shared/report/report.ts'
import { loadSystemAuthorities } from '../../../engine/secrets/system-authorities.ts'
import { createEnvironmentProxies, findSystemRoute } from '../../../engine/secrets/system-proxy.ts'
import { listUnusedKeys } from '../../../engine/workspace/connection-secrets.ts'
import { findConnection, readConnections } from '../../../engine/workspace/connections.ts'
import type { CliContext } from '../../context.ts'
import type { ConnectionDocument } from '../../documents/document-schemas.ts'
import { writeDocument } from '../../documents/write-document.ts'
import { resolveWorkspace } from '../../engine-access.ts'
import { addDocumentOptions, addExamples, type DocumentFlags } from '../../options/shared-options.ts'
import { formatSection, formatTable } from '../../terminal/layout.ts'
import { toPrintable } from '../../terminal/output.ts'

export function addConnectionListCommand(parent: Command, context: CliContext): void {
  const command = parent
    .command('list')
    .summary('list connections')
    .description('Lists the stored connections and marks the one in use.')
  addDocumentOptions(command, 'array').action(async (flags: DocumentFlags) => {
    const { out, outTerminal, env } = context
    const workspace = resolveWorkspace(flags.workspace, env)
    const stored = readConnections(workspace)
    if (flags.json) {
      const documents = stored.connections.map((one) => toDocument(one, stored, env))
      return writeDocument(out, documents)
    }
    if (stored.connections.length === 0) {
      return out.writeLine(
        `No connections in ${workspace}. To add one, run: ${outTerminal.commandPrefix} connection add NAME --base-url URL`,
      )
    }
    const rows = stored.connections.map((one) => [
      one.name === stored.inUse ? outTerminal.glyphs.arrow : '',
      one.name,
      one.baseUrl,
      one.activeKey,
      ...one.keys.filter(({ label }) => label === one.activeKey).map((key) => formatKey(env, key)),
      one.isProduction ? 'production' : '',
    ])
    const table = formatTable(outTerminal, {
      columns: [
        text(''),
        foreign('NAME'),
        foreign('BASE URL', 24),
        foreign('KEY'),
        text('FROM', 12),
        text(''),
      ],
      rows,
    })
    return out.writeLine(table.join('\n'))
  })
  addExamples(command, ['connection list', 'connection list --json'])
}

/** Where a key is from, or where it is expected. */
function formatKey(env: NodeJS.ProcessEnv, { env: variable, typed }: ConnectionKey): string {
  if (variable !== undefined && isSet(env, variable)) return variable
  if (typed !== undefined) return TYPED_IN[typed.place]
  return variable === undefined ? 'not typed yet' : `${variable} (not set)`
}

const TYPED_IN: Record<KeyPlace, string> = {
  keyring: 'keyring',
  profile: 'desktop app',
  session: 'typed in a window',
}

/** The same in a sentence, after the label of the key. */
export function formatKeySource(env: NodeJS.ProcessEnv, key: ConnectionKey): string {
  const { env: variable, typed } = key
  const isTyped = typed !== undefined && !(variable !== undefined && isSet(env, variable))
  if (isTyped) return `(${typed.place === 'keyring' ? 'in the keyring' : TYPED_IN[typed.place]})`
  return variable === undefined ? '(not typed yet)' : `from ${variable}`
}

export function addConnectionShowCommand(parent: Command, context: CliContext): void {
  const command = parent
    .command('show')
    .argument('<name>', 'connection name')
    .summary('show a connection')
    .description(
      'Shows a connection and where each of its keys is from: a variable, the keyring, or a window.',
    )
  addDocumentOptions(command).action(async (name: string, flags: DocumentFlags) => {
    const { out, env } = context
    const stored = readConnections(resolveWorkspace(flags.workspace, env))
    const connection = findConnection(stored, name)
    if (flags.json) return writeDocument(out, toDocument(connection, stored, env))
    await out.writeLine(
      formatConnection(context, connection, {
        isInUse: stored.inUse === name,
        systemAuthorities: await loadSystemAuthorities(),
        way: await describeWay(connection, env),
      }),
    )
  })
  addExamples(command, ['connection show staging', 'connection show staging --json'])
}

function formatConnection(
  context: CliContext,
  connection: StoredConnection,
  {
    isInUse,
    systemAuthorities,
    way,
  }: { isInUse: boolean; systemAuthorities: readonly string[]; way: string },
): string {
  const { outTerminal: terminal, env } = context
  const { tls, proxy, timeoutMs, deliveredCodes, rewritesIds, taskBaseUrl } = connection
  const { arrow, dot } = terminal.glyphs
  const marks = [...(isInUse ? ['in use'] : []), ...(connection.isProduction ? ['production'] : [])]
  const section = (title: string, lines: readonly (string | undefined)[]) =>
    formatSection(
      terminal,
      title,
      lines.flatMap((line) => (line === undefined ? [] : [toPrintable(line)])),
    )
  return [
    `${terminal.tone('strong', connection.name)}${marks.map((mark) => ` ${dot} ${mark}`).join('')}`,
    ...section('Base URL', [connection.baseUrl]),
    ...section('Second host', [taskBaseUrl]),
    ...section(
      'Keys',
      connection.keys.map(
        (key) =>
          `${key.label === connection.activeKey ? arrow : ' '.repeat(arrow.length)} ${key.label}  ${formatKey(env, key)}`,
      ),
    ),
    ...section('Timeout', [timeoutMs === undefined ? undefined : formatDuration(timeoutMs)]),
    ...section('Delivered codes', [deliveredCodes.length === 0 ? undefined : deliveredCodes.join(', ')]),
    ...section('Ids', [rewritesIds ? 'rewritten by the service, not compared' : undefined]),
    ...section('Trusts', [
      'authorities built into Sluice',
      tls?.systemAuthorities === false
        ? 'not those of this system'
        : `${formatCount(systemAuthorities.length)} more of this system`,
      tls?.caFile,
    ]),
    ...section('Client', [tls?.certFile, tls?.keyFile]),
    ...section('Headers', [
      ...Object.entries(connection.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
      connection.userAgent === undefined ? undefined : `User-Agent: ${connection.userAgent}`,
      connection.traceparent ? 'traceparent: a trace of its own for each try' : undefined,
    ]),
    ...section('Connects to', [...(connection.resolve ?? []), connection.unixSocket]),
    ...section('Keep-alive', [connection.keepAlive === false ? 'a connection for each request' : undefined]),
    ...section('Proxy', [
      way,
      proxy?.credentialsEnv === undefined ? undefined : `credentials in ${proxy.credentialsEnv}`,
    ]),
  ].join('\n')
}

/** Which proxy requests to a connection's base URL take in this environment. */
async function describeWay(connection: StoredConnection, env: NodeJS.ProcessEnv): Promise<string> {
  if (connection.proxy !== undefined) return connection.proxy.url
  try {
    return saySystemRoute(
      await findSystemRoute(connection.baseUrl, connection, createEnvironmentProxies(env)),
    )
  } catch (error) {
    if (error instanceof SluiceError) return error.message
    throw error
  }
}

export function isSet(env: NodeJS.ProcessEnv, variable: string): boolean {
  return (env[variable] ?? '') !== ''
}

/** A connection as `--json` shows it. */
export function toDocument(
  connection: StoredConnection,
  connections: Connections,
  env: NodeJS.ProcessEnv,
): ConnectionDocument {
  const { name, baseUrl, taskBaseUrl, keys, activeKey, timeoutMs, deliveredCodes, tls, proxy, systemProxy } =
    connection
  return {
    name,
    in_use: connections.inUse === name,
    production: connection.isProduction,
    base_url: baseUrl,
    task_base_url: taskBaseUrl ?? null,
    keys: keys.map((key) => ({
      label: key.label,
      /** Null if the key is only typed. */
      env: key.env ?? null,
      /** Where a typed key is kept; null if none was typed. */
      kept_in: key.typed?.place ?? null,
      active: key.label === activeKey,
      set: key.typed?.place === 'keyring' || (key.env !== undefined && isSet(env, key.env)),
    })),
    timeout_ms: timeoutMs ?? null,
    delivered_codes: deliveredCodes,
    headers: connection.headers ?? {},
    user_agent: connection.userAgent ?? null,
    keep_alive: connection.keepAlive ?? true,
    traceparent: connection.traceparent ?? false,
    resolve: connection.resolve ?? [],
    unix_socket: connection.unixSocket ?? null,
    system_ca: tls?.systemAuthorities ?? true,
    ca: tls?.caFile ?? null,
    client_cert: tls?.certFile ?? null,
    client_key: tls?.keyFile ?? null,
    proxy: proxy === undefined ? null : { url: proxy.url, credentials_env: proxy.credentialsEnv ?? null },
    system_proxy: proxy === undefined && (systemProxy ?? true),
  }
}

/** Names key variables that are not set here; they may be set where the keys are used. */
export async function sayKeysNotSet({ env, err }: CliContext, keys: readonly ConnectionKey[]): Promise<void> {
  const missing = keys.flatMap(({ env: variable, typed }) =>
    variable === undefined || typed !== undefined || isSet(env, variable) ? [] : [variable],
  )
  if (missing.length === 0) return
  await err.writeLine(
    `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not set in this shell. Commands that send need the active key.`,
  )
}

/** Names removed keys that are still stored, because this process cannot reach where they are kept. */
export async function sayKeysLeft(
  { err }: CliContext,
  connection: string,
  connections: Connections,
): Promise<void> {
  for (const { label, place } of listUnusedKeys(connections).filter((key) => key.connection === connection)) {
    await err.writeLine(
      place === 'profile'
        ? `The desktop app still keeps the key ${label} of ${connection}. It removes the key the next time it opens this workspace.`
        : `The key ${label} of ${connection} is still in the keyring, which does not answer. The next change of a key removes it.`,
    )
  }
}
