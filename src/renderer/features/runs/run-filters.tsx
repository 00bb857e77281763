import { MultiSelect, Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { create } from 'zustand'
import { RUNS_SHOWN } from '../../../shared/bridge/runs.ts'
import {
  FOUND_STATES,
  type RUN_ORDERS,
  type RunChoices,
  type RunListQuery,
} from '../../../shared/lookback/run-list.ts'
import { OPERATION_KINDS } from '../../../shared/operations/operations.ts'
import type { NamePlace } from '../../ui/connection/destination.ts'
import { ActionButton, bindFields, SwitchField, TextField, toChoices } from '../../ui/controls.tsx'
import { type Activity, toLook } from '../../ui/operations/operation-looks.tsx'
import { useShortcut } from '../../ui/shortcuts.ts'
import styles from './run-filters.module.css'

const ALL = 'all'
const TYPING_MS = 200

const PERIOD_WORDS: Record<Period, string> = {
  any: 'Any time',
  today: 'Today',
  week: 'Last 7 days',
  month: 'Last 30 days',
  quarter: 'Last 90 days',
  dates: 'From … to …',
}

const ACTIVITIES: readonly Activity[] = [...OPERATION_KINDS, 'load']

export function RunFilters(props: { choices: RunChoices; namePlace: NamePlace }) {
  const { choices, namePlace } = props
  const filter = useRunList((list) => list.filter)
  const field = bindFields(filter, changeFilter)
  return (
    <search className={`flex flex-wrap items-end gap-3 ${styles.filters}`} aria-label="Filters">
      <SearchField filter={filter} />
      <Choice
        label="State"
        all="Any state"
        value={filter.state}
        options={FOUND_STATES.map((state) => ({ value: state, label: state.replace('-', ' ') }))}
        onValue={(state) => changeFilter({ state: FOUND_STATES.find((one) => one === state) ?? null })}
      />
      <Choice
        label="Operation"
        all="Any operation"
        value={filter.activity}
        options={ACTIVITIES.map((one) => ({
          value: one,
          label: toLook(one).title,
        }))}
        onValue={(activity) => changeFilter({ activity: ACTIVITIES.find((one) => one === activity) ?? null })}
      />
      <Choice
        label="Connection"
        all="Any connection"
        value={filter.connection}
        options={choices.connections.map((value) => ({
          value,
          label: URL.canParse(value) ? namePlace(value).name : value,
        }))}
        onValue={(connection) => changeFilter({ connection })}
      />
      <Choice
        label="Started"
        all={PERIOD_WORDS.any}
        value={filter.period === 'any' ? null : filter.period}
        options={PERIODS.filter((one) => one !== 'any').map((one) => ({
          value: one,
          label: PERIOD_WORDS[one],
        }))}
        onValue={(period) => changeFilter({ period: PERIODS.find((one) => one === period) ?? 'any' })}
      />
      {filter.period === 'dates' && (
        <>
          <TextField type="date" label="From" {...field('from')} />
          <TextField type="date" label="To" {...field('until')} />
        </>
      )}
      {(choices.tags.length > 0 || filter.tags.length > 0) && (
        <MultiSelect
          label="Tags"
          className={styles.tags ?? ''}
          {...(filter.tags.length === 0 && { placeholder: 'Any tag' })}
          data={[...new Set([...choices.tags, ...filter.tags])]}
          value={[...filter.tags]}
          onChange={(tags) => changeFilter({ tags })}
          searchable
          hidePickedOptions
        />
      )}
    </search>
  )
}

/** Shows only runs that need attention; placed above the list, beside the button that clears all filters. */
export function FailuresChoice() {
  const filter = useRunList((list) => list.filter)
  return (
    <>
      {isFiltering(filter) && (
        <ActionButton label="Clear filters" variant="subtle" small onClick={() => changeFilter(NO_FILTER)} />
      )}
      <SwitchField
        className="flex-none nowrap"
        label="Only with failures"
        title="Unsuccessful rows, a failed threshold, or a run that stopped by itself"
        value={filter.failed}
        onValue={(failed) => changeFilter({ failed })}
      />
    </>
  )
}

const ORDER_WORDS: Record<(typeof RUN_ORDERS)[number], string> = {
  newest: 'Newest first',
  oldest: 'Oldest first',
  name: 'By name',
  rows: 'Most rows first',
  p95: 'Highest p95 first',
  size: 'Largest on disk first',
}

export function OrderChoice() {
  const order = useRunList((list) => list.order)
  return (
    <Select
      aria-label="Order"
      w="11rem"
      data={toChoices(ORDER_WORDS)}
      value={order}
      onChange={(chosen) => chosen !== null && useRunList.setState({ order: chosen, offset: 0 })}
    />
  )
}

/** The searched words, applied after a pause in typing. */
function SearchField({ filter }: { filter: RunFilter }) {
  const [typed, setTyped] = useState(filter.search)
  const [settled] = useDebouncedValue(typed, TYPING_MS)
  const field = useRef<HTMLInputElement>(null)
  useShortcut({ key: '/' }, () => field.current?.focus())
  useEffect(() => {
    if (settled !== useRunList.getState().filter.search) changeFilter({ search: settled })
  }, [settled])
  // "Clear filters" empties the field too.
  useEffect(() => {
    if (filter.search === '') setTyped('')
  }, [filter.search])
  return (
    <TextField
      ref={field}
      label="Search"
      placeholder="Name, id, file, tag, note"
      title="Words that all occur in name, id, file, tags, note, connection or list ( / )"
      leftSection={<IconSearch size="1rem" aria-hidden />}
      value={typed}
      onValue={setTyped}
      isLiteral
      className={styles.searchField}
    />
  )
}

function Choice(props: {
  label: string
  all: string
  value: string | null
  options: readonly { value: string; label: string }[]
  onValue: (value: string | null) => void
}) {
  const { label, all, value, options, onValue } = props
  return (
    <Select
      label={label}
      data={[{ value: ALL, label: all }, ...options]}
      value={value ?? ALL}
      onChange={(chosen) => onValue(chosen === ALL ? null : chosen)}
    />
  )
}

/** How far back runs are listed; `dates` is from one day to another. */
const PERIODS = ['any', 'today', 'week', 'month', 'quarter', 'dates'] as const

type Period = (typeof PERIODS)[number]

/** Days of a period, including today. */
const DAYS: Partial<Record<Period, number>> = { today: 1, week: 7, month: 30, quarter: 90 }

/** A person's filter for the list of runs; empty texts and null match all. */
export interface RunFilter {
  search: string
  state: (typeof FOUND_STATES)[number] | null
  activity: Activity | null
  /** Only runs in which something went wrong. */
  failed: boolean
  connection: string | null
  /** Runs must have all of them. */
  tags: readonly string[]
  period: Period
  /** Days such as `2026-11-21`, in the person's time zone, if the period is `dates`. */
  from: string
  until: string
}

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

/** The state of the list, so that it is the same after viewing a run. */
export const useRunList = create<{
  filter: RunFilter
  order: NonNullable<RunListQuery['order']>
  offset: number
}>(() => ({ filter: NO_FILTER, order: 'newest', offset: 0 }))

/** Changes the filter, and shows the first page. */
export function changeFilter(change: Partial<RunFilter>): void {
  useRunList.setState(({ filter }) => ({ filter: { ...filter, ...change }, offset: 0 }))
}

export function isFiltering(filter: RunFilter): boolean {
  return Object.keys(toConditions(filter, 0)).length > 0
}

/** The query for the engine. `nowMs` only determines the day. */
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

/** The beginning of a day in the person's time zone, or of a later day. */
function toDay(text: string, later: number): number | null {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []
  if (year === undefined) return null
  return new Date(Number(year), Number(month) - 1, Number(day) + later).getTime()
}
