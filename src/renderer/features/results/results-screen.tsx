import { Button, CloseButton, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconDownload, IconFilterOff, IconSearch } from '@tabler/icons-react'
import { keepPreviousData, skipToken, useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useCallback, useMemo, useRef, useState } from 'react'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { RowFilter } from '../../../shared/run/results.ts'
import { ask } from '../../bridge/client.ts'
import { useFollowRun, useLiveRuns } from '../../bridge/live-runs.ts'
import { ContentSwitch, createContentRule } from '../../ui/content/user-content.tsx'
import { PrimaryButton } from '../../ui/controls.tsx'
import { DataGrid } from '../../ui/grid/data-grid.tsx'
import { ErrorNotice } from '../../ui/layout/notice.tsx'
import { Empty, Screen } from '../../ui/layout/screen.tsx'
import { countRetryable } from '../../ui/states/row-states.tsx'
import { useHotkey, useWindowKeys } from '../../ui/use-hotkey.ts'
import { FacetList, isNarrowed, withSearch } from './facet-list.tsx'
import { createResultColumns, findContent, orderColumns, toWholeMapping } from './result-columns.tsx'
import { COUNT_AGAIN_MS, type Counted, REFRESH_MS, useResultPages } from './result-pages.ts'
import styles from './results.module.css'
import { RowDrawer, useRevealed } from './row-drawer.tsx'

const SEARCH_QUIET_MS = 250

