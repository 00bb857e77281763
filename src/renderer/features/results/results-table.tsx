import { Button } from '@mantine/core'
import { IconFilterOff } from '@tabler/icons-react'
import { type KeyboardEvent, memo, useMemo, useState } from 'react'
import type { PageRow } from '../../../shared/bridge/results.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { ColumnEntry } from '../../../shared/run/choose-columns.ts'
import { COLUMN_REM, type ShownColumn } from '../../../shared/run/result-view.ts'
import type { RowSort } from '../../../shared/run/results.ts'
import { isNarrowed, type RowFilter } from '../../../shared/run/row-filters.ts'
import type { Verdicts } from '../../bridge/verdicts.ts'
import { ContentSwitch } from '../../ui/content/user-content.tsx'
import { ActionButton, SelectField, TextField } from '../../ui/controls.tsx'
import { type ColumnActions, DataGrid, type GridColumn } from '../../ui/grid/data-grid.tsx'
import { Empty, ErrorNotice } from '../../ui/layout/screen.tsx'
import { ColumnLine, ColumnMenu } from '../../ui/table/table-columns.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { createResultColumns, toColumnTitle, toRowRem, toSortBy } from './result-columns.tsx'
import { type Counted, usePageRows } from './result-pages.ts'
import styles from './results.module.css'
import type { Results } from './use-results.ts'
import { KeptRowsBar, VerdictsBar } from './verdicts-control.tsx'

/** The matching rows, below a line with their number. */
export function ResultsTable(props: {
  results: Results
  verdicts: Verdicts
  onKey: (event: KeyboardEvent) => boolean
}) {
  const { results, verdicts } = props
  const { list, filter, run, names, isDescribed, table, isContent, revealed, sort } = results
  const { shown, entries, scale } = table
  const rowRem = toRowRem(Math.max(run.rows, list.count))
  const columns = useMemo(
    () =>
      createResultColumns({
        shown,
        entries,
        scale,
        isContent,
        isRevealed: revealed.isRevealed,
        verdictsOf: verdicts.of,
        rowRem,
        names,
      }),
    [shown, entries, scale, names, isContent, revealed.isRevealed, rowRem, verdicts.of],
  )
  return (
    <div className="stack min-w-0 min-h-0">
      <ResultsBar
        count={list.count}
        counted={list.counted}
        narrowed={isNarrowed(filter)}
        sort={sort}
        classes={scale.classes}
        isAsync={run.isAsync}
        entries={entries}
        shown={shown}
        columns={columns}
        onApply={results.apply}
        onSort={results.sortBy}
        onColumns={table.views.setColumns}
      />
      <VerdictsBar verdicts={verdicts} />
      <KeptRowsBar verdicts={verdicts} results={results} />
      {results.error !== null && <ErrorNotice error={results.error} />}
      {list.counted === 'exactly' && list.count === 0 ? (
        <NoRows narrowed={isNarrowed(filter)} />
      ) : (
        <RowsGrid results={results} columns={isDescribed ? columns : NO_COLUMNS} onKey={props.onKey} />
      )}
    </div>
  )
}

/** Rows are drawn once the columns are known; otherwise each would be drawn twice. */
const NO_COLUMNS: [] = []

function RowsGrid(props: {
  results: Results
  columns: GridColumn<PageRow>[]
  onKey: (event: KeyboardEvent) => boolean
}) {
  const { results, columns } = props
  const { sort, sortBy, list, cursor } = results
  const { shown, views } = results.table
  const { setColumns } = views
  const rowAt = usePageRows(list.pages)
  const columnActions = useMemo(
    (): ColumnActions => ({
      sorted: toSorted(columns, sort),
      onSort: (id) => sortBy(toNextSort(toSortBy(id), sort)),
      onResize: (id, rem) =>
        setColumns(shown.map((column) => (column.name === id ? { ...column, rem } : column))),
      onMove: (id, to) => setColumns(moveTo(shown, id, to)),
    }),
    [columns, shown, sort, sortBy, setColumns],
  )
  return (
    <DataGrid
      label="Rows of the run"
      focused
      columns={columns}
      count={columns.length === 0 ? 0 : list.count}
      rowAt={rowAt}
      shown={results.shown}
      cursor={cursor.index}
      cursorRow={cursor.row?.row ?? null}
      hasCursor={cursor.kind !== 'off'}
      onCursor={results.setCursor}
      onOpen={results.open}
      onKey={props.onKey}
      onWindow={list.pages.want}
      columnActions={columnActions}
    />
  )
}

function toSorted(columns: readonly { id: string }[], sort: RowSort | null) {
  if (sort === null) return null
  const found = columns.find(({ id }) => isSameSort(toSortBy(id), sort.by))
  return found === undefined ? null : { id: found.id, order: sort.order }
}

