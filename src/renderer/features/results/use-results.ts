import { useDebouncedValue } from '@mantine/hooks'
import {
  keepPreviousData,
  skipToken,
  type UseQueryResult,
  useMutation,
  useQueries,
  useQuery,
} from '@tanstack/react-query'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
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
  useOnHideAll,
} from '../../ui/content/user-content.tsx'
import { useListCursor } from './list-cursor.ts'
import { listTableColumns, listTextColumns, orderColumns, toUsualColumns } from './result-columns.tsx'
import { COUNT_AGAIN_MS, REFRESH_MS, useResultPages } from './result-pages.ts'
import type { ScoreScale } from './score-bars.tsx'

const SEARCH_QUIET_MS = 250

/** What the pieces of the results screen share: the rows as they are narrowed, the cursor, and the row that is open. */
export type Results = ReturnType<typeof useResults>

/** The results of a run, narrowed by `first` to begin with. */
export function useResults(runId: string, first: RowFilter) {
  const run = useRun(runId)
  const [chosen, setChosen] = useState(first)
  const [typed, setTyped] = useState(first.search ?? '')
  const [settled] = useDebouncedValue(typed, SEARCH_QUIET_MS)
  // Every row is shown at once when the search is cleared.
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
      refetchInterval: ({ state }) =>
        state.data?.isCounted === false ? COUNT_AGAIN_MS : run.isLive ? REFRESH_MS : false,
    }),
  )
  // What takes long to count is counted a little with each answer; rarely while the run needs the machine.
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
  // A row that has left the list, or moved out of the pages in view, is read by its details alone.
  const isAway = cursor.kind !== 'on'
  const refreshMs = isAway && run.isLive ? REFRESH_MS : false
  const detail = useQuery(
    ask.results.row.queryOptions({
      input: opened === null ? skipToken : { runId, row: opened.row },
      // Read again as soon as the table shows that it changed.
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
      /** Narrows to a filter as it was saved, its search too. */
      apply({ search: text = '', ...rest }: RowFilter) {
        setChosen(rest)
        setTyped(text)
      },
      search: setTyped,
      /** Shows a row's details: of the row that is drawn at the index. */
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
    /** Names of the source's columns; none until they are read. */
    names,
    /** Whether the columns of the table are known, so that rows need not be drawn twice. */
    isDescribed,
    isContent,
    facets: facets.data ?? null,
    /** Facets of what is found in answers. */
    found: found.data ?? null,
    /** The columns of the table, and the saved filters. */
    table,
    list,
    error: list.error ?? facets.error ?? found.error ?? descriptionError,
    /** Null for the order of the source. */
    sort,
    /** What the rows are narrowed by, the search apart. */
    chosen,
    typed,
    /** What the table shows: `chosen`, and the search once nobody types any more. */
    filter,
    /** Reads the rows anew, without those of `left`, which no longer match. */
    narrowAgain(left: readonly number[]) {
      moves.leave(left)
      void readNarrowedAgain(queryClient)
    },
    cursor,
    setCursor,
    /** Another object whenever the row under the cursor is to be brought into view: for another list, and when asked to. */
    shown: useMemo(() => ({ order, shown }), [order, shown]),
    showCursor: () => show({}),
    /** Moves the cursor by one row, within the table. */
    step: (by: 1 | -1) => moves.step(by, Math.max(0, list.count - 1)),
    /** The row that keys act on: the open one, or else that under the cursor; null while neither is known. */
    row: isOpen || cursor.kind === 'on' ? cursor.row : null,
    /** Whether the details of a row are shown. */
    isOpen,
    setOpen,
    /** The row whose details are shown; while the next one is read, that before it. */
    opened,
    /** All of the opened row; never what is still kept of the one before. */
    detail: detail.data?.result.row === opened?.row ? (detail.data ?? null) : null,
    /** Why it cannot be read. */
    detailError: detail.error,
    revealed,
  }
}

/** What the columns of a run's rows are made of. Whoever waits for it waits for all of it, and is drawn anew once. */
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
  // What cannot be read is not waited for.
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

/** What the screen says of the run as a whole. */
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
    /** Rows that a retry would send. */
    retryable,
    /** Rows that can be corrected and sent: those, and what was never sent. */
    correctable: ended === null ? 0 : retryable + countRows(ended, 'unsent'),
    name: summary?.name,
    operation: OPERATION_KINDS.find((kind) => kind === summary?.operation) ?? 'task',
    isAsync: summary?.mode === 'async',
    rows: summary?.rows.read ?? 0,
  }
}

