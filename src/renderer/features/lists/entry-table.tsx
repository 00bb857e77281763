import type { ReactNode } from 'react'
import type {
  AppealEntry,
  IndexEntry,
  Ledger,
  LedgerKind,
  LedgerState,
  TermEntry,
} from '../../../shared/lookback/ledger.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { isFieldContent, MaskedText } from '../../ui/content/user-content.tsx'
import { formatTimestamp } from '../../ui/format-time.ts'
import { type Column, Table } from '../../ui/table/table.tsx'
import type { TableColumn, TableColumns } from '../../ui/table/table-columns.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { toListStateLook } from './list-looks.ts'
import styles from './lists.module.css'

/** A column of the entries, whose cells are null if there is nothing to show; left out if all of a page are. */
type EntryColumn<Entry> = Pick<Column<Entry>, 'isNumber'> & {
  title: string
  cell: (entry: Entry, isShown: boolean) => ReactNode
}

/** The entries of a page; content is masked until the person has it shown. */
export function EntryTable(props: {
  ledger: Ledger
  isShown: boolean
  columns: TableColumns
  onOpenRun: (runId: string) => void
}) {
  const { ledger, isShown, onOpenRun } = props
  const common = { isShown, table: props.columns, onOpenRun }
  switch (ledger.of) {
    case 'index':
      return <Entries {...common} of="index" columns={INDEX_COLUMNS} entries={ledger.entries} />
    case 'watchlist':
      return <Entries {...common} of="watchlist" columns={TERM_COLUMNS} entries={ledger.entries} />
    case 'appeals':
      return <Entries {...common} of="appeals" columns={APPEAL_COLUMNS} entries={ledger.entries} />
  }
}

function Entries<Entry extends IndexEntry | TermEntry | AppealEntry>(props: {
  of: LedgerKind
  columns: readonly EntryColumn<Entry>[]
  entries: readonly Entry[]
  isShown: boolean
  table: TableColumns
  onOpenRun: (runId: string) => void
}) {
  const { of, entries, isShown } = props
  const columns = withCommonColumns(props.columns, of, props.onOpenRun)
    .filter(({ cell }) => entries.some((entry) => cell(entry, isShown) !== null))
    .map(
      ({ cell, ...column }): Column<Entry> => ({
        ...{ ...column, isRowHead: false },
        cell: (entry) => cell(entry, isShown) ?? '–',
      }),
    )
  return (
    <Table
      className={styles.table}
      caption="Entries, oldest first"
      rows={entries}
      columns={columns}
      view={props.table}
    />
  )
}

/** All columns of a kind; the state comes second, so that a narrow window shows it. */
function withCommonColumns<Entry extends IndexEntry | TermEntry | AppealEntry>(
  [name, ...others]: readonly EntryColumn<Entry>[],
  of: LedgerKind,
  onOpenRun: (runId: string) => void,
): EntryColumn<Entry>[] {
  return [
    ...(name === undefined ? [] : [name]),
    { title: 'State', cell: ({ state }) => <StateWord of={of} state={state} /> },
    ...others,
    {
      title: 'Last request',
      cell: ({ run_id: runId, row }) => (
        <button
          type="button"
          className={`p-0 border-0 accent ${styles.link}`}
          title={`Run ${runId}`}
          onClick={() => onOpenRun(runId)}
        >
          row {row}
        </button>
      ),
    },
  ]
}

function StateWord({ of, state }: { of: LedgerKind; state: LedgerState }) {
  const { word, meaning, color } = toListStateLook(of, state)
  return (
    <span className="medium" style={{ color }} title={meaning}>
      {word}
    </span>
  )
}

function toMoment(at: string | null): ReactNode {
  return at === null ? null : <span className="quiet">{formatTimestamp(at)}</span>
}

function toWords(text: string): string {
  return text.replaceAll('_', ' ')
}

const INDEX_COLUMNS: readonly EntryColumn<IndexEntry>[] = [
  {
    title: 'Item',
    cell: ({ custom_index_item_id: id, items }) =>
      id === null ? (
        <em className="quiet">not known{items > 1 ? `, up to ${formatCounted(items, 'item')}` : ''}</em>
      ) : (
        <SafeText text={id} max={80} />
      ),
  },
  {
    title: 'Address or media',
    cell: ({ url, media }, isShown) => toField('url', url ?? media, isShown),
  },
  { title: 'Variant', cell: (entry) => toText(entry.content_variant) },
  {
    title: 'Metadata',
    cell: ({ metadata }) => (metadata === null ? null : toText(JSON.stringify(metadata))),
  },
  { title: 'Added', cell: ({ first_at: at }) => toMoment(at) },
]

const TERM_COLUMNS: readonly EntryColumn<TermEntry>[] = [
  { title: 'Term', cell: ({ term }, isShown) => toField('term', term, isShown) },
  { title: 'Last outcome', cell: ({ outcome }) => toWords(outcome) },
  {
    title: 'Reason',
    cell: ({ outcome, failure }) =>
      outcome === 'failed' ? (toText(failure) ?? <em className="quiet">the service gave none</em>) : null,
  },
  {
    title: 'Notes',
    cell: ({ state, notes, notes_known: isKnown }, isShown) => {
      if (!isKnown && state === 'known') return <em className="quiet">not known</em>
      return toField('notes', notes, isShown)
    },
  },
  { title: 'Last answer', cell: ({ changed_at: at }) => toMoment(at) },
]

const APPEAL_COLUMNS: readonly EntryColumn<AppealEntry>[] = [
  { title: 'Appeal', cell: (entry) => toText(entry.appeal_id) },
  { title: 'Decision', cell: (entry) => toText(entry.action_name) },
  { title: 'First decision', cell: (entry) => toText(entry.original_action_name) },
  { title: 'Since', cell: ({ history }) => toMoment(history.at(-1)?.from ?? null) },
  {
    title: 'Before',
    cell: ({ history }) =>
      history.length < 2
        ? null
        : history
            .slice(0, -1)
            .map(({ state }) => toWords(state))
            .join(', '),
  },
  { title: 'Last checked', cell: ({ asked_at: at }) => toMoment(at) },
  { title: 'Checks', isNumber: true, cell: ({ asked }) => formatCount(asked) },
  {
    title: 'Unanswered',
    isNumber: true,
    cell: ({ unanswered }) => (unanswered === 0 ? null : formatCount(unanswered)),
  },
]

/** The text of a field, masked where it is content; null where there is none. */
function toField(field: string, text: string | null, isShown: boolean): ReactNode {
  if (text === null || text === '') return null
  return <MaskedText text={text} revealed={isShown || !isFieldContent(field, text)} max={120} />
}

function toText(text: string | null): ReactNode {
  return text === null || text === '' ? null : <SafeText text={text} max={120} />
}

/** The columns of the entries of a kind. The first stays, since it says what the entry is. */
export function listColumns(of: LedgerKind): readonly TableColumn[] {
  const toColumns = <Entry extends IndexEntry | TermEntry | AppealEntry>(
    columns: readonly EntryColumn<Entry>[],
  ): TableColumn[] =>
    withCommonColumns(columns, of, () => {}).map(({ title }, index) =>
      index === 0 ? { title, isFixed: true } : { title },
    )
  switch (of) {
    case 'index':
      return toColumns(INDEX_COLUMNS)
    case 'watchlist':
      return toColumns(TERM_COLUMNS)
    case 'appeals':
      return toColumns(APPEAL_COLUMNS)
  }
}
