import { MultiSelect, Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { RUN_ORDERS, type RunChoices } from '../../../shared/lookback/run-list.ts'
import { OPERATION_KINDS } from '../../../shared/operations/operations.ts'
import { RUN_STATES } from '../../../shared/run/run.ts'
import type { NamePlace } from '../../ui/connection/destination.ts'
import { ActionButton, SwitchField, TextField } from '../../ui/controls.tsx'
import { type Activity, toLook } from '../../ui/operations/operation-looks.tsx'
import { useShortcut } from '../../ui/shortcuts.ts'
import {
  changeFilter,
  isFiltering,
  NO_FILTER,
  PERIODS,
  type Period,
  type RunFilter,
  useRunList,
} from './run-filter.ts'
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

/** Which runs the list shows. Every choice has to hold. */
export function RunFilters(props: {
  choices: RunChoices
  /** What an address is called. */
  namePlace: NamePlace
}) {
  const { choices, namePlace } = props
  const filter = useRunList((list) => list.filter)
  return (
    <search className={`flex flex-wrap items-end gap-3 ${styles.filters}`} aria-label="Filters">
      <SearchField filter={filter} />
      <Choice
        label="State"
        all="Any state"
        value={filter.state}
        options={RUN_STATES.map((state) => ({ value: state, label: state }))}
        onValue={(state) => changeFilter({ state: RUN_STATES.find((one) => one === state) ?? null })}
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
          <TextField
            type="date"
            label="From"
            value={filter.from}
            onValue={(from) => changeFilter({ from })}
          />
          <TextField
            type="date"
            label="To"
            value={filter.until}
            onValue={(until) => changeFilter({ until })}
          />
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

/** Leaves only runs that need a look; stands above the list, and next to it what takes all filters back. */
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
        checked={filter.failed}
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

/** The order of the list; some of its columns are left out in a narrow window. */
export function OrderChoice() {
  const order = useRunList((list) => list.order)
  return (
    <Select
      aria-label="Order"
      w="11rem"
      data={RUN_ORDERS.map((value) => ({ value, label: ORDER_WORDS[value] }))}
      value={order}
      onChange={(chosen) =>
        useRunList.setState({ order: RUN_ORDERS.find((one) => one === chosen) ?? 'newest', offset: 0 })
      }
    />
  )
}

/** The words that are looked for, once nobody types any more. */
function SearchField({ filter }: { filter: RunFilter }) {
  const [typed, setTyped] = useState(filter.search)
  const [settled] = useDebouncedValue(typed, TYPING_MS)
  const field = useRef<HTMLInputElement>(null)
  useShortcut({ key: '/' }, () => field.current?.focus())
  useEffect(() => {
    if (settled !== useRunList.getState().filter.search) changeFilter({ search: settled })
  }, [settled])
  // "Clear filters" empties the field, too.
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

/** One of several values, or all of them. */
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