/** Nothing is revealed until the person does it, row by row or all at once, and nothing of it is remembered. */
function useRevealed() {
  const all = useContentShown()
  const [rows, setRows] = useState<ReadonlySet<number>>(new Set())
  // biome-ignore lint/correctness/useExhaustiveDependencies: the switch applies to every row anew
  useEffect(() => setRows(new Set()), [all])
  useOnHideAll(() => setRows(new Set()))
  // While all is shown, the set holds the rows that are hidden again.
  const isRevealed = useCallback((row: number) => rows.has(row) !== all, [rows, all])
  const toggle = useCallback((row: number) => {
    setRows((old) => {
      const next = new Set(old)
      if (!next.delete(row)) next.add(row)
      return next
    })
  }, [])
  return useMemo(() => ({ isRevealed, toggle }), [isRevealed, toggle])
}

/** The row that is opened; until another one is read, the one before. Null if none is open, or `isEmpty`. */
function useOpenedRow(isOpen: boolean, row: PageRow | null, isEmpty: boolean): PageRow | null {
  const opened = useRef<PageRow | null>(null)
  if (!isOpen || row !== null || isEmpty) opened.current = isOpen ? row : null
  return opened.current
}

/** The columns that a run's rows can have, those that are shown, and the scale of the scores that are drawn. */
function useShownColumns(options: {
  run: { operation: OperationKind; isAsync: boolean }
  names: readonly string[]
  /** The columns to choose from, as the run has them. */
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
    /** Names of the columns whose texts the pages are asked for. */
    texts,
    scale,
  }
}

/** The classes that rows have scores of, and the end of their scale: guessed until the bands are counted. */
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

/** The end of a scale whose last band begins there: a whole number is a band of its own. */
function toEnd(from: number): number {
  return Number.isInteger(from) && from < 10 ? from : toScoreScale(from)
}

/** The same list as long as it holds the same texts. */
function useStable(list: string[]): string[] {
  const key = JSON.stringify(list)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says all of it
  return useMemo(() => list, [key])
}

/** The chosen columns and saved filters of an operation, which all of its runs share, and how they are changed. */
export function useResultView(operation: OperationKind) {
  const query = useQuery(ask.views.read.queryOptions({ input: { operation } }))
  const {
    error,
    mutate,
    mutateAsync: store,
  } = useMutation({
    mutationFn: async (make: () => Promise<ResultView>) =>
      queryClient.setQueryData(toKey(operation), await make()),
    onError: () => queryClient.invalidateQueries({ queryKey: toKey(operation) }),
  })
  const changes = useMemo(
    () => ({
      /** Shows the columns at once; null brings the usual ones back. */
      setColumns(columns: ShownColumn[] | null) {
        queryClient.setQueryData(toKey(operation), (view: ResultView = USUAL_VIEW) => ({ ...view, columns }))
        mutate(() => bridge.views.setColumns({ operation, columns }))
      },
      saveFilter: (name: string, filter: RowFilter, at?: number) =>
        store(() => bridge.views.saveFilter({ operation, name, filter, ...(at !== undefined && { at }) })),
      renameFilter: (name: string, newName: string) =>
        store(() => bridge.views.renameFilter({ operation, name, newName })),
      removeFilter: (name: string) => store(() => bridge.views.removeFilter({ operation, name })),
    }),
    [operation, mutate, store],
  )
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

/** The filter with a facet switched on or off; one that is on makes way for another of its group, unless several can be. */
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

/** The filter with a search; an empty one does not narrow. */
export function withSearch(filter: RowFilter, search: string): RowFilter {
  const { search: _dropped, ...rest } = filter
  return search === '' ? rest : { ...rest, search }
}
