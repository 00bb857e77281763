import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, skipToken, type UseQueryResult, useQueries, useQuery } from '@tanstack/react-query'
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { PageRow } from '../../../shared/bridge/results.ts'
import { toWholeMapping } from '../../../shared/mapping/match-columns.ts'
import { OPERATION_KINDS, type OperationKind } from '../../../shared/operations/operations.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import type { ColumnEntry } from '../../../shared/run/choose-columns.ts'
import { countRows } from '../../../shared/run/item-state.ts'
import { type ResultView, type ShownColumn, USUAL_VIEW } from '../../../shared/run/result-view.ts'
import type { RowSort } from '../../../shared/run/results.ts'
import {
  type FacetId,
  type FacetList,
  findFilterOf,
  listChosen,
  parseBand,
  type RowFilter,
  withoutGroup,
} from '../../../shared/run/row-filters.ts'
import { toScoreScale } from '../../../shared/run/score-bands.ts'
import { createChangeQueue, storeShown, useChange } from '../../bridge/change-queue.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'
import { useLiveRuns } from '../../bridge/live-runs.ts'
import { KEPT_AHEAD_MS } from '../../bridge/read-ahead.ts'
import {
  forgetKeptRows,
  NARROWED_BY_VERDICT,
  readNarrowedAgain,
  useVerdicts,
  whenStored,
} from '../../bridge/verdicts.ts'
import {
  createContentRule,
  findContent,
  useContentShown,
  useExceptions,
} from '../../ui/content/user-content.tsx'
import { useListCursor } from './list-cursor.ts'
import { listTableColumns, listTextColumns, orderColumns, toUsualColumns } from './result-columns.tsx'
import { COUNT_AGAIN_MS, REFRESH_MS, useResultPages } from './result-pages.ts'
import type { ScoreScale } from './score-bars.tsx'

const SEARCH_QUIET_MS = 250

/** Shared state of the results screen: the filtered rows, the cursor, and the open row. */
export type Results = ReturnType<typeof useResults>

