import { type QueryClient, useQuery } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import { create } from 'zustand'
import { describeVerdict, type RowVerdict, type Verdict } from '../../shared/lookback/verdict.ts'
import type { ResultRow } from '../../shared/run/results.ts'
import { ask, bridge, queryClient } from './client.ts'

/** A row and its number in the spreadsheet, by which persons know it. */
type JudgedRow = Pick<ResultRow, 'row' | 'place'>

/** What one key or click changed. */
export interface VerdictChange {
  row: JudgedRow
  before: readonly RowVerdict[]
  after: readonly RowVerdict[]
}

interface History {
  runId: string | null
  /** Oldest first. */
  done: readonly VerdictChange[]
  /** What was undone and can be done again; the next one last. */
  undone: readonly VerdictChange[]
  /** Why the last change was not stored. */
  error: unknown
}

/** Changes that can be undone, newest last. */
const HISTORY_MAX = 500

const NO_HISTORY = { done: [], undone: [], error: null }

/** The changes made in this window, of the run that was judged last; nothing of it is remembered. */
const useHistory = create<History>(() => ({ runId: null, ...NO_HISTORY }))

/** Changes are stored one after the other, in the order they were made. */
let stored: Promise<void> = Promise.resolve()

const NONE: readonly Verdict[] = []

/** What is said of the rows of a run, and what changes it, with undo and redo. */
export interface Verdicts {
  /** Whether they are read; until then nothing can be said of a row. */
  isRead: boolean
  /** What is said of a row. */
  of: (row: number) => readonly Verdict[]
  /** Rows with a verdict. */
  judged: number
  /** Puts verdicts in the place of all that was said of a row. */
  set: (row: JudgedRow, verdicts: readonly RowVerdict[]) => void
  /** Takes the last change back, and returns it; null where there is none. */
  undo: () => VerdictChange | null
  redo: () => VerdictChange | null
  canUndo: boolean
  canRedo: boolean
  /** The last change that stands. */
  last: VerdictChange | null
  /** Why verdicts cannot be read, or the last one was not stored. */
  error: unknown
}

/** Reads and changes the verdicts on a run; with `isOn` false, there are none. */
export function useVerdicts(runId: string, isOn = true): Verdicts {
  const list = useQuery({ ...toList(runId), enabled: isOn })
  const history = useHistory()
  const { done, undone, error } = history.runId === runId ? history : NO_HISTORY
  const byRow = useMemo(() => Map.groupBy(list.data ?? NONE, ({ row }) => row), [list.data])
  const of = useCallback((row: number) => byRow.get(row) ?? NONE, [byRow])
  const set = useCallback(
    ({ row, place }: JudgedRow, verdicts: readonly RowVerdict[]) => {
      const before = readOf(runId, row)?.map(toRowVerdict)
      if (before === undefined) return
      const after = verdicts.map(toRowVerdict)
      if (JSON.stringify(before) === JSON.stringify(after)) return
      const known = useHistory.getState()
      const earlier = known.runId === runId ? known.done : []
      const change = { row: { row, place }, before, after }
      useHistory.setState({ runId, done: [...earlier, change].slice(-HISTORY_MAX), undone: [] })
      store(runId, row, before, after)
    },
    [runId],
  )
  const undo = useCallback(() => {
    const known = useHistory.getState()
    const change = known.runId === runId ? known.done.at(-1) : undefined
    if (change === undefined || readOf(runId, change.row.row) === undefined) return null
    useHistory.setState({ done: known.done.slice(0, -1), undone: [...known.undone, change] })
    store(runId, change.row.row, change.after, change.before)
    return change
  }, [runId])
  const redo = useCallback(() => {
    const known = useHistory.getState()
    const change = known.runId === runId ? known.undone.at(-1) : undefined
    if (change === undefined || readOf(runId, change.row.row) === undefined) return null
    useHistory.setState({ done: [...known.done, change], undone: known.undone.slice(0, -1) })
    store(runId, change.row.row, change.before, change.after)
    return change
  }, [runId])
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
    error: list.error ?? error,
  }
}

/** A change in words, such as `should trigger Spam` or `verdict removed`. */
export function describeChange({ before, after }: VerdictChange): string {
  if (after.length === 0) return 'verdict removed'
  const said = after.map(describeVerdict).join(', ')
  if (before.map(describeVerdict).join(', ') !== said) return said
  return after[0]?.note === null ? 'note removed' : 'note changed'
}

function toList(runId: string) {
  return ask.verdicts.list.queryOptions({ input: { runId }, staleTime: Number.POSITIVE_INFINITY })
}

/** Undefined until the verdicts are read. */
function readOf(runId: string, row: number): readonly Verdict[] | undefined {
  return queryClient.getQueryData(toList(runId).queryKey)?.filter((verdict) => verdict.row === row)
}

/** Without what the engine adds. */
function toRowVerdict({ verdict, rule, note }: RowVerdict): RowVerdict {
  return { verdict, rule, note }
}

/** Reads verdicts that are shown again, after those that are being stored. */
export function refreshVerdicts(): void {
  stored = stored.then(() => queryClient.invalidateQueries({ queryKey: ask.verdicts.key() }))
}

/** Marks queries whose rows are narrowed by their verdicts. */
export const NARROWED_BY_VERDICT = { narrowedBy: 'verdict' }

/**
 * Reads rows that are narrowed by verdicts again, where they are shown, and forgets the others: a verdict may take a row
 * out, and then every row after it has another place.
 */
export async function readNarrowedAgain(client: QueryClient): Promise<void> {
  const predicate = ({ meta }: { meta: Record<string, unknown> | undefined }) =>
    meta?.['narrowedBy'] === NARROWED_BY_VERDICT.narrowedBy
  client.removeQueries({ predicate, type: 'inactive' })
  await client.invalidateQueries({ predicate })
}

/** Stores that are waiting, the one under way among them. */
let waiting = 0

/**
 * Shows the verdicts at once and has them stored. What cannot be stored is taken back, as where the row was judged
 * elsewhere: it no longer has the verdicts of `before`.
 */
function store(
  runId: string,
  row: number,
  before: readonly RowVerdict[],
  verdicts: readonly RowVerdict[],
): void {
  const given_at = new Date().toISOString()
  show(
    runId,
    row,
    verdicts.map((verdict) => ({ ...verdict, row, given_at, stratum: null, stratum_rows: null })),
  )
  waiting += 1
  stored = stored.then(async () => {
    try {
      const said = await bridge.verdicts.set({ runId, row, before: [...before], verdicts: [...verdicts] })
      // A later change may be of the same row.
      if (waiting === 1) show(runId, row, said)
      useHistory.setState({ error: null })
    } catch (error) {
      useHistory.setState({ runId, ...NO_HISTORY, error })
      await queryClient.refetchQueries({ queryKey: toList(runId).queryKey })
    }
    waiting -= 1
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: ask.results.facets.key() }),
      readNarrowedAgain(queryClient),
    ])
  })
}

function show(runId: string, row: number, verdicts: readonly Verdict[]): void {
  queryClient.setQueryData(toList(runId).queryKey, (known) =>
    known === undefined ? undefined : [...known.filter((verdict) => verdict.row !== row), ...verdicts],
  )
}