/** The line over the table: number of rows, keys, order, columns, and whether content is shown. */
const ResultsBar = memo(function ResultsBar(props: {
  count: number
  counted: Counted
  narrowed: boolean
  sort: RowSort | null
  classes: readonly string[]
  isAsync: boolean
  entries: readonly ColumnEntry[]
  shown: readonly ShownColumn[]
  columns: readonly GridColumn<PageRow>[]
  onApply: (filter: RowFilter) => void
  onSort: (sort: RowSort | null) => void
  onColumns: (columns: ShownColumn[] | null) => void
}) {
  const { count, counted, narrowed, columns } = props
  return (
    <div className={`row gap-3 p-2-4 border-b bg-surface flex-wrap ${styles.bar}`}>
      <p className={styles.barText} aria-live="polite">
        <strong>{toCountText(count, counted)}</strong>
        {narrowed ? (count === 1 ? ' matches' : ' match') : ''}
        <span className={styles.keys}>
          {' '}
          · <kbd>J</kbd> <kbd>K</kbd> move · <kbd>Space</kbd> reveal · <kbd>Enter</kbd> open
        </span>
      </p>
      {narrowed && <ActionButton label="Show all rows" small onClick={() => props.onApply({})} />}
      <SortMenu sort={props.sort} classes={props.classes} isAsync={props.isAsync} onSort={props.onSort} />
      <ResultColumnMenu
        entries={props.entries}
        shown={props.shown}
        widthOf={(name) => columns.find(({ id }) => id === name)?.rem ?? 10}
        onColumns={props.onColumns}
      />
      <ContentSwitch />
    </div>
  )
})

function toCountText(count: number, counted: Counted): string {
  if (counted === 'no') return 'Counting rows'
  return counted === 'exactly' ? formatCounted(count, 'row') : `At least ${formatCounted(count, 'row')}`
}

function NoRows({ narrowed }: { narrowed: boolean }) {
  return narrowed ? (
    <Empty icon={IconFilterOff} title="No row matches">
      Clear the search or a filter on the left.
    </Empty>
  ) : (
    <Empty icon={IconFilterOff} title="No rows">
      The source of this run had no rows.
    </Empty>
  )
}

/** Sorts the rows, also by keyboard and by values without a column. */
function SortMenu(props: {
  sort: RowSort | null
  classes: readonly string[]
  isAsync: boolean
  onSort: (sort: RowSort | null) => void
}) {
  const choices = listSorts(props.classes, props.isAsync)
  const chosen = choices.findIndex(
    ({ sort }) =>
      props.sort !== null && isSameSort(sort.by, props.sort.by) && sort.order === props.sort.order,
  )
  return (
    <SelectField
      // Shrinks before the tools beside it wrap to a second line.
      flex="4 1 6rem"
      maw="max-content"
      aria-label="Sort by"
      title={choices[chosen]?.label}
      value={String(chosen)}
      data={[
        { value: '-1', label: 'Source order' },
        ...choices.map(({ label }, index) => ({ value: String(index), label })),
      ]}
      onValue={(index) => props.onSort(choices[Number(index)]?.sort ?? null)}
    />
  )
}

/** The available sort orders, in words, except that of the source. */
function listSorts(classes: readonly string[], isAsync: boolean): { sort: RowSort; label: string }[] {
  const both = (by: RowSort['by'], descending: string, ascending: string) => [
    { sort: { by, order: 'descending' as const }, label: descending },
    { sort: { by, order: 'ascending' as const }, label: ascending },
  ]
  return [
    { sort: { by: { kind: 'row' }, order: 'descending' }, label: 'Last row first' },
    ...both({ kind: 'latency' }, 'Slowest first', 'Fastest first'),
    ...(isAsync
      ? both({ kind: 'callback-latency' }, 'Slowest callback first', 'Fastest callback first')
      : []),
    ...both({ kind: 'attempts' }, 'Most tries first', 'Fewest tries first'),
    ...classes.flatMap((className) =>
      both({ kind: 'score', className }, `Highest ${className} first`, `Lowest ${className} first`),
    ),
  ]
}

function isSameSort(one: RowSort['by'] | null, other: RowSort['by']): boolean {
  if (one === null || one.kind !== other.kind) return false
  return one.kind !== 'score' || (other.kind === 'score' && one.className === other.className)
}

/** The order after pressing a column's title: highest first, then lowest first, then that of the source. */
export function toNextSort(by: RowSort['by'] | null, sort: RowSort | null): RowSort | null {
  if (by === null) return sort
  if (sort === null || !isSameSort(by, sort.by)) return { by, order: 'descending' }
  return sort.order === 'descending' && by.kind !== 'row' ? { by, order: 'ascending' } : null
}

const GROUPS: Record<ColumnEntry['group'], string> = {
  row: 'Outcome and answer',
  source: 'Source',
  scores: 'Scores',
  rules: 'Rules, true or false',
  answer: 'Members of the answer',
  raw: 'As it came',
}

interface ColumnChoice {
  entries: readonly ColumnEntry[]
  shown: readonly ShownColumn[]
  /** The drawn width of a column, rem. */
  widthOf: (name: string) => number
  onColumns: (columns: ShownColumn[] | null) => void
}

/**
 * Chooses, orders and sizes the columns of the rows; the choice is stored for the operation, so that none of
 * them may apply to a source with other columns.
 */