/** The results of a run, initially filtered by `first`. */
export function useResults(runId: string, first: RowFilter) {
  const run = useRun(runId)
  const [chosen, setChosen] = useState(first)
  const [typed, setTyped] = useState(first.search ?? '')
  const [settled] = useDebouncedValue(typed, SEARCH_QUIET_MS)
  // Clearing the search shows every row at once.
  const search = typed === '' ? '' : settled
  const filter = useMemo(() => withSearch(chosen, search), [chosen, search])
  const [isOpen, setOpen] = useState(false)
  const revealed = useRevealed()

  const { plan, names, entries, isRead: isDescribed, error: descriptionError } = useDescription(runId)
  const facets = useQuery(
    ask.results.facets.queryOptions({
      input: { runId, filter },
      staleTime: KEPT_AHEAD_MS,
      placeholderData: keepPreviousData,
      // Its counts by verdict belong to the verdicts, which are read again then.
      refetchOnWindowFocus: 'always',
      refetchInterval: ({ state }) =>
        state.data?.isCounted === false ? COUNT_AGAIN_MS : run.isLive ? REFRESH_MS : false,
    }),
  )
  // Slow counts progress a little with each answer; rarely while the run needs the machine.
  const found = useQuery(
    ask.results.foundFacets.queryOptions({
      input: { runId, filter },
      ...(filter.verdict !== undefined && {
        meta: NARROWED_BY_VERDICT,
        queryFn: async ({ signal }) => {
          await whenStored()
          return bridge.results.foundFacets({ runId, filter }, { signal })
        },
      }),
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) =>
        run.isLive ? REFRESH_MS : state.data?.isCounted === false ? COUNT_AGAIN_MS : false,
    }),
  )
  const hasVerdicts = useVerdicts(runId, run.operation === 'task').judged > 0
  const table = useShownColumns({ run, names, entries, plan, found: found.data, hasVerdicts })
  const [sort, setSort] = useState<RowSort | null>(null)
  // Before its table asks for rows, another filter or order begins a list that keeps none.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useLayoutEffect(forgetKeptRows, [filter, sort])
  const list = useResultPages(runId, { filter, sort, columns: table.texts }, run.isLive)
  const order = useMemo(() => ({ filter, sort }), [filter, sort])
  const [shown, show] = useState({})
  const { cursor, putOn, setCursor, ...moves } = useListCursor(list.pages, order, list.findOffset)
  const opened = useOpenedRow(isOpen, cursor.row, list.counted === 'exactly' && list.count === 0)
  // A row that left the list, or the pages in view, is only read through its details.
  const isAway = cursor.kind !== 'on'
  const refreshMs = isAway && run.isLive ? REFRESH_MS : false
  const detail = useQuery(
    ask.results.row.queryOptions({
      input: opened === null ? skipToken : { runId, row: opened.row },
      // Read again as soon as the table shows a change.
      queryKey: ['row', runId, opened?.row, opened?.state, opened?.attempts, isAway, refreshMs],
      placeholderData: keepPreviousData,
      refetchInterval: refreshMs,
    }),
  )
  const isContent = useMemo(
    () => createContentRule(names, plan === null ? {} : toWholeMapping(plan, names)),
    [names, plan],
  )
  const changes = useMemo(
    () => ({
      sortBy: setSort,
      narrow: ({ search: _typed, ...rest }: RowFilter) => setChosen(rest),
      /** Applies a saved filter, including its search. */
      apply({ search: text = '', ...rest }: RowFilter) {
        setChosen(rest)
        setTyped(text)
      },
      search: setTyped,
      /** Shows the details of the row drawn at the index. */
      open(index: number, row: PageRow | null) {
        putOn(index, row)
        setOpen(true)
      },
    }),
    [putOn],
  )
  return {
    ...changes,
    runId,
    run,
    plan,
    /** Names of the source columns; empty until loaded. */
    names,
    /** Whether the table's columns are known, so that rows are not drawn twice. */
    isDescribed,
    isContent,
    facets: facets.data ?? null,
    /** Facets from answers. */
    found: found.data ?? null,
    /** The table's columns and the saved filters. */
    table,
    list,
    error: list.error ?? facets.error ?? found.error ?? descriptionError,
    /** Null for the order of the source. */
    sort,
    /** The filter without the search. */
    chosen,
    typed,
    /** The table's filter: `chosen`, and the search after a pause in typing. */
    filter,
    /** Reloads the rows; those in `left` no longer match. */
    narrowAgain(left: readonly number[]) {
      moves.leave(left)
      void readNarrowedAgain(queryClient)
    },
    cursor,
    setCursor,
    /** A new object whenever the row under the cursor must come into view: for a new list, or on request. */
    shown: useMemo(() => ({ order, shown }), [order, shown]),
    showCursor: () => show({}),
    /** Moves the cursor by one row, within the table. */
    step: (by: 1 | -1) => moves.step(by, Math.max(0, list.count - 1)),
    /** The row that keys act on: the open row, else the one under the cursor; null while neither is known. */
    row: isOpen || cursor.kind === 'on' ? cursor.row : null,
    /** Whether the details of a row are shown. */
    isOpen,
    setOpen,
    /** The row whose details are shown; while the next one loads, the previous one. */
    opened,
    /** The details of the opened row; never those still cached for the previous one. */
    detail: detail.data?.result.row === opened?.row ? (detail.data ?? null) : null,
    /** Why it cannot be read. */
    detailError: detail.error,
    revealed,
  }
}

/** What a run's columns depend on. All parts are awaited together, so that the screen is drawn anew once. */
function useDescription(runId: string) {
  return useQueries({
    queries: [
      ask.runs.readPlan.queryOptions({ input: { runId }, staleTime: KEPT_AHEAD_MS }),
      ask.results.columns.queryOptions({ input: { runId }, staleTime: KEPT_AHEAD_MS }),
      ask.results.listColumns.queryOptions({ input: { runId }, staleTime: KEPT_AHEAD_MS }),
    ],
    combine: toDescription,
  })
}

type Read<Data> = Pick<UseQueryResult<Data>, 'data' | 'error' | 'isPending'>

function toDescription([plan, names, entries]: [Read<Plan>, Read<string[]>, Read<ColumnEntry[]>]) {
  const error = plan.error ?? names.error ?? entries.error
  // Parts that cannot be read are not awaited.
  if (plan.isPending || names.isPending || entries.isPending) {
    return { plan: null, names: NONE, entries: NONE, isRead: false, error }
  }
  return {
    plan: plan.data ?? null,
    names: names.data ?? NONE,
    entries: entries.data ?? NONE,
    isRead: true,
    error,
  }
}

