import type { Command } from 'commander'
import { formatDuration } from '../../../../shared/messages/figure-text.ts'
import {
  type Connections,
  type StoredConnection,
  toActiveVariable,
} from '../../../../shared/plan/stored-connection.ts'
import { findConnection, readConnections } from '../../../engine/workspace/connections.ts'
import type { CliContext } from '../../context.ts'
import { resolveWorkspace } from '../../engine-access.ts'
import { COMMAND_PREFIX } from '../../invocation.ts'
import { addExamples, addWorkspaceOption, type WorkspaceFlags } from '../../options/shared-options.ts'
import { formatSection, formatTable } from '../../terminal/layout.ts'
import { toPrintable } from '../../terminal/output.ts'

interface LookFlags extends WorkspaceFlags {
  json?: true
}

/** Adds `connection list`. */
export function addConnectionListCommand(parent: Command, context: CliContext): void {
  const command = parent
    .command('list')
    .summary('list connections')
    .description('Lists the stored connections and marks the one in use.')
    .option('--json', 'one JSON array on stdout')
  addWorkspaceOption(command).action(async (flags: LookFlags) => {
    const { out, outTerminal, env } = context
    const workspace = resolveWorkspace(flags.workspace, env)
    const stored = readConnections(workspace)
    if (flags.json) {
      const documents = stored.connections.map((one) => toDocument(one, stored, env))
      return out.writeLine(JSON.stringify(documents, null, 2))
    }
    if (stored.connections.length === 0) {
      return out.writeLine(
        `No connections in ${workspace}. To add one, run: ${COMMAND_PREFIX} connection add NAME --base-url URL`,
      )
    }
    const rows = stored.connections.map((one) => [
      one.name === stored.inUse ? outTerminal.glyphs.arrow : '',
      one.name,
      toPrintable(one.baseUrl),
      one.activeKey,
      formatKeySet(env, one),
      one.isProduction ? 'production' : '',
    ])
    const table = formatTable(
      outTerminal,
      [
        { title: '', align: 'left' },
        { title: 'NAME', align: 'left' },
        { title: 'BASE URL', align: 'left', minColumns: 24 },
        { title: 'KEY', align: 'left' },
        { title: 'VARIABLE', align: 'left', minColumns: 12 },
        { title: '', align: 'left' },
      ],
      rows,
    )
    return out.writeLine(table.join('\n'))
  })
  addExamples(command, ['connection list', 'connection list --json'])
}

function formatKeySet(env: NodeJS.ProcessEnv, stored: StoredConnection): string {
  const variable = toActiveVariable(stored)
  if (variable === null) return 'typed in the window'
  return isSet(env, variable) ? variable : `${variable} (not set)`
}

/** Adds `connection show NAME`. */
export function addConnectionShowCommand(parent: Command, context: CliContext): void {
  const command = parent
    .command('show')
    .argument('<name>', 'connection name')
    .summary('show a connection')
    .description('Shows a connection and which of its key variables are set in this shell.')
    .option('--json', 'one JSON document on stdout')
  addWorkspaceOption(command).action(async (name: string, flags: LookFlags) => {
    const { out, env } = context
    const stored = readConnections(resolveWorkspace(flags.workspace, env))
    const connection = findConnection(stored, name)
    await out.writeLine(
      flags.json
        ? JSON.stringify(toDocument(connection, stored, env), null, 2)
        : formatConnection(context, connection, stored.inUse === name),
    )
  })
  addExamples(command, ['connection show staging', 'connection show staging --json'])
}

function formatConnection(context: CliContext, connection: StoredConnection, isInUse: boolean): string {
  const { outTerminal: terminal, env } = context
  const { tls, proxy, timeoutMs, deliveredCodes, taskBaseUrl } = connection
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
        ({ label, env: variable }) =>
          `${label === connection.activeKey ? arrow : ' '.repeat(arrow.length)} ${label}  ${formatVariable(env, variable)}`,
      ),
    ),
    ...section('Timeout', [timeoutMs === undefined ? undefined : formatDuration(timeoutMs)]),
    ...section('Delivered codes', [deliveredCodes.length === 0 ? undefined : deliveredCodes.join(', ')]),
    ...section('Own CA', [tls?.caFile]),
    ...section('Client', [tls?.certFile, tls?.keyFile]),
    ...section('Proxy', [
      proxy?.url,
      proxy?.credentialsEnv === undefined ? undefined : `credentials in ${proxy.credentialsEnv}`,
    ]),
  ].join('\n')
}

function formatVariable(env: NodeJS.ProcessEnv, variable: string | undefined): string {
  if (variable === undefined) return 'typed in the window'
  return isSet(env, variable) ? variable : `${variable} (not set in this shell)`
}

/** Whether the variable of a key is set where this runs. */
export function isSet(env: NodeJS.ProcessEnv, variable: string): boolean {
  return (env[variable] ?? '') !== ''
}

/** A connection as `--json` shows it. */
export function toDocument(
  connection: StoredConnection,
  connections: Connections,
  env: NodeJS.ProcessEnv,
): Record<string, unknown> {
  const { name, baseUrl, taskBaseUrl, keys, activeKey, timeoutMs, deliveredCodes, tls, proxy } = connection
  return {
    name,
    in_use: connections.inUse === name,
    production: connection.isProduction,
    base_url: baseUrl,
    task_base_url: taskBaseUrl ?? null,
    keys: keys.map((key) => ({
      label: key.label,
      /** Null where the key is typed in the window. */
      env: key.env ?? null,
      active: key.label === activeKey,
      set: key.env !== undefined && isSet(env, key.env),
    })),
    timeout_ms: timeoutMs ?? null,
    delivered_codes: deliveredCodes,
    ca: tls?.caFile ?? null,
    client_cert: tls?.certFile ?? null,
    client_key: tls?.keyFile ?? null,
    proxy: proxy === undefined ? null : { url: proxy.url, credentials_env: proxy.credentialsEnv ?? null },
  }
}

/** Says which variables of a connection's keys are not set here; they may well be where it is used. */
export async function sayKeysNotSet(context: CliContext, { keys }: StoredConnection): Promise<void> {
  const missing = keys.flatMap(({ env }) => (env === undefined || isSet(context.env, env) ? [] : [env]))
  if (missing.length === 0) return
  await context.err.writeLine(
    `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not set in this shell. Commands that send need the active key.`,
  )
}
