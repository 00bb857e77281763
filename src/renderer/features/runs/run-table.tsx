import { Group, Menu, UnstyledButton } from '@mantine/core'
import { IconChevronDown } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { RunEntry } from '../../../shared/bridge/runs.ts'
import type { RunListQuery } from '../../../shared/lookback/run-list.ts'
import { formatBytes, formatCount, formatCounted, formatMs } from '../../../shared/messages/figure-text.ts'
import { findOperation } from '../../../shared/operations/operations.ts'
import { OUTCOMES, type Outcome } from '../../../shared/run/item-state.ts'
import { listRetries, type RunSummary, toShownState } from '../../../shared/run/run.ts'
import { describeExtent, listOutcomes } from '../../../shared/run/run-view.ts'
import type { RunSnapshot } from '../../../shared/run/snapshot.ts'
import type { NamePlace } from '../../ui/connection/destination.ts'
import { ConnectionChip } from '../../ui/connection/destination-panel.tsx'
import { formatAgo, formatTimestamp } from '../../ui/format-time.ts'
import { LOAD_LOOK, nameOperation } from '../../ui/operations/operation-looks.tsx'
import { RunTick } from '../../ui/runs/run-selection.tsx'
import { CountsBar, STATE_LOOKS } from '../../ui/states/row-states.tsx'
import {
  type DisplayState,
  describeThresholds,
  isLoadTest,
  RunStateLabel,
} from '../../ui/states/run-state.tsx'
import { type Column, Table } from '../../ui/table/table.tsx'
import type { TableColumn, TableColumns } from '../../ui/table/table-columns.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { changeFilter } from './run-filters.tsx'
import styles from './runs.module.css'

/** Separates facts of a run; a line never begins with it. */
const DOT = '\u00A0· '

type RunOrder = NonNullable<RunListQuery['order']>

interface RunActions {
  onOpen: (run: RunSummary) => void
  onResults: (run: RunSummary) => void
  onEdit: (entry: RunEntry) => void
  onAgain: (run: RunSummary) => void
  onDelete: (entry: RunEntry) => void
}

/** The runs, and current snapshots of those that this process holds. */
interface RunTableProps extends RunActions {
  entries: readonly RunEntry[]
  states: ReadonlyMap<string, DisplayState>
  nowMs: number
  namePlace: NamePlace
  order: RunOrder
  onOrder: (order: RunOrder) => void
  columns: TableColumns
  /** The fields that replace a run's name, tags and note during editing; null for every other run. */
  toEditor: (entry: RunEntry) => ReactNode
}

/** The columns that can be hidden and resized; the run's name gets the remaining room. */
export const RUN_COLUMNS: readonly TableColumn[] = [
  { title: 'Rows' },
  ...OUTCOMES.map((state) => ({ title: STATE_LOOKS[state].word })),
  ...[{ title: 'p95' }, { title: 'Started' }, { title: 'On disk' }, { title: 'State' }],
]

/** A page of runs: what each did to how many rows, how fast, and its state. */
export function RunTable(props: RunTableProps) {
  const { order, onOrder, nowMs } = props
  /** Sorts the list by a column; pressing again uses the next of its orders. */
  const sortBy = (...orders: readonly [RunOrder, ...RunOrder[]]): NonNullable<Column<RunEntry>['sort']> => {
    const at = orders.indexOf(order)
    return {
      sorted: at < 0 ? null : ASCENDING.includes(order) ? 'ascending' : 'descending',
      onSort: () => onOrder(orders[(at + 1) % orders.length] ?? orders[0]),
    }
  }
  const columns: Column<RunEntry>[] = [
    {
      title: 'Compare',
      isTitleHidden: true,
      className: styles.tick,
      cell: ({ summary }) => <RunTick run={summary} />,
    },
    {
      title: 'Run',
      isRowHead: true,
      sort: sortBy('name'),
      className: styles.run,
      cell: (entry) => <RunCell {...props} entry={entry} />,
    },
    {
      title: 'Rows',
      isNumber: true,
      sort: sortBy('rows'),
      className: styles.rows,
      cell: ({ summary }) => formatCount(summary.rows.read),
    },
    ...OUTCOMES.map((state): Column<RunEntry> => {
      const { word } = STATE_LOOKS[state]
      return {
        title: <OutcomeHead state={state} />,
        name: word,
        isNumber: true,
        className: state === 'rejected' || state === 'unknown' ? styles.minor : undefined,
        cell: ({ summary }) => formatCount(toCounts(summary)[state]),
        toCell: ({ summary }) => ({ 'data-zero': toCounts(summary)[state] === 0 }),
      }
    }),
    {
      title: 'p95',
      isNumber: true,
      sort: sortBy('p95'),
      className: styles.latency,
      cell: ({ summary, figures }) => {
        const p95 = summary.latency_ms.http_req_duration?.p95
        return (
          <>
            {p95 === undefined ? '–' : formatMs(p95)}
            <Sparkline values={figures.courseMs} label={describeCourse(figures.courseMs)} />
          </>
        )
      },
    },
    {
      title: 'Started',
      sort: sortBy('newest', 'oldest'),
      className: styles.spare,
      cell: ({ summary }) => formatAgo(toStart(summary), nowMs),
      toCell: ({ summary }) => ({ title: formatTimestamp(toStart(summary)) }),
    },
    {
      title: 'On disk',
      isNumber: true,
      sort: sortBy('size'),
      className: styles.size,
      cell: ({ figures }) => formatBytes(figures.sizeBytes),
    },
    {
      title: 'State',
      cell: ({ summary }) => (
        <RunStateLabel
          state={props.states.get(summary.run_id) ?? toShownState(summary)}
          isLoadTest={isLoadTest(summary)}
        />
      ),
    },
    { title: 'Actions', isActions: true, cell: (entry) => <RunMenu {...props} entry={entry} /> },
  ]
  return (
    <Table
      className={`nowrap ${styles.table}`}
      caption="Runs"
      columns={columns}
      view={props.columns}
      rows={props.entries}
      toKey={({ summary }) => summary.run_id}
      toRow={({ summary }) => ({ 'data-run': summary.run_id })}
    />
  )
}