const NONE: [] = []

/** Facts about the whole run for the screen. */
function useRun(runId: string) {
  const isLive = useLiveRuns((known) => known.snapshots[runId]?.phase !== 'ended')
  const ended = useLiveRuns((known) => {
    const picture = known.snapshots[runId]
    const summary = known.summaries[runId]
    if (picture?.phase !== 'ended' || summary?.state === 'running') return null
    return summary?.whole_run?.rows ?? picture.rows
  })
  const retryable = ended === null ? 0 : countRows(ended, 'unsuccessful')
  const summary = useLiveRuns((known) => known.summaries[runId])
  return {
    isLive,
    isEnded: ended !== null,
    /** Rows that did not succeed. */
    retryable,
    /** Rows that can be corrected and sent: these, and rows that were never sent. */
    correctable: ended === null ? 0 : retryable + countRows(ended, 'unsent'),
    name: summary?.name,
    operation: OPERATION_KINDS.find((kind) => kind === summary?.operation) ?? 'task',
    isAsync: summary?.mode === 'async',
    rows: summary?.rows.read ?? 0,
  }
}

const NO_ROWS: ReadonlySet<number> = new Set()

/** Nothing is revealed until the person does so, row by row or for all rows, and nothing of it is stored. */
function useRevealed() {
  const all = useContentShown()
  const [rows, changeRows] = useExceptions(NO_ROWS)
  // While all rows are shown, the set has the rows that were hidden again.
  const isRevealed = useCallback((row: number) => rows.has(row) !== all, [rows, all])
  const toggle = useCallback(
    (row: number) =>
      changeRows((old) => {
        const next = new Set(old)
        if (!next.delete(row)) next.add(row)
        return next
      }),
    [changeRows],
  )
  return useMemo(() => ({ isRevealed, toggle }), [isRevealed, toggle])
}

/** The opened row; until another one is loaded, the previous one. Null if none is open, or `isEmpty`. */
function useOpenedRow(isOpen: boolean, row: PageRow | null, isEmpty: boolean): PageRow | null {
  const opened = useRef<PageRow | null>(null)
  if (!isOpen || row !== null || isEmpty) opened.current = isOpen ? row : null
  return opened.current
}

/** The available columns of a run's rows, the shown ones, and the scale of drawn scores. */
function useShownColumns(options: {
  run: { operation: OperationKind; isAsync: boolean }
  names: readonly string[]
  /** The available columns of the run. */
  entries: readonly ColumnEntry[]
  plan: Plan | null
  found: FacetList | undefined
  /** Whether anybody has judged a row. */
  hasVerdicts: boolean
}) {
  const { run, names, plan, found, hasVerdicts } = options
  const { operation, isAsync } = run
  const views = useResultView(operation)
  const scale = useScale(options.entries, found)
  const entries = useMemo(
    () => listTableColumns({ entries: options.entries, names, classes: scale.classes, hasVerdicts }),
    [options.entries, names, scale, hasVerdicts],
  )
  const chosen = views.view?.columns ?? null
  const hasScores = scale.classes.length > 0
  const hasFiles = entries.some(({ name }) => name === 'sluice_file')
  const shown = useMemo(
    () =>
      chosen ??
      toUsualColumns({
        operation,
        isAsync,
        names,
        hasScores,
        hasVerdicts,
        hasFiles,
        order: orderColumns(names.length, findContent(plan, names)),
      }),
    [chosen, operation, isAsync, names, plan, hasScores, hasVerdicts, hasFiles],
  )
  const texts = useStable(useMemo(() => listTextColumns(shown, entries), [shown, entries]))
  return {
    views,
    entries,
    shown,
    /** Names of the columns whose texts pages must include. */
    texts,
    scale,
  }
}