export function ResultColumnMenu(props: ColumnChoice) {
  const { entries, shown } = props
  const [search, setSearch] = useState('')
  const isShown = new Set(shown.map(({ name }) => name))
  const hidden = entries.filter(({ name, group }) => group === 'source' && !isShown.has(name)).length
  return (
    <ColumnMenu width="27rem" size="compact-xs" isCrowded hidden={hidden}>
      <ColumnList {...props} search={search} onSearch={setSearch} />
    </ColumnMenu>
  )
}

function ColumnList(props: ColumnChoice & { search: string; onSearch: (search: string) => void }) {
  const { entries, shown, widthOf, onColumns, search, onSearch } = props
  const entryOf = new Map(entries.map((entry) => [entry.name, entry]))
  const isShown = new Set(shown.map(({ name }) => name))
  const isFound = (entry: ColumnEntry) => matches(entry, search)
  // Columns that this run lacks stay chosen for other runs.
  const present = shown.flatMap((column) => {
    const entry = entryOf.get(column.name) ?? toTypedEntry(column.name)
    return entry === null ? [] : [{ ...column, entry }]
  })
  const hidden = entries.filter((entry) => !isShown.has(entry.name) && isFound(entry))
  const typed = search.trim()
  const isNewPath = typed.length > 'answer.'.length && typed.startsWith('answer.') && !entryOf.has(typed)
  const show = (name: string) => onColumns([...shown, { name }])
  const hide = (name: string) => {
    // A table without columns would have no way to bring them back.
    if (present.length > 1) onColumns(shown.filter((column) => column.name !== name))
  }
  const resize = (name: string, by: number) => {
    const rem = Math.min(COLUMN_REM.max, Math.max(COLUMN_REM.min, widthOf(name) + by))
    onColumns(shown.map((column) => (column.name === name ? { ...column, rem } : column)))
  }
  return (
    <div className={`stack gap-2 ${styles.columns}`}>
      <div className={`grid gap-2 ${styles.columnsHead}`}>
        <TextField
          aria-label="Search the columns"
          placeholder="Search, or a path such as answer.user_id"
          value={search}
          data-autofocus
          onValue={onSearch}
        />
        <ActionButton label="Usual columns" onClick={() => onColumns(null)} />
      </div>
      <div className={`relative grid one-column gap-3 overflow-auto min-h-0 ${styles.columnsList}`}>
        <h3 className={`small bold ${styles.facetTitle}`}>Shown: arrows move a column, − and + size it</h3>
        <ul>
          {present
            .filter(({ entry }) => isFound(entry))
            .map(({ name, entry }) => {
              const title = toColumnTitle(entry)
              return (
                <ColumnLine
                  key={name}
                  title={title}
                  label={<SafeText text={title} max={60} />}
                  isShown
                  onToggle={() => hide(name)}
                  onMove={(by) => onColumns(move(shown, name, by))}
                  onResize={(by) => resize(name, by)}
                />
              )
            })}
        </ul>
        {[...Map.groupBy(hidden, ({ group }) => group)].map(([group, those]) => (
          <section key={group} aria-label={GROUPS[group]}>
            <h3 className={`small bold ${styles.facetTitle}`}>{GROUPS[group]}</h3>
            <ul>
              {those.map((entry) => (
                <ColumnLine
                  key={entry.name}
                  title={toColumnTitle(entry)}
                  label={<SafeText text={toColumnTitle(entry)} max={60} />}
                  description={entry.group === 'source' ? undefined : <SafeText text={entry.name} max={60} />}
                  isShown={false}
                  onToggle={() => show(entry.name)}
                />
              ))}
            </ul>
          </section>
        ))}
        {isNewPath && (
          <Button onClick={() => show(typed)}>
            Show <SafeText text={typed} max={60} />
          </Button>
        )}
        {hidden.length === 0 && !isNewPath && search !== '' && (
          <p className={`quiet ${styles.facetEmpty}`}>No other column has this in its name.</p>
        )}
      </div>
    </div>
  )
}

/** A typed member of the answer, which need not be in the list. */
function toTypedEntry(name: string): ColumnEntry | null {
  if (!name.startsWith('answer.')) return null
  return { name, title: name.slice('answer.'.length), group: 'answer', hasContent: true }
}

function matches(entry: ColumnEntry, search: string): boolean {
  const wanted = search.trim().toLowerCase()
  return `${toColumnTitle(entry)} ${entry.name}`.toLowerCase().includes(wanted)
}

/** The columns with one moved a place to the left or right. */
export function move(shown: readonly ShownColumn[], name: string, by: -1 | 1): ShownColumn[] {
  const from = shown.findIndex((column) => column.name === name)
  const to = from + by
  const moved = shown[from]
  if (moved === undefined || to < 0 || to >= shown.length) return [...shown]
  return shown.toSpliced(from, 1).toSpliced(to, 0, moved)
}

/** The columns with one moved to the place of another. */
export function moveTo(shown: readonly ShownColumn[], name: string, to: string): ShownColumn[] {
  const moved = shown.find((column) => column.name === name)
  const place = shown.findIndex((column) => column.name === to)
  if (moved === undefined || place === -1) return [...shown]
  return shown.filter((column) => column !== moved).toSpliced(place, 0, moved)
}