const ASCENDING: readonly RunOrder[] = ['name', 'oldest']

function toStart(run: RunSummary): string {
  return run.started_at ?? run.created_at
}

/** A load test repeats its rows, so each request counts. */
function toCounts(run: RunSummary): Record<Outcome, number> {
  return isLoadTest(run) ? run.requests : run.rows
}

/** Rows in states that have no column, so that those of a run add up: `12 invalid`. */
function listOtherStates(run: RunSummary): string[] {
  if (isLoadTest(run)) return []
  const columns = new Set(OUTCOMES.map((state) => STATE_LOOKS[state].word))
  return listOutcomes(run)
    .filter(({ name }) => !columns.has(name))
    .map(({ name, rows }) => `${formatCount(rows)} ${name}`)
}

function OutcomeHead({ state }: { state: Outcome }) {
  const look = STATE_LOOKS[state]
  const Icon = look.icon
  return (
    <span className={styles.outcome} style={{ color: look.color }} title={`${look.word}: ${look.meaning}`}>
      <Icon size="1rem" stroke={2} aria-hidden />
      {look.word}
    </span>
  )
}

/** The name of a run with everything below it, or the fields for editing it. */
function RunCell(props: { entry: RunEntry } & RunTableProps) {
  const { entry, nowMs } = props
  const run = entry.summary
  const extent = describeExtent(run)
  return (
    <>
      {props.toEditor(entry) ?? (
        <>
          <Group gap="xs" align="baseline" wrap="nowrap">
            <button
              type="button"
              className={`bare block max-w-full overflow-hidden ellipsis ${styles.name}`}
              title={run.name}
              onClick={() => props.onOpen(run)}
            >
              <SafeText text={run.name} max={80} />
            </button>
            <button
              type="button"
              className={`bare accent flex-none text-xs ${styles.edit}`}
              aria-label={`Edit name, tags and note of ${run.name}`}
              onClick={() => props.onEdit(entry)}
            >
              Edit
            </button>
          </Group>
          <div className={`small breaks ${styles.about}`}>
            <span className={styles.narrowWhen}>
              {formatAgo(toStart(run), nowMs)}
              {DOT}
            </span>
            <SafeText text={describeRun(run)} max={120} />
            {DOT}
            {extent !== null && extent + DOT}
            <RunPlace run={run} namePlace={props.namePlace} />
            {listOtherStates(run).map((rows) => DOT + rows)}
          </div>
          <RunNotes entry={entry} />
        </>
      )}
      {!isLoadTest(run) && <CountsBar rows={run.rows} label={`Progress of ${run.name}`} />}
    </>
  )
}

