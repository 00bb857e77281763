import {
  type AppealEntry,
  type IndexEntry,
  LEDGER_STATES,
  type Ledger,
  type LedgerQuery,
  type LedgerService,
  type TermEntry,
} from '../../../shared/lookback/ledger.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { formatTable, type TableColumn, wrapWords } from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** A page of a ledger for a person to read: what it is of, how many entries there are, then the entries. */
export function formatLedger(terminal: Terminal, ledger: Ledger, query: LedgerQuery): string {
  const parts = [formatHead(terminal, ledger), formatWarnings(terminal, ledger)]
  if (ledger.of !== 'appeals' && ledger.list === null) parts.push(formatLists(terminal, ledger))
  else parts.push(formatEntries(terminal, ledger), formatRest(terminal, ledger, query))
  return parts
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n')
}

function formatHead(terminal: Terminal, ledger: Ledger): string[] {
  const { service, runs, counts } = ledger
  const columns = terminal.columns()
  const what = {
    index: ledger.list === null ? 'Custom indexes' : `Custom index ${ledger.list}`,
    watchlist: ledger.list === null ? 'Watchlists' : `Watchlist ${ledger.list}`,
    appeals: 'Appeals',
  }[ledger.of]
  const title = toPrintable(`${what} at ${sayService(service)}, from ${formatCounted(runs, 'run')}`)
  const states = LEDGER_STATES[ledger.of]
    .filter((state) => (counts[state] ?? 0) > 0)
    .map((state) => `${formatCount(counts[state] ?? 0)} ${toWords(state)}`)
  return [
    ...wrapWords(title, columns).map((line) => terminal.tone('strong', line)),
    ...wrapWords(states.join(', '), columns).filter((line) => line !== ''),
  ]
}

function sayService({ base_url: url, connections, api_key_env: env }: LedgerService): string {
  if (connections.length > 0) return `${url} (connection ${connections.join(', ')})`
  return env === null ? url : `${url} (key in ${env})`
}

function formatWarnings(terminal: Terminal, { warnings }: Ledger): string[] {
  return warnings.flatMap((warning) =>
    wrapWords(toPrintable(warning), Math.max(30, terminal.columns() - 2)).map((line, index) =>
      terminal.tone('warn', `${index === 0 ? '!' : ' '} ${line}`),
    ),
  )
}

/** Every list with its counts, where one has to be chosen. */
function formatLists(terminal: Terminal, { of, lists }: Ledger): string[] {
  const states = LEDGER_STATES[of]
  return [
    ...formatTable(
      terminal,
      [
        { title: of, align: 'left', minColumns: 12 },
        ...states.map((state) => ({ title: toWords(state), align: 'right' }) as const),
      ],
      lists.map(({ name, counts }) => [
        toPrintable(name),
        ...states.map((state) => formatCount(counts[state] ?? 0)),
      ]),
    ),
    '',
    `Name one to see its entries.`,
  ]
}

function formatEntries(terminal: Terminal, ledger: Ledger): string[] {
  if (ledger.entries.length === 0) return []
  switch (ledger.of) {
    case 'index':
      return formatColumns(terminal, INDEX_COLUMNS, ledger.entries)
    case 'watchlist':
      return formatColumns(terminal, TERM_COLUMNS, ledger.entries)
    case 'appeals':
      return formatColumns(terminal, APPEAL_COLUMNS, ledger.entries)
  }
}

/** A column of the entries, left out where no entry has anything there. */
type EntryColumn<Entry> = TableColumn & { toCell(entry: Entry): string }

const INDEX_COLUMNS: readonly EntryColumn<IndexEntry>[] = [
  { title: 'item', align: 'left', toCell: (entry) => entry.custom_index_item_id ?? '?' },
  { title: 'state', align: 'left', toCell: ({ state }) => toWords(state) },
  { title: 'added', align: 'left', toCell: ({ first_at: at }) => formatMoment(at) },
  { title: 'url', align: 'left', minColumns: 16, toCell: ({ url, media }) => url ?? media ?? '' },
  { title: 'variant', align: 'left', minColumns: 8, toCell: (entry) => entry.content_variant ?? '' },
  {
    title: 'metadata',
    align: 'left',
    minColumns: 8,
    toCell: ({ metadata }) => (metadata === null ? '' : JSON.stringify(metadata)),
  },
]