/** Every row of a run: narrowed by facets and search, opened in a drawer, its content hidden until revealed. */
export function ResultsScreen(props: {
  runId: string
  /** The filter to begin with. */
  filter: RowFilter
  onExport: (filter: RowFilter) => void
  onRun: () => void
  /** Sends what did not succeed again, as a child run. */
  onRetry: () => void
}) {
  const { runId } = props
  useFollowRun(runId)
  const live = useLiveRuns((known) => known.snapshots[runId]?.phase !== 'ended')
  const retryable = useLiveRuns((known) => {
    const picture = known.snapshots[runId]
    const summary = known.summaries[runId]
    if (picture?.phase !== 'ended' || summary?.state === 'running') return 0
    return countRetryable(summary?.whole_run?.rows ?? picture.rows)
  })
  const name = useLiveRuns((known) => known.summaries[runId]?.name)
  const operation = useLiveRuns((known) => known.summaries[runId]?.operation) ?? 'task'
  const isAsync = useLiveRuns((known) => known.summaries[runId]?.mode) === 'async'
  const rows = useLiveRuns((known) => known.summaries[runId]?.rows.read) ?? 0
  const [chosen, setChosen] = useState(props.filter)
  const [typed, setTyped] = useState(props.filter.search ?? '')
  const [settled] = useDebouncedValue(typed, SEARCH_QUIET_MS)
  // Every row is shown at once when the search is cleared.
  const search = typed === '' ? '' : settled
  const filter = useMemo(() => withSearch(chosen, search), [chosen, search])
  const [cursor, setCursor] = useState(0)
  const [open, setOpen] = useState(false)
  const revealed = useRevealed()
  const place = useRef<HTMLDivElement>(null)

  const plan = useQuery(ask.runs.readPlan.queryOptions({ input: { runId } }))
  const facets = useQuery(
    ask.results.facets.queryOptions({
      input: { runId, filter },
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) =>
        state.data?.isCounted === false ? COUNT_AGAIN_MS : live ? REFRESH_MS : false,
    }),
  )
  const columnNames = useQuery(ask.results.columns.queryOptions({ input: { runId } }))
  const pages = useResultPages(runId, filter, live)
  const cursorRow = pages.rowAt(Math.min(cursor, Math.max(0, pages.count - 1)))
  const detail = useQuery(
    ask.results.row.queryOptions({
      input: open && cursorRow !== null ? { runId, row: cursorRow.row } : skipToken,
      // Read again as soon as the table shows that it changed.
      queryKey: ['row', runId, cursorRow?.row, cursorRow?.state, cursorRow?.attempts],
      placeholderData: keepPreviousData,
    }),
  )

  const names = columnNames.data
  const isContent = useMemo(
    () => createContentRule(names ?? [], toWholeMapping(plan.data ?? null, names ?? [])),
    [names, plan.data],
  )
  const columns = useMemo(
    () =>
      createResultColumns({
        operation,
        isAsync,
        rows,
        names: names ?? [],
        order: orderColumns(names?.length ?? 0, findContent(plan.data ?? null, names ?? [])),
        isContent,
        isRevealed: revealed.isRevealed,
      }),
    [names, plan.data, isContent, revealed.isRevealed, operation, isAsync, rows],
  )
  const narrow = (next: RowFilter) => {
    const { search: _typed, ...rest } = next
    setChosen(rest)
    setCursor(0)
  }
  const close = useCallback(() => {
    setOpen(false)
    place.current?.querySelector<HTMLElement>('[role="grid"]')?.focus()
  }, [])
  const pressInGrid = (event: KeyboardEvent) => {
    if (event.key === ' ' && cursorRow !== null) {
      revealed.toggle(cursorRow.row)
      return true
    }
    if (event.key === 'Escape' && open) {
      close()
      return true
    }
    return false
  }
  const pressAnywhere = (event: globalThis.KeyboardEvent) => {
    const grid = place.current?.querySelector<HTMLElement>('[role="grid"]')
    if (grid === null || grid === undefined || open || grid.contains(document.activeElement)) return
    const isIdle = document.activeElement === document.body
    if (!/^[jk]$/i.test(event.key) && !(isIdle && (event.key === 'Enter' || event.key === ' '))) return
    event.preventDefault()
    grid.focus()
    if (event.key === 'Enter') setOpen(cursorRow !== null)
    else if (event.key === ' ') cursorRow !== null && revealed.toggle(cursorRow.row)
    else step(event.key.toLowerCase() === 'j' ? 1 : -1)
  }
  const step = (by: 1 | -1) => setCursor((at) => Math.min(Math.max(0, at + by), Math.max(0, pages.count - 1)))
  const pressInDrawer = (event: KeyboardEvent) => {
    if (event.key === 'Escape') close()
    else if (event.key === 'j' || event.key === 'J') step(1)
    else if (event.key === 'k' || event.key === 'K') step(-1)
    else if (event.key === ' ' && isHeading(event.target) && cursorRow !== null)
      revealed.toggle(cursorRow.row)
    else return
    event.preventDefault()
  }
  useWindowKeys(pressAnywhere)
  const error = pages.error ?? facets.error ?? plan.error
  return (
    <Screen
      title="Results"
      subtitle={name}
      fixed
      actions={
        <>
          <Button variant="default" onClick={props.onRun}>
            Back to the run
          </Button>
          {retryable > 0 && (
            <Button variant="default" onClick={props.onRetry}>
              Retry {formatCounted(retryable, 'row')}…
            </Button>
          )}
          <PrimaryButton
            onPress={() => props.onExport(withSearch(chosen, typed))}
            icon={<IconDownload size="1rem" />}
          >
            Export
          </PrimaryButton>
        </>
      }
    >
      <div className={styles.layout} ref={place}>
        <div className={styles.side}>
          <SearchBox
            value={typed}
            onValue={(value) => {
              setTyped(value)
              setCursor(0)
            }}
          />
          <FacetList
            operation={operation}
            facets={facets.data?.facets ?? []}
            isCounted={facets.data?.isCounted ?? false}
            filter={chosen}
            onFilter={narrow}
          />
        </div>
        <div className={styles.list}>
          <ResultsBar
            count={pages.count}
            counted={pages.counted}
            narrowed={isNarrowed(filter)}
            onShowAllRows={() => {
              setTyped('')
              narrow({})
            }}
          />
          {error !== null && <ErrorNotice error={error} />}
          {pages.counted === 'exactly' && pages.count === 0 ? (
            <NoRows narrowed={isNarrowed(filter)} />
          ) : (
            <DataGrid
              label="Rows of the run"
              focused
              columns={columns}
              count={pages.count}
              rowAt={pages.rowAt}
              cursor={cursor}
              onCursor={setCursor}
              onOpen={(index) => {
                setCursor(index)
                setOpen(true)
              }}
              onKey={pressInGrid}
              onWindow={pages.want}
            />
          )}
        </div>
        {open && cursorRow !== null && (
          // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the table go on working in the drawer
          <div className={styles.drawerPlace} onKeyDown={pressInDrawer}>
            <RowDrawer
              row={cursorRow.row}
              place={cursorRow.place}
              operation={operation}
              isAsync={isAsync}
              detail={detail.data ?? null}
              apiKeyEnv={plan.data?.connection.apiKeyEnv ?? 'SLUICE_API_KEY'}
              isContent={isContent}
              revealed={revealed.isRevealed(cursorRow.row)}
              onReveal={() => revealed.toggle(cursorRow.row)}
              onStep={step}
              onClose={close}
            />
          </div>
        )}
      </div>
    </Screen>
  )
}

function isHeading(target: EventTarget): boolean {
  return target instanceof HTMLElement && target.closest('button, input, [tabindex="0"]') === null
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

/** Searches the cells of all rows; `/` leads into it. */
function SearchBox({ value, onValue }: { value: string; onValue: (value: string) => void }) {
  const input = useRef<HTMLInputElement>(null)
  useHotkey({ key: '/' }, () => input.current?.focus())
  return (
    <TextInput
      ref={input}
      aria-label="Search the cells"
      placeholder="Search  ( / )"
      leftSection={<IconSearch size="0.9rem" aria-hidden />}
      value={value}
      onChange={(event) => onValue(event.currentTarget.value)}
      rightSection={
        value === '' ? null : (
          <CloseButton size="xs" aria-label="Clear the search" onClick={() => onValue('')} />
        )
      }
    />
  )
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