function RunMenu(props: { entry: RunEntry; states: ReadonlyMap<string, DisplayState> } & RunActions) {
  const { entry, states } = props
  const run = entry.summary
  return (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <UnstyledButton
          className={`inline-flex items-center rounded quiet text-sm ${styles.actions}`}
          aria-label={`Actions for ${run.name}`}
        >
          Actions
          <IconChevronDown size="0.9rem" aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => props.onOpen(run)}>Open the run</Menu.Item>
        {!isLoadTest(run) && <Menu.Item onClick={() => props.onResults(run)}>View results</Menu.Item>}
        <Menu.Item onClick={() => props.onEdit(entry)}>Edit name, tags and note</Menu.Item>
        <Menu.Item onClick={() => props.onAgain(run)}>Run again…</Menu.Item>
        <Menu.Divider />
        <Menu.Item
          disabled={run.state === 'running' && states.get(run.run_id) !== 'ready'}
          onClick={() => props.onDelete(entry)}
        >
          Delete…
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** A person's notes: tags, each of which lists its runs, and the note; and whether the run is a baseline. */
function RunNotes({ entry: { summary, baselines } }: { entry: RunEntry }) {
  const { tags = [], note } = summary
  if (tags.length === 0 && note === undefined && baselines.length === 0) return null
  return (
    <Group gap={4} mb="0.3rem">
      {baselines.length > 0 && (
        <span className={styles.baseline} title="Later runs are compared with it">
          baseline{baselines.join() === 'default' ? '' : ` ${baselines.join(', ')}`}
        </span>
      )}
      {tags.map((tag) => (
        <button
          key={tag}
          type="button"
          className={styles.tag}
          title={`List the runs tagged ${tag}`}
          onClick={() => changeFilter({ tags: [tag] })}
        >
          <SafeText text={tag} max={64} />
        </button>
      ))}
      {note !== undefined && (
        <span className={`small overflow-hidden ${styles.note}`} title={note}>
          <SafeText text={note} max={240} />
        </span>
      )}
    </Group>
  )
}

/** The name of its connection, else its address; production is highlighted. */
function RunPlace(props: { run: RunSummary; namePlace: NamePlace }) {
  const place = props.namePlace(props.run.base_url, props.run.connection)
  return place.kind === 'production' ? (
    <ConnectionChip place={place} />
  ) : (
    <SafeText text={place.name} max={80} />
  )
}

/** What a run does, in short: `retry · submit content · v1 sync`, `load test · v1 sync · 1,200 requests`. */
function describeRun(run: RunSummary): string {
  const { operation, mode, api } = run
  if (isLoadTest(run)) return describeLoad(run)
  const hasModes = findOperation(operation)?.modeOf !== undefined
  const parts = [
    nameOperation(operation),
    ...(hasModes ? [operation === 'task' ? `${api} ${mode}` : mode] : []),
  ]
  if (run.parent_run_id !== null) parts.unshift('retry')
  const retries = listRetries(run).length
  if (retries > 0) parts.push(formatCounted(retries, 'retry', 'retries'))
  return parts.join(DOT)
}

function describeLoad(run: RunSummary): string {
  const { api, mode, requests } = run
  return [
    LOAD_LOOK.title.toLowerCase(),
    describeThresholds(run),
    `${api} ${mode}`,
    formatCounted(requests.sent, 'request'),
  ]
    .filter((part) => part !== null)
    .join(DOT)
}

/**
 * The course of the latency for people who cannot see the line: `p95 over the run: 41 ms at first, 120 ms at
 * most, 38 ms at the end`.
 */
function describeCourse(courseMs: readonly number[]): string {
  const [first, last] = [courseMs[0], courseMs.at(-1)]
  if (first === undefined || last === undefined) return ''
  const highest = formatMs(Math.max(...courseMs))
  return `p95 over the run: ${formatMs(first)} at first, ${highest} at most, ${formatMs(last)} at the end`
}

/** A run of the list in its current state: for a held run, the snapshot is newer than the journal. */
export function withLive(entry: RunEntry, snapshot: RunSnapshot | undefined): RunEntry {
  const { summary } = entry
  if (!entry.isHeld || snapshot === undefined || snapshot.phase === 'ended') return entry
  return {
    ...entry,
    summary: {
      ...summary,
      rows: snapshot.rows,
      requests: snapshot.requests,
      latency_ms: {
        ...summary.latency_ms,
        ...(snapshot.latencyMs !== null && { http_req_duration: snapshot.latencyMs }),
      },
    },
  }
}

const WIDTH = 80
const HEIGHT = 18
/** Keeps the line from being cut at the edges. */
const EDGE = 1.5

/** A series of figures as a small line from zero up; `label` describes it. Nothing for a single figure. */
function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  if (values.length < 2) return null
  return (
    <svg
      className={styles.sparkline}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <polyline points={toSparkPoints(values)} />
    </svg>
  )
}

export function toSparkPoints(values: readonly number[]): string {
  const highest = Math.max(...values, Number.MIN_VALUE)
  const step = (WIDTH - 2 * EDGE) / Math.max(1, values.length - 1)
  return values
    .map((value, index) => {
      const x = EDGE + index * step
      const y = HEIGHT - EDGE - (value / highest) * (HEIGHT - 2 * EDGE)
      return `${x.toFixed(1)},${y.toFixed(1)}`
    })
    .join(' ')
}
