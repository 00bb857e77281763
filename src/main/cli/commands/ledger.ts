import { type Command, InvalidArgumentError } from 'commander'
import {
  LEDGER_PAGE_MAX,
  LEDGER_STATES,
  type LedgerKind,
  type LedgerQuery,
  type LedgerState,
  ledgerSchema,
  SHOWN_STATES,
} from '../../../shared/lookback/ledger.ts'
import { formatBytes, formatCounted } from '../../../shared/messages/figure-text.ts'
import { toLedgerReport } from '../../../shared/report/ledger-report.ts'
import { sayGuarded, UNGUARDED_FORMATS } from '../../../shared/run/formula-guard.ts'
import { toWrittenRows } from '../../../shared/run/written-rows.ts'
import { toBaseUrl } from '../../../shared/service/base-url.ts'
import { findConnection, findConnectionInUse, readConnections } from '../../engine/workspace/connections.ts'
import type { CliContext } from '../context.ts'
import { writeDocument, writeDocumentLine } from '../documents/write-document.ts'
import { resolveWorkspace, withEngine } from '../engine-access.ts'
import {
  createIntegerParser,
  parseBaseUrl,
  parseConnectionName,
  parseFilledText,
  parseVariableName,
} from '../options/parse-values.ts'
import {
  addDocumentOptions,
  addExamples,
  addOverwriteOption,
  type WorkspaceFlags,
} from '../options/shared-options.ts'
import { formatReport } from '../terminal/report-text.ts'
import { type OverwriteFlags, toTarget } from '../written-files.ts'

/** The service of a ledger, as options name it. */
export interface LedgerServiceFlags extends WorkspaceFlags {
  connection?: string
  baseUrl?: string
  apiKeyEnv?: string
}

interface LedgerFlags extends LedgerServiceFlags, OverwriteFlags {
  state?: readonly LedgerState[]
  search?: string
  limit: number
  offset: number
  export?: string
  json?: true
}

/** Entries shown by default. */
const SHOWN = 20

/** How the ledger commands differ. */
const LEDGERS: Readonly<
  Record<LedgerKind, { list: string | null; summary: string; description: string; examples: string[] }>
> = {
  index: {
    list: 'id of the custom index (default: the only one, or a table of all)',
    summary: 'items of a custom index',
    description:
      'Shows the items of a custom index that your runs added and did not remove later. The export can be used as the source ' +
      'of `index remove` and `index add`.\n\n' +
      'States: known; removed; removal-unknown (a removal had no usable answer); add-unknown (an add had no usable answer, so ' +
      'it may have added an item with an unknown id).',
    examples: ['ledger index sandbox-index', 'ledger index sandbox-index --search upload --export items.csv'],
  },
  watchlist: {
    list: 'API field name of the watchlist (default: the only one, or a table of all)',
    summary: 'terms of a watchlist',
    description:
      'Shows the terms of a watchlist as recorded by your runs, each with its last outcome and notes. The export can be used ' +
      'as the source of `watchlist add` and `watchlist update`.\n\n' +
      'States: known; absent (the service does not have the term); failed (the service could not process the term); unknown ' +
      '(no usable answer).',
    examples: [
      'ledger watchlist sandbox_terms',
      'ledger watchlist sandbox_terms --state all --export terms.xlsx',
    ],
  },
  appeals: {
    list: null,
    summary: 'appeals over time',
    description:
      'Shows every appeal that your runs checked: its last known status and when it changed. The export can be used as the ' +
      'source of `appeal`; `appeal --recheck` checks those in review again.\n\n' +
      'States: in-review, reviewed, overturned, upheld, other-status, not-found (the service does not know the appeal), ' +
      'unknown (never answered).',
    examples: ['ledger appeals', 'ledger appeals --state in-review --export in-review.csv'],
  },
}

/** Adds `ledger index|watchlist|appeals`: what all runs of a service add up to. */
export function addLedgerCommand(program: Command, context: CliContext): void {
  const ledger = program
    .command('ledger')
    .description(
      'Combines what all runs recorded about a service: items of custom indexes, terms of watchlists, and appeals. Nothing is sent.',
    )
  for (const of of Object.keys(LEDGERS) as LedgerKind[]) addLedger(ledger, context, of)
}

