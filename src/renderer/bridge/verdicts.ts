import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import { create } from 'zustand'
import {
  describeVerdict,
  type GivenVerdict,
  isOfVerdict,
  type RowVerdict,
  type Verdict,
} from '../../shared/lookback/verdict.ts'
import type { ResultRow } from '../../shared/run/results.ts'
import { KEPT_ROWS_MAX, type RowFilter } from '../../shared/run/row-filters.ts'
import { createChangeQueue } from './change-queue.ts'
import { ask, bridge, queryClient } from './client.ts'

/** A row, with its number in the spreadsheet, by which people know it. */
type JudgedRow = Pick<ResultRow, 'row' | 'place'>

/** The change by one key or click. */
export interface VerdictChange {
  row: JudgedRow
  /** Including time and stratum, so that undo and redo restore exactly what was there. */
  before: readonly Verdict[]
  after: readonly Verdict[]
}

interface History {
  /** Oldest first. */
  done: readonly VerdictChange[]
  /** Undone changes that can be redone; the next one is last. */
  undone: readonly VerdictChange[]
  /** Why the last change was not stored. */
  error: unknown
  /**
   * Rows judged since lists filtered by verdict were read, each with its verdicts at that time. Rows that
   * were in such a list stay there until it is reloaded.
   */
  judgedSince: ReadonlyMap<number, readonly RowVerdict[]>
}

/** Changes that can be undone, newest last. */
const HISTORY_MAX = 500

const NO_ROWS: History['judgedSince'] = new Map()

const NO_HISTORY: History = { done: [], undone: [], error: null, judgedSince: NO_ROWS }

/** The changes made in this window, by run, so that no run undoes or reports those of another. Not stored. */
const useHistories = create<Readonly<Record<string, History>>>(() => ({}))

function readHistory(runId: string): History {
  return useHistories.getState()[runId] ?? NO_HISTORY
}

function setHistory(runId: string, part: Partial<History>): void {
  useHistories.setState({ [runId]: { ...readHistory(runId), ...part } })
}

/** Changes are stored one after another, in the order they were made. */
const changes = createChangeQueue()

const NONE: readonly Verdict[] = []

/** The verdicts on a run's rows, with functions to change, undo and redo. */
export interface Verdicts {
  /** Whether they are loaded; until then, rows cannot be judged. */
  isRead: boolean
  of: (row: number) => readonly Verdict[]
  /** Rows with a verdict. */
  judged: number
  /** Replaces all verdicts on a row. */
  set: (row: JudgedRow, verdicts: readonly RowVerdict[]) => void
  /** Undoes the last change and returns it; null if there is none. */
  undo: () => VerdictChange | null
  redo: () => VerdictChange | null
  canUndo: boolean
  canRedo: boolean
  last: VerdictChange | null
  /** Rows judged since lists filtered by verdict were read, with their verdicts at that time. */
  judgedSince: ReadonlyMap<number, readonly RowVerdict[]>
  /** Why verdicts cannot be read, or the last change was not stored. */
  error: unknown
  /** Forgets why the last change was not stored; undefined while they cannot be read. */
  dismiss: (() => void) | undefined
}

/** Reads and changes the verdicts on a run; none with `isOn` false. */
export function useVerdicts(runId: string, isOn = true): Verdicts {
  const list = useQuery({ ...askVerdicts(runId), enabled: isOn })
  const { done, undone, error, judgedSince } = useHistories((histories) => histories[runId] ?? NO_HISTORY)
  const byRow = useMemo(() => Map.groupBy(list.data ?? NONE, ({ row }) => row), [list.data])
  const of = useCallback((row: number) => byRow.get(row) ?? NONE, [byRow])
  const set = useCallback(
    ({ row, place }: JudgedRow, verdicts: readonly RowVerdict[]) => {
      const before = readOf(runId, row)
      if (before === undefined) return
      const said = verdicts.map(toRowVerdict)
      if (JSON.stringify(before.map(toRowVerdict)) === JSON.stringify(said)) return
      const after = toVerdicts(row, before, said)
      const change = { row: { row, place }, before, after }
      setHistory(runId, { done: [...readHistory(runId).done, change].slice(-HISTORY_MAX), undone: [] })
      store(runId, row, before, after, said)
    },
    [runId],
  )
  const undo = useCallback(() => moveChange(runId, 'done', 'undone'), [runId])
  const redo = useCallback(() => moveChange(runId, 'undone', 'done'), [runId])
  return {
    isRead: list.data !== undefined,
    of,
    judged: byRow.size,
    set,
    undo,
    redo,
    canUndo: done.length > 0,
    canRedo: undone.length > 0,
    last: done.at(-1) ?? null,
    judgedSince,
    error: list.error ?? error,
    dismiss: list.error === null ? () => setHistory(runId, { error: null }) : undefined,
  }
}

/** Undoes or redoes the newest change; null if there is none. */
function moveChange(runId: string, from: 'done' | 'undone', to: 'done' | 'undone'): VerdictChange | null {
  const known = readHistory(runId)
  const change = known[from].at(-1)
  if (change === undefined || readOf(runId, change.row.row) === undefined) return null
  setHistory(runId, { [from]: known[from].slice(0, -1), [to]: [...known[to], change] })
  const { before, after, row } = change
  store(runId, row.row, ...(to === 'done' ? ([before, after] as const) : ([after, before] as const)))
  return change
}

/** A change in words, such as `should trigger Spam` or `verdict removed`. */
export function describeChange({ before, after }: VerdictChange): string {
  if (after.length === 0) return 'verdict removed'
  const said = after.map(describeVerdict).join(', ')
  if (before.map(describeVerdict).join(', ') !== said) return said
  return after[0]?.note === null ? 'note removed' : 'note changed'
}

