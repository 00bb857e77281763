import type { Command } from 'commander'
import { formatDuration } from '../../../../shared/messages/figure-text.ts'
import type { StoredConnection } from '../../../../shared/plan/stored-connection.ts'
import { findConnection, readConnections } from '../../../engine/workspace/connections.ts'
import type { CliContext } from '../../context.ts'
import { COMMAND_PREFIX } from '../../invocation.ts'
import { addWorkspaceOption, type WorkspaceFlags } from '../../options/shared-options.ts'
import { formatSection } from '../../summary/section.ts'
import { toPrintable } from '../../terminal/printable.ts'
import { formatTable } from '../../terminal/table.ts'
import { resolveWorkspace } from '../../workspace.ts'
import { isSet, toDocument } from './describe.ts'

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
}

function formatKeySet(env: NodeJS.ProcessEnv, { keys, activeKey }: StoredConnection): string {
  const variable = keys.find(({ label }) => label === activeKey)?.env ?? ''
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
          `${label === connection.activeKey ? arrow : ' '.repeat(arrow.length)} ${label}  ${variable}${isSet(env, variable) ? '' : ' (not set in this shell)'}`,
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
