import { create } from 'zustand'
import { RUNS_SHOWN } from '../../../shared/bridge/runs.ts'
import type { RunListQuery } from '../../../shared/lookback/run-list.ts'
import type { RunState } from '../../../shared/run/run.ts'
import type { Activity } from '../../ui/operations/operation-looks.tsx'

/** How far back runs are listed; `dates` from one day to another. */
export const PERIODS = ['any', 'today', 'week', 'month', 'quarter', 'dates'] as const

/** One of {@link PERIODS}. */
export type Period = (typeof PERIODS)[number]

/** Days of a period, today among them. */
const DAYS: Partial<Record<Period, number>> = { today: 1, week: 7, month: 30, quarter: 90 }

/** Which runs are listed, as a person chose them; empty texts and null choose all. */
export interface RunFilter {
  search: string
  state: RunState | null
  activity: Activity | null
  /** Only runs in which something went wrong. */
  failed: boolean
  connection: string | null
  /** Runs have to have all of them. */
  tags: readonly string[]
  period: Period
  /** Days such as `2026-11-21`, in the person's time, where the period is `dates`. */
  from: string
  until: string
}

/** All runs. */
export const NO_FILTER: RunFilter = {
  search: '',
  state: null,
  activity: null,
  failed: false,
  connection: null,
  tags: [],
  period: 'any',
  from: '',
  until: '',
}

/** The list as it was left, so that it is the same after a look at a run. */
export const useRunList = create<{
  filter: RunFilter
  order: NonNullable<RunListQuery['order']>
  /** Runs before the page. */
  offset: number
}>(() => ({ filter: NO_FILTER, order: 'newest', offset: 0 }))

/** Chooses other runs, and shows their first page. */
export function changeFilter(change: Partial<RunFilter>): void {
  useRunList.setState(({ filter }) => ({ filter: { ...filter, ...change }, offset: 0 }))
}

/** Whether a filter leaves any run out. */
export function isFiltering(filter: RunFilter): boolean {
  return Object.keys(toConditions(filter, 0)).length > 0
}

/** What the engine is asked for. `nowMs` only says which day it is. */
export function toRunQuery(
  { filter, order, offset }: { filter: RunFilter; order: NonNullable<RunListQuery['order']>; offset: number },
  nowMs: number,
): RunListQuery {
  return { ...toConditions(filter, nowMs), order, offset, limit: RUNS_SHOWN }
}

function toConditions(filter: RunFilter, nowMs: number): RunListQuery {
  const { search, state, activity, failed, connection, tags, period } = filter
  const words = search.trim()
  return {
    ...(words !== '' && { search: words }),
    ...(state !== null && { states: [state] }),
    ...(activity === 'load' && { product: 'load' as const }),
    ...(activity !== null && activity !== 'load' && { product: 'run' as const, operations: [activity] }),
    ...(failed && { failed }),
    ...(connection !== null && { connection }),
    ...(tags.length > 0 && { tags: [...tags] }),
    ...(period === 'dates' ? toDays(filter) : toPeriod(period, nowMs)),
  }
}

function toPeriod(period: Period, nowMs: number): Pick<RunListQuery, 'fromMs'> {
  const days = DAYS[period]
  if (days === undefined) return {}
  const now = new Date(nowMs)
  return { fromMs: new Date(now.getFullYear(), now.getMonth(), now.getDate() - days + 1).getTime() }
}

function toDays({
  from,
  until,
}: Pick<RunFilter, 'from' | 'until'>): Pick<RunListQuery, 'fromMs' | 'beforeMs'> {
  const first = toDay(from, 0)
  const afterLast = toDay(until, 1)
  return {
    ...(first !== null && { fromMs: first }),
    ...(afterLast !== null && { beforeMs: afterLast }),
  }
}

/** The beginning of a day in the person's time, or of one after it. */
function toDay(text: string, later: number): number | null {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []
  if (year === undefined) return null
  return new Date(Number(year), Number(month) - 1, Number(day) + later).getTime()
}
