import { Button } from '@mantine/core'
import { IconFilterOff } from '@tabler/icons-react'
import { type KeyboardEvent, useMemo } from 'react'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { Verdicts } from '../../bridge/verdicts.ts'
import { findContent } from '../../ui/content/content-columns.ts'
import { ContentSwitch } from '../../ui/content/user-content.tsx'
import { DataGrid } from '../../ui/grid/data-grid.tsx'
import { ErrorNotice } from '../../ui/layout/notice.tsx'
import { Empty } from '../../ui/layout/screen.tsx'
import { isNarrowed } from './facet-list.tsx'
import { createResultColumns, orderColumns } from './result-columns.tsx'
import type { Counted } from './result-pages.ts'
import styles from './results.module.css'
import type { Results } from './use-results.ts'
import { VerdictsBar } from './verdicts-control.tsx'

/** The rows that match, under a line that says how many they are. */
export function ResultsTable(props: {
  results: Results
  verdicts: Verdicts
  onKey: (event: KeyboardEvent) => boolean
}) {
  const { results, verdicts } = props
  const { pages, filter, run, names, plan, isContent, revealed } = results
  const verdictsOf = verdicts.judged > 0 ? verdicts.of : null
  const columns = useMemo(
    () =>
      createResultColumns({
        operation: run.operation,
        isAsync: run.isAsync,
        rows: run.rows,
        names: names ?? [],
        order: orderColumns(names?.length ?? 0, findContent(plan, names ?? [])),
        isContent,
        isRevealed: revealed.isRevealed,
        verdictsOf,
      }),
    [names, plan, isContent, revealed.isRevealed, run.operation, run.isAsync, run.rows, verdictsOf],
  )
  return (
    <div className={styles.list}>
      <ResultsBar
        count={pages.count}
        counted={pages.counted}
        narrowed={isNarrowed(filter)}
        onShowAllRows={() => {
          results.search('')
          results.narrow({})
        }}
      />
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
        />
      )}
    </div>
  )
}

/** The line over the table: how many rows it has, its keys, and whether content is shown. */
function ResultsBar(props: {
  count: number
  counted: Counted
  narrowed: boolean
  onShowAllRows: () => void
}) {
  const { count, counted, narrowed } = props
  return (
    <div className={styles.bar}>
      <p className={styles.barText} aria-live="polite">
        <strong>{toCountText(count, counted)}</strong>
        {narrowed ? (count === 1 ? ' matches' : ' match') : ''} · <kbd>J</kbd> <kbd>K</kbd> move ·{' '}
        <kbd>Space</kbd> reveal · <kbd>Enter</kbd> open
      </p>
      {narrowed && (
        <Button variant="default" size="compact-xs" onClick={props.onShowAllRows}>
          Show all rows
        </Button>
      )}
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