function addLedger(parent: Command, context: CliContext, of: LedgerKind): void {
  const { list, summary, description, examples } = LEDGERS[of]
  const command = parent.command(of).summary(summary).description(description)
  if (list !== null) command.argument('[list]', list, parseFilledText)
  addLedgerServiceOptions(command)
    .optionsGroup('Entries:')
    .option(
      '--state <states>',
      `only entries in these states, comma-separated, or all (default: ${SHOWN_STATES[of] === LEDGER_STATES[of] ? 'all' : SHOWN_STATES[of].join(', ')})`,
      createStatesParser(of),
    )
    .option('--search <text>', 'only entries that contain this text', parseFilledText)
    .option('--limit <n>', 'entries to show', createIntegerParser(1, LEDGER_PAGE_MAX), SHOWN)
    .option('--offset <n>', 'entries to skip', createIntegerParser(0, Number.MAX_SAFE_INTEGER), 0)
    .option('--export <file>', 'write all matching entries to a .csv, .xlsx or .jsonl file')
  addOverwriteOption(command).optionsGroup('Options:')
  addDocumentOptions(command).action(async (...args: unknown[]) => {
    // Commander passes the argument, if there is one, before the options.
    const name = list === null ? undefined : (args[0] as string | undefined)
    await showLedger(context, of, name ?? null, args[list === null ? 0 : 1] as LedgerFlags)
  })
  addExamples(command, examples)
}

export function addLedgerServiceOptions(command: Command): Command {
  return command
    .optionsGroup('Service:')
    .option(
      '--connection <name>',
      'stored connection (default: the connection in use; without one, the only service that this ledger has runs for)',
      parseConnectionName,
    )
    .option('--base-url <url>', 'service URL of the runs', parseBaseUrl)
    .option(
      '--api-key-env <name>',
      'environment variable with the API key of the runs, if it is not a key of a stored connection',
      parseVariableName,
    )
}

function createStatesParser(of: LedgerKind): (text: string) => readonly LedgerState[] {
  const states: readonly LedgerState[] = LEDGER_STATES[of]
  return (text) => {
    if (text.trim() === 'all') return states
    return text.split(',').map((name) => {
      const state = states.find((one) => one === name.trim().replaceAll('-', '_'))
      if (state !== undefined) return state
      const names = states.map((one) => one.replaceAll('_', '-'))
      throw new InvalidArgumentError(`expected ${names.join(', ')} or all, found \`${name.trim()}\`.`)
    })
  }
}

/** The service that options name; by default the connection in use. Throws `CONNECTION_NOT_FOUND`. */
export function toLedgerService(workspace: string, flags: LedgerServiceFlags): LedgerQuery['service'] {
  const { connection, baseUrl, apiKeyEnv } = flags
  const connections = readConnections(workspace)
  const isOpen = baseUrl === undefined && apiKeyEnv === undefined
  const stored =
    connection === undefined
      ? isOpen
        ? findConnectionInUse(connections)
        : null
      : findConnection(connections, connection)
  const address = baseUrl === undefined ? stored?.baseUrl : toBaseUrl(baseUrl)
  return {
    ...(address === undefined ? {} : { baseUrl: address }),
    ...(stored === null ? {} : { connection: stored.name }),
    ...(apiKeyEnv === undefined ? {} : { apiKeyEnv }),
  }
}

async function showLedger(
  context: CliContext,
  of: LedgerKind,
  list: string | null,
  flags: LedgerFlags,
): Promise<void> {
  const workspace = resolveWorkspace(flags.workspace, context.env)
  const query: LedgerQuery = {
    of,
    list,
    service: toLedgerService(workspace, flags),
    search: flags.search ?? null,
    states: flags.state ?? SHOWN_STATES[of],
  }
  await withEngine(context, workspace, async (engine) => {
    await engine.runs.settleLate()
    if (flags.export !== undefined) {
      const written = await engine.lookback.exportLedger(
        query,
        toTarget(context, workspace, flags.export, flags),
      )
      const { file, rows, sizeBytes, guardedCells = 0 } = written
      if (flags.json) return writeDocumentLine(context.out, { of, list, ...toWrittenRows(written) })
      await context.out.writeLine(`${formatCounted(rows, 'row')} in ${file} (${formatBytes(sizeBytes)})`)
      if (guardedCells > 0) await context.out.writeLine(sayGuarded(guardedCells, UNGUARDED_FORMATS))
      return
    }
    const { limit, offset } = flags
    const ledger = await engine.lookback.readLedger(query, { limit, offset })
    if (flags.json) return writeDocument(context.out, ledgerSchema.parse(ledger))
    return context.out.writeLine(formatReport(context.outTerminal, toLedgerReport(ledger, query)))
  })
}