/** The verdicts on a run; never from before a change that is already shown. */
export function askVerdicts(runId: string) {
  const { queryKey } = ask.verdicts.list.queryOptions({ input: { runId } })
  return queryOptions({
    queryKey,
    queryFn: ({ signal }) => changes.read(() => bridge.verdicts.list({ runId }, { signal })),
    staleTime: Number.POSITIVE_INFINITY,
    // Another window may have judged rows meanwhile.
    refetchOnWindowFocus: 'always',
  })
}

function readOf(runId: string, row: number): readonly Verdict[] | undefined {
  return queryClient.getQueryData(askVerdicts(runId).queryKey)?.filter((verdict) => verdict.row === row)
}

/** Removes members that the engine adds. */
function toRowVerdict({ verdict, rule, note }: RowVerdict): RowVerdict {
  return { verdict, rule, note }
}

/** The verdicts that the engine will store: earlier ones keep their time, and the row keeps its stratum. */
function toVerdicts(row: number, before: readonly Verdict[], said: readonly RowVerdict[]): Verdict[] {
  const { stratum = null, stratum_rows = null } = before[0] ?? {}
  const added = { row, given_at: new Date().toISOString(), stratum, stratum_rows }
  return said.map((verdict) => before.find((one) => isSame(one, verdict)) ?? { ...verdict, ...added })
}

function isSame(one: RowVerdict, other: RowVerdict): boolean {
  return one.verdict === other.verdict && one.rule === other.rule && one.note === other.note
}

/** Resolves once all changes so far are stored or refused. */
export function whenStored(): Promise<void> {
  return changes.whenStored()
}

/** Reads shown verdicts again, after pending changes are stored. */
export function refreshVerdicts(): void {
  void queryClient.invalidateQueries({ queryKey: ask.verdicts.key() })
}

/** Marks queries whose rows are filtered by verdict. */
export const NARROWED_BY_VERDICT = { narrowedBy: 'verdict' }

/**
 * The rows that stay in a list filtered by this verdict, since they had it when the list was read; only the
 * newest if there are too many.
 */
export function listKeptRows(runId: string, verdict: NonNullable<RowFilter['verdict']>): number[] {
  const kept = [...readHistory(runId).judgedSince].filter(([, before]) => isOfVerdict(before, verdict))
  return kept.slice(-KEPT_ROWS_MAX).map(([row]) => row)
}

/** Stops keeping rows: lists read from now on contain only matching rows. */
export function forgetKeptRows(): void {
  for (const [runId, { judgedSince }] of Object.entries(useHistories.getState())) {
    if (judgedSince.size > 0) setHistory(runId, { judgedSince: NO_ROWS })
  }
}

/**
 * Reloads shown rows that are filtered by verdict, and drops the others. A verdict alone does not trigger
 * this: it would remove its row, and the next key would hit the row after it.
 */
export async function readNarrowedAgain(client: QueryClient): Promise<void> {
  forgetKeptRows()
  const predicate = ({ meta }: { meta: Record<string, unknown> | undefined }) =>
    meta?.['narrowedBy'] === NARROWED_BY_VERDICT.narrowedBy
  client.removeQueries({ predicate, type: 'inactive' })
  await client.invalidateQueries({ predicate })
}

/**
 * Shows the verdicts at once and stores them. They are reverted if that fails, for example if the row was
 * judged elsewhere and no longer has the verdicts of `before`.
 */
function store(
  runId: string,
  row: number,
  before: readonly Verdict[],
  after: readonly Verdict[],
  given: readonly GivenVerdict[] = after.map(({ row: _, ...verdict }) => verdict),
): void {
  const { judgedSince } = readHistory(runId)
  if (!judgedSince.has(row)) setHistory(runId, { judgedSince: new Map(judgedSince).set(row, before) })
  show(runId, row, after)
  void changes.add(async () => {
    try {
      const verdicts = [...given]
      const stored = await bridge.verdicts.set({ runId, row, before: before.map(toRowVerdict), verdicts })
      // A later change may concern the same row.
      if (changes.isLast()) show(runId, row, stored.after)
      noteStored(runId, [...before, ...after], [...stored.before, ...stored.after])
      setHistory(runId, { error: null })
    } catch (error) {
      setHistory(runId, { ...NO_HISTORY, error })
      void queryClient.refetchQueries({ queryKey: askVerdicts(runId).queryKey })
    }
    await queryClient.invalidateQueries({ queryKey: ask.results.facets.key() })
  })
}

/** Replaces verdicts in the history by their stored form. */
function noteStored(runId: string, shown: readonly Verdict[], stored: readonly Verdict[]): void {
  changeHistory(runId, (verdict) => {
    const isShown = shown.some((one) => one.given_at === verdict.given_at && isSame(one, verdict))
    return (isShown && stored.find((one) => one.row === verdict.row && isSame(one, verdict))) || verdict
  })
}

/** Removes strata from the history, so that undo and redo do not restore them: another sample was drawn. */
export function forgetStrata(runId: string): void {
  changeHistory(runId, (verdict) => ({ ...verdict, stratum: null, stratum_rows: null }))
}

function changeHistory(runId: string, change: (verdict: Verdict) => Verdict): void {
  const toChanged = (changes: readonly VerdictChange[]) =>
    changes.map(({ row, before, after }) => ({ row, before: before.map(change), after: after.map(change) }))
  const { done, undone } = readHistory(runId)
  setHistory(runId, { done: toChanged(done), undone: toChanged(undone) })
}

function show(runId: string, row: number, verdicts: readonly Verdict[]): void {
  queryClient.setQueryData(askVerdicts(runId).queryKey, (known) =>
    known === undefined ? undefined : [...known.filter((verdict) => verdict.row !== row), ...verdicts],
  )
}