const TERM_COLUMNS: readonly EntryColumn<TermEntry>[] = [
  { title: 'term', align: 'left', minColumns: 12, toCell: ({ term }) => term },
  { title: 'state', align: 'left', toCell: ({ state }) => toWords(state) },
  { title: 'last outcome', align: 'left', toCell: ({ outcome }) => toWords(outcome) },
  { title: 'last answer', align: 'left', toCell: ({ changed_at: at }) => formatMoment(at) },
  { title: 'reason', align: 'left', minColumns: 12, toCell: ({ failure }) => failure ?? '' },
  {
    title: 'notes',
    align: 'left',
    minColumns: 12,
    toCell: ({ state, notes, notes_known: isKnown }) =>
      isKnown || state !== 'known' ? (notes ?? '') : '(not known)',
  },
]

const APPEAL_COLUMNS: readonly EntryColumn<AppealEntry>[] = [
  { title: 'appeal', align: 'left', minColumns: 12, toCell: (entry) => entry.appeal_id },
  { title: 'state', align: 'left', toCell: ({ state }) => toWords(state) },
  { title: 'since', align: 'left', toCell: ({ history }) => formatMoment(history.at(-1)?.from ?? null) },
  { title: 'asked', align: 'left', toCell: ({ asked_at: at }) => formatMoment(at) },
  { title: 'times', align: 'right', toCell: ({ asked }) => formatCount(asked) },
  {
    title: 'before',
    align: 'left',
    minColumns: 10,
    toCell: ({ history }) =>
      history
        .slice(0, -1)
        .map(({ state }) => toWords(state))
        .join(', '),
  },
  { title: 'unanswered', align: 'right', toCell: (entry) => (entry.unanswered || '').toString() },
]

function formatColumns<Entry>(
  terminal: Terminal,
  columns: readonly EntryColumn<Entry>[],
  entries: readonly Entry[],
): string[] {
  const used = columns.filter(({ toCell }) => entries.some((entry) => toCell(entry) !== ''))
  const cells = entries.map((entry) => used.map(({ toCell }) => toPrintable(toCell(entry))))
  return formatTable(terminal, used, cells)
}

function formatRest(terminal: Terminal, ledger: Ledger, { states }: LedgerQuery): string[] {
  const { of, total, offset, entries, counts } = ledger
  const shown = offset + entries.length
  const hidden = LEDGER_STATES[of].filter((state) => !states.includes(state) && (counts[state] ?? 0) > 0)
  const lines = [
    ...(total === 0 ? ['No entry matches.'] : []),
    ...(total > 0 && entries.length === 0 ? [`Only ${formatCounted(total, 'entry', 'entries')} match.`] : []),
    ...(entries.length > 0 && shown < total
      ? [
          `${formatCount(offset + 1)} to ${formatCount(shown)} of ${formatCount(total)}; for more, add --offset ${shown}.`,
        ]
      : []),
    ...(hidden.length > 0
      ? [`For other states, add --state ${hidden.map((state) => state.replaceAll('_', '-')).join(',')}.`]
      : []),
  ]
  return lines
    .flatMap((line) => wrapWords(line, terminal.columns()))
    .map((line) => terminal.tone('quiet', line))
}

function toWords(name: string): string {
  return name.replaceAll('_', ' ')
}

/** A moment in the person's own time: `2025-11-21 09:07`. */
function formatMoment(iso: string | null): string {
  if (iso === null) return ''
  const moment = new Date(iso)
  const pad = (part: number) => String(part).padStart(2, '0')
  const date = `${moment.getFullYear()}-${pad(moment.getMonth() + 1)}-${pad(moment.getDate())}`
  return `${date} ${pad(moment.getHours())}:${pad(moment.getMinutes())}`
}
