import {
  type AppealEntry,
  type IndexEntry,
  LEDGER_STATES,
  type Ledger,
  type LedgerQuery,
  sayLedgerState,
  type TermEntry,
} from '../lookback/ledger.ts'
import { formatCount, formatCounted } from '../messages/figure-text.ts'
import { sayLedgerService } from '../messages/lookback-messages.ts'
import { formatMinute } from '../messages/moment-text.ts'
import { toAnswerWords } from '../run/item-state.ts'
import { type Cell, type Column, count, foreign, type Section, text } from './report.ts'

/** A page of a ledger: its subject, the number of entries, then the entries. */
export function toLedgerReport(ledger: Ledger, query: LedgerQuery): Section[] {
  const isChoice = ledger.of !== 'appeals' && ledger.list === null
  return [
    toHead(ledger),
    { warnings: ledger.warnings },
    ...(isChoice
      ? [toLists(ledger), { lines: ['Name one to see its entries.'] }]
      : [toEntries(ledger), { notes: listRest(ledger, query) }]),
  ]
}

function toHead({ of, list, service, runs, counts }: Ledger): Section {
  const name = list === null ? '' : ` ${list}`
  const what = {
    index: list === null ? 'Custom indexes' : `Custom index${name}`,
    watchlist: list === null ? 'Watchlists' : `Watchlist${name}`,
    appeals: 'Appeals',
  }[of]
  const states = LEDGER_STATES[of]
    .filter((state) => (counts[state] ?? 0) > 0)
    .map((state) => `${formatCount(counts[state] ?? 0)} ${sayLedgerState(state)}`)
  return {
    lines: [
      { text: `${what} at ${sayLedgerService(service)}, from ${formatCounted(runs, 'run')}`, tone: 'strong' },
      ...(states.length === 0 ? [] : [states.join(', ')]),
    ],
  }
}

/** Every list with its counts, if one must be chosen. */
function toLists({ of, lists }: Ledger): Section {
  const states = LEDGER_STATES[of]
  return {
    tables: [
      {
        columns: [foreign(of, 12), ...states.map((state) => count(sayLedgerState(state)))],
        rows: lists.map(({ name, counts }) => [name, ...states.map((state) => counts[state] ?? 0)]),
      },
    ],
  }
}

function toEntries(ledger: Ledger): Section {
  switch (ledger.of) {
    case 'index':
      return toUsedColumns(INDEX_COLUMNS, ledger.entries)
    case 'watchlist':
      return toUsedColumns(TERM_COLUMNS, ledger.entries)
    case 'appeals':
      return toUsedColumns(APPEAL_COLUMNS, ledger.entries)
  }
}

/** A column of the entries, left out if it is empty for every entry. */
type EntryColumn<Entry> = readonly [column: Column, toCell: (entry: Entry) => Cell]

const INDEX_COLUMNS: readonly EntryColumn<IndexEntry>[] = [
  [foreign('item'), (entry) => entry.custom_index_item_id ?? '?'],
  [text('state'), ({ state }) => sayLedgerState(state)],
  [text('added'), ({ first_at: at }) => formatMinute(at)],
  [foreign('url', 16), ({ url, media }) => url ?? media ?? ''],
  [foreign('variant', 8), (entry) => entry.content_variant ?? ''],
  [foreign('metadata', 8), (entry) => entry.metadata_text ?? ''],
]

const TERM_COLUMNS: readonly EntryColumn<TermEntry>[] = [
  [foreign('term', 12), ({ term }) => term],
  [text('state'), ({ state }) => sayLedgerState(state)],
  [text('last outcome'), ({ outcome }) => toAnswerWords(outcome)],
  [text('last answer'), ({ changed_at: at }) => formatMinute(at)],
  [foreign('reason', 12), ({ failure }) => failure ?? ''],
  [
    foreign('notes', 12),
    ({ state, notes, notes_known: isKnown }) =>
      isKnown || state !== 'known' ? (notes ?? '') : '(not known)',
  ],
]

const APPEAL_COLUMNS: readonly EntryColumn<AppealEntry>[] = [
  [foreign('appeal', 12), (entry) => entry.appeal_id],
  [text('state'), ({ state }) => sayLedgerState(state)],
  [text('since'), ({ history }) => formatMinute(history.at(-1)?.from ?? null)],
  [text('asked'), ({ asked_at: at }) => formatMinute(at)],
  [count('times'), ({ asked }) => asked],
  [
    text('before', 10),
    ({ history }) =>
      history
        .slice(0, -1)
        .map(({ state }) => sayLedgerState(state))
        .join(', '),
  ],
  [count('unanswered'), (entry) => entry.unanswered || ''],
]

function toUsedColumns<Entry>(columns: readonly EntryColumn<Entry>[], entries: readonly Entry[]): Section {
  if (entries.length === 0) return {}
  const used = columns.filter(([, toCell]) => entries.some((entry) => toCell(entry) !== ''))
  const rows = entries.map((entry) => used.map(([, toCell]) => toCell(entry)))
  return { tables: [{ columns: used.map(([column]) => column), rows }] }
}

function listRest(ledger: Ledger, { states }: LedgerQuery): string[] {
  const { of, total, offset, entries, counts } = ledger
  const shown = offset + entries.length
  const hidden = LEDGER_STATES[of].filter((state) => !states.includes(state) && (counts[state] ?? 0) > 0)
  return [
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
}