/** The classes with scores, and the end of their scale, which is guessed until the bands are counted. */
function useScale(
  columns: readonly { name: string; title: string; group: string }[],
  found: FacetList | undefined,
): ScoreScale {
  const bands =
    found?.facets.filter(({ kind }) => kind === 'score').map(({ value }) => parseBand(value)) ?? []
  const listed = columns.filter(({ group }) => group === 'scores').map(({ title }) => title)
  const classes = [...new Set([...listed, ...bands.map(({ className }) => className)])].sort()
  const end = Math.max(1, ...bands.map(({ from, below }) => (below === null ? toEnd(from) : below)))
  const key = JSON.stringify([classes, end])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says all of them
  return useMemo(() => ({ classes, end }), [key])
}

/** The end of a scale whose last band begins at `from`: a whole number is a band of its own. */
function toEnd(from: number): number {
  return Number.isInteger(from) && from < 10 ? from : toScoreScale(from)
}

/** The same list object as long as its texts are equal. */
function useStable(list: string[]): string[] {
  const key = JSON.stringify(list)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says all of it
  return useMemo(() => list, [key])
}

/** Changes of columns and saved filters are stored in the order they were made. */
const viewChanges = createChangeQueue()

/** The columns and saved filters of an operation, shared by all of its runs, and functions to change them. */
export function useResultView(operation: OperationKind) {
  const query = useQuery({
    ...ask.views.read.queryOptions({ input: { operation } }),
    queryFn: ({ signal }) => viewChanges.read(() => bridge.views.read({ operation }, { signal })),
  })
  const { error, mutate, mutateAsync: store } = useChange((stored: Promise<void>) => stored)
  const changes = useMemo(() => {
    const change = (
      make: () => Promise<ResultView>,
      show: (view?: ResultView) => ResultView | undefined = (view) => view,
    ) => storeShown({ changes: viewChanges, queryKey: toKey(operation), show, store: make })
    return {
      /** Changes the columns at once; null restores the default columns. */
      setColumns(columns: ShownColumn[] | null) {
        const make = () => bridge.views.setColumns({ operation, columns })
        mutate(change(make, (view = USUAL_VIEW) => ({ ...view, columns })))
      },
      saveFilter: (name: string, filter: RowFilter, at?: number) =>
        store(
          change(() => bridge.views.saveFilter({ operation, name, filter, ...(at !== undefined && { at }) })),
        ),
      renameFilter: (name: string, newName: string) =>
        store(change(() => bridge.views.renameFilter({ operation, name, newName }))),
      removeFilter: (name: string) => store(change(() => bridge.views.removeFilter({ operation, name }))),
    }
  }, [operation, mutate, store])
  const failure = error ?? query.error
  return useMemo(
    () => ({
      view: query.data ?? null,
      error: failure,
      ...changes,
    }),
    [query.data, failure, changes],
  )
}

function toKey(operation: OperationKind) {
  return ask.views.read.queryKey({ input: { operation } })
}

export function isFacetChosen(filter: RowFilter, { kind, value }: FacetId): boolean {
  return listChosen(filter).some((chosen) => chosen.kind === kind && chosen.value === value)
}

/** The filter with a facet switched on or off; another of its group goes off, unless several may be on. */
export function toggleFacet(filter: RowFilter, facet: FacetId): RowFilter {
  const { name, schema, several = false } = findFilterOf(facet.kind)
  const rest = withoutGroup(filter, facet.kind)
  const known = several ? listChosen(filter).filter(({ kind }) => kind === facet.kind) : []
  const others = known.filter(({ value }) => value !== facet.value)
  const chosen = isFacetChosen(filter, facet) ? others : [...known, facet]
  if (chosen.length === 0) return rest
  const values = chosen.map(({ kind, value }) => (kind === 'score' ? parseBand(value) : value))
  const parsed = schema.safeParse(several ? values : values[0])
  return parsed.success ? { ...rest, [name]: parsed.data } : filter
}

/** The filter with `unsuccessful` switched on or off; it replaces a single state. */
export function toggleUnsuccessful(filter: RowFilter): RowFilter {
  const rest = withoutGroup(filter, 'state')
  return filter.unsuccessful ? rest : { ...rest, unsuccessful: true }
}

/** The filter with a search; an empty search matches all rows. */
export function withSearch(filter: RowFilter, search: string): RowFilter {
  const { search: _dropped, ...rest } = filter
  return search === '' ? rest : { ...rest, search }
}
