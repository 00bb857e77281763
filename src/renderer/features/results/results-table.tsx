import { Button } from '@mantine/core'
import { IconFilterOff } from '@tabler/icons-react'
import { type KeyboardEvent, type ReactNode, useMemo } from 'react'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { RowSort } from '../../../shared/run/results.ts'
import type { Verdicts } from '../../bridge/verdicts.ts'
import { ContentSwitch } from '../../ui/content/user-content.tsx'
import { DataGrid } from '../../ui/grid/data-grid.tsx'
import { ErrorNotice } from '../../ui/layout/notice.tsx'
import { Empty } from '../../ui/layout/screen.tsx'
import { ColumnMenu, moveTo } from './column-menu.tsx'
import { createResultColumns, toSortBy } from './result-columns.tsx'
import type { Counted } from './result-pages.ts'
import styles from './results.module.css'
import { isNarrowed } from './row-filter.ts'
import { isSameSort, SortMenu, toNextSort } from './sort-menu.tsx'
import type { Results } from './use-results.ts'
import { VerdictsBar } from './verdicts-control.tsx'

/** The rows that match, under a line that says how many they are. */
export function ResultsTable(props: {
  results: Results
  verdicts: Verdicts
  onKey: (event: KeyboardEvent) => boolean
}) {
  const { results, verdicts } = props
  const { pages, filter, run, names, table, isContent, revealed, sort } = results
  const { shown, entries, scale } = table
  const columns = useMemo(
    () =>
      createResultColumns({
        ...{ shown, entries, scale, isContent, isRevealed: revealed.isRevealed },
        verdictsOf: verdicts.of,
        ...{ rows: run.rows, names: names ?? [] },
      }),
    [shown, entries, scale, names, isContent, revealed.isRevealed, run.rows, verdicts.of],
  )
  const columnActions = {
    sorted: toSorted(columns, sort),
    onSort: (id: string) => results.sortBy(toNextSort(toSortBy(id), sort)),
    onResize: (id: string, rem: number) =>
      table.setColumns(shown.map((column) => (column.name === id ? { ...column, rem } : column))),
    onMove: (id: string, to: string) => table.setColumns(moveTo(shown, id, to)),
  }
  return (
    <div className={styles.list}>
      <ResultsBar
        count={pages.count}
        counted={pages.counted}
        narrowed={isNarrowed(filter)}
        onShowAllRows={() => results.apply({})}
      >
        <SortMenu sort={sort} classes={scale.classes} isAsync={run.isAsync} onSort={results.sortBy} />
        <ColumnMenu
          entries={entries}
          shown={shown}
          widthOf={(name) => columns.find(({ id }) => id === name)?.rem ?? 10}
          onColumns={table.setColumns}
        />
      </ResultsBar>
      <VerdictsBar verdicts={verdicts} />
      {results.error !== null && <ErrorNotice error={results.error} />}
      {pages.counted === 'exactly' && pages.count === 0 ? (
        <NoRows narrowed={isNarrowed(filter)} />
      ) : (
        <DataGrid
          label="Rows of the run"
          focused
          columns={columns}
          count={pages.count}
          rowAt={pages.rowAt}
          cursor={results.cursor}
          onCursor={results.setCursor}
          onOpen={(index) => {
            results.setCursor(index)
            results.setOpen(true)
          }}
          onKey={props.onKey}
          onWindow={pages.want}
          columnActions={columnActions}
        />
      )}
    </div>
  )
}

/** The column that the rows are sorted by, where the table shows it. */
function toSorted(columns: readonly { id: string }[], sort: RowSort | null) {
  if (sort === null) return null
  const found = columns.find(({ id }) => isSameSort(toSortBy(id), sort.by))
  return found === undefined ? null : { id: found.id, order: sort.order }
}

/** The line over the table: how many rows it has, its keys, and whether content is shown. */
function ResultsBar(props: {
  count: number
  counted: Counted
  narrowed: boolean
  onShowAllRows: () => void
  children: ReactNode
}) {
  const { count, counted, narrowed } = props
  return (
    <div className={styles.bar}>
      <p className={styles.barText} aria-live="polite">
        <strong>{toCountText(count, counted)}</strong>
        {narrowed ? (count === 1 ? ' matches' : ' match') : ''}
        <span className={styles.keys}>
          {' '}
          · <kbd>J</kbd> <kbd>K</kbd> move · <kbd>Space</kbd> reveal · <kbd>Enter</kbd> open
        </span>
      </p>
      {narrowed && (
        <Button variant="default" size="compact-xs" onClick={props.onShowAllRows}>
          Show all rows
        </Button>
      )}
      {props.children}
      <ContentSwitch />
    </div>
  )
}

function toCountText(count: number, counted: Counted): string {
  if (counted === 'no') return 'Counting rows'
  return counted === 'exactly' ? formatCounted(count, 'row') : `At least ${formatCounted(count, 'row')}`
}

/** What stands in the place of the table where no row is to be shown. */
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
