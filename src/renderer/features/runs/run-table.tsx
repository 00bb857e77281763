import { Menu, UnstyledButton } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconChevronDown } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { RunEntry } from '../../../shared/bridge/runs.ts'
import type { RunListQuery } from '../../../shared/lookback/run-list.ts'
import { formatBytes, formatCount, formatCounted, formatMs } from '../../../shared/messages/figure-text.ts'
import type { RowState } from '../../../shared/run/item-state.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { describeTrial } from '../../../shared/run/run-view.ts'
import type { RunSnapshot } from '../../../shared/run/snapshot.ts'
import { Sparkline } from '../../ui/charts/sparkline.tsx'
import type { NamePlace } from '../../ui/connection/destination.ts'
import { ConnectionChip } from '../../ui/connection/destination-panel.tsx'
import { formatAgo, formatTimestamp } from '../../ui/format-time.ts'
import { LOAD_LOOK, nameOperation } from '../../ui/operations/operation-looks.tsx'
import { RunTick } from '../../ui/runs/run-selection.tsx'
import { CountsBar, STATE_LOOKS } from '../../ui/states/row-states.tsx'
import {
  describeThresholds,
  isLoadTest,
  type RunStanding,
  RunStateLabel,
  toVerdict,
} from '../../ui/states/run-state.tsx'
import type { TableColumn, TableColumns } from '../../ui/table-columns.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { changeFilter } from './run-filter.ts'
import styles from './runs.module.css'

/** Between the facts of a run; it begins no line. */
const DOT = '\u00A0· '

const OUTCOMES = ['succeeded', 'rejected', 'failed', 'unknown'] as const satisfies readonly RowState[]

type RunOrder = NonNullable<RunListQuery['order']>

/** What can be done with a run from the list. */
interface RunActions {
  onOpen: (run: RunSummary) => void
  onResults: (run: RunSummary) => void
  onEdit: (entry: RunEntry) => void
  onAgain: (run: RunSummary) => void
  onDelete: (entry: RunEntry) => void
}

/** The runs, and how those that this process holds stand this moment. */
interface RunTableProps extends RunActions {
  entries: readonly RunEntry[]
  standings: ReadonlyMap<string, RunStanding>
  nowMs: number
  /** What an address is called. */
  namePlace: NamePlace
  order: RunOrder
  onOrder: (order: RunOrder) => void
  columns: TableColumns
  /** What stands in the place of a run's name, tags and note while they are changed; null for every other run. */
  toEditor: (entry: RunEntry) => ReactNode
}

/** The columns that can be hidden and resized; the name of the run takes the room that is left. */
export const RUN_COLUMNS: readonly TableColumn[] = [
  { title: 'Rows' },
  ...OUTCOMES.map((state) => ({ title: STATE_LOOKS[state].word })),
  ...[{ title: 'p95' }, { title: 'Started' }, { title: 'On disk' }, { title: 'State' }],
]

/** A page of runs: what each did to how many rows, how fast, and how it stands. */
export function RunTable(props: RunTableProps) {
  const { order, onOrder, columns } = props
  const head = { order, onOrder, columns }
  return (
    <table className={styles.table}>
      <caption className="visually-hidden">Runs</caption>
      <thead>
        <tr>
          <th scope="col" className={styles.tick}>
            <span className="visually-hidden">Compare</span>
          </th>
          <th scope="col" {...toSorted(order, ['name'])}>
            <SortButton {...head} orders={['name']} title="Run" />
          </th>
          <SortHead {...head} orders={['rows']} className={`${styles.number} ${styles.rows}`} title="Rows" />
          {OUTCOMES.map((state) => {
            const { word } = STATE_LOOKS[state]
            if (!columns.shows(word)) return null
            return (
              <th
                key={state}
                scope="col"
                className={styles.number}
                data-outcome={state}
                {...columns.head(word)}
              >
                <OutcomeHead state={state} />
                {columns.edge(word)}
              </th>
            )
          })}
          <SortHead {...head} orders={['p95']} className={`${styles.number} ${styles.latency}`} title="p95" />
          <SortHead {...head} orders={['newest', 'oldest']} className={styles.spare} title="Started" />
          <SortHead
            {...head}
            orders={['size']}
            className={`${styles.number} ${styles.size}`}
            title="On disk"
          />
          {columns.shows('State') && (
            <th scope="col" {...columns.head('State')}>
              State
              {columns.edge('State')}
            </th>
          )}
          <th scope="col" className={styles.menu}>
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {props.entries.map((entry) => (
          <RunLine key={entry.summary.run_id} entry={entry} {...props} />
        ))}
      </tbody>
    </table>
  )
}

/** The orders that run from the smallest. */
const ASCENDING: readonly RunOrder[] = ['name', 'oldest']

type Orders = readonly [RunOrder, ...RunOrder[]]

/** The head of a column that the list can be ordered by, where the column is shown. */
function SortHead(props: {
  orders: Orders
  order: RunOrder
  onOrder: (order: RunOrder) => void
  columns: TableColumns
  className?: string | undefined
  title: string
}) {
  const { columns, title } = props
  if (!columns.shows(title)) return null
  return (
    <th
      scope="col"
      className={props.className}
      {...columns.head(title)}
      {...toSorted(props.order, props.orders)}
    >
      <SortButton {...props} />
      {columns.edge(title)}
    </th>
  )
}

function toSorted(order: RunOrder, orders: Orders) {
  if (!orders.includes(order)) return {}
  return { 'aria-sort': ASCENDING.includes(order) ? 'ascending' : 'descending' } as const
}

/** Orders the list; a second press takes the next of the column's orders. */
function SortButton(props: {
  orders: Orders
  order: RunOrder
  onOrder: (order: RunOrder) => void
  title: string
}) {
  const { orders, order, onOrder } = props
  const at = orders.indexOf(order)
  const Arrow = ASCENDING.includes(order) ? IconArrowUp : IconArrowDown
  return (
    <button
      type="button"
      className={styles.sort}
      onClick={() => onOrder(orders[(at + 1) % orders.length] ?? orders[0])}
    >
      {props.title}
      {at >= 0 && <Arrow size="0.9rem" aria-hidden />}
    </button>
  )
}

function OutcomeHead({ state }: { state: (typeof OUTCOMES)[number] }) {
  const look = STATE_LOOKS[state]
  const Icon = look.icon
  return (
    <span className={styles.outcome} style={{ color: look.color }} title={`${look.word}: ${look.meaning}`}>
      <Icon size="1rem" stroke={2} aria-hidden />
      <span className={styles.outcomeWord}>{look.word}</span>
    </span>
  )
}

function RunLine(props: { entry: RunEntry } & Omit<RunTableProps, 'entries'>) {
  const { entry, nowMs, columns } = props
  const { shows, cell } = columns
  const { summary: run, figures } = entry
  const p95 = run.latency_ms.http_req_duration?.p95
  const started = run.started_at ?? run.created_at
  const isLoad = isLoadTest(run)
  const trial = describeTrial(run)
  // A load test uses its rows over and over: what counts is each request.
  const counts = isLoad ? run.requests : run.rows
  const editor = props.toEditor(entry)
  return (
    <tr data-run={run.run_id}>
      <td className={styles.tick}>
        <RunTick run={run} />
      </td>
      <th scope="row" className={styles.run}>
        {editor ?? (
          <>
            <div className={styles.title}>
              <button
                type="button"
                className={styles.name}
                title={run.name}
                onClick={() => props.onOpen(run)}
              >
                <SafeText text={run.name} max={80} />
              </button>
              <button
                type="button"
                className={styles.edit}
                aria-label={`Edit name, tags and note of ${run.name}`}
                onClick={() => props.onEdit(entry)}
              >
                Edit
              </button>
            </div>
            <div className={styles.about}>
              <span className={styles.narrowWhen}>
                {formatAgo(started, nowMs)}
                {DOT}
              </span>
              <SafeText text={describeRun(run)} max={120} />
              {DOT}
              {trial !== null && trial + DOT}
              <RunPlace run={run} namePlace={props.namePlace} />
            </div>
            <RunNotes entry={entry} />
          </>
        )}
        {!isLoad && <CountsBar rows={run.rows} label={`Progress of ${run.name}`} />}
      </th>
      {shows('Rows') && (
        <td className={`${styles.number} ${styles.rows}`} style={cell('Rows')}>
          {formatCount(run.rows.read)}
        </td>
      )}
      {OUTCOMES.map((state) => {
        const { word } = STATE_LOOKS[state]
        if (!shows(word)) return null
        return (
          <td
            key={state}
            className={styles.number}
            style={cell(word)}
            data-outcome={state}
            data-zero={counts[state] === 0}
          >
            {formatCount(counts[state])}
          </td>
        )
      })}
      {shows('p95') && (
        <td className={`${styles.number} ${styles.latency}`} style={cell('p95')}>
          {p95 === undefined ? '–' : formatMs(p95)}
          <Sparkline values={figures.courseMs} label={describeCourse(figures.courseMs)} />
        </td>
      )}
      {shows('Started') && (
        <td
          className={`${styles.when} ${styles.spare}`}
          style={cell('Started')}
          title={formatTimestamp(started)}
        >
          {formatAgo(started, nowMs)}
        </td>
      )}
      {shows('On disk') && (
        <td className={`${styles.number} ${styles.size}`} style={cell('On disk')}>
          {formatBytes(figures.sizeBytes)}
        </td>
      )}
      {shows('State') && (
        <td style={cell('State')}>
          <RunStateLabel state={props.standings.get(run.run_id) ?? toVerdict(run)} isLoadTest={isLoad} />
        </td>
      )}
      <td className={styles.menu}>
        <RunMenu {...props} />
      </td>
    </tr>
  )
}

function RunMenu(props: { entry: RunEntry; standings: ReadonlyMap<string, RunStanding> } & RunActions) {
  const { entry, standings } = props
  const run = entry.summary
  return (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <UnstyledButton className={styles.actions} aria-label={`Actions for ${run.name}`}>
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
          disabled={run.state === 'running' && standings.get(run.run_id) !== 'ready'}
          onClick={() => props.onDelete(entry)}
        >
          Delete…
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** What a person noted: tags, each of which lists its runs, and the note; and whether later runs are compared with it. */
function RunNotes({ entry: { summary, baselines } }: { entry: RunEntry }) {
  const { tags = [], note } = summary
  if (tags.length === 0 && note === undefined && baselines.length === 0) return null
  return (
    <div className={styles.notes}>
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
        <span className={styles.note} title={note}>
          <SafeText text={note} max={240} />
        </span>
      )}
    </div>
  )
}

/** The name of its connection, else its address; production stands out. */
function RunPlace(props: { run: RunSummary; namePlace: NamePlace }) {
  const place = props.namePlace(props.run.base_url, props.run.connection)
  return place.kind === 'production' ? (
    <ConnectionChip place={place} />
  ) : (
    <SafeText text={place.name} max={80} />
  )
}

/** What a run does, in a line: `retry · submit content · v1 sync`, `load test · v1 sync · 1,200 requests`. */
function describeRun(run: RunSummary): string {
  const { operation, mode, api } = run
  if (isLoadTest(run)) return describeLoad(run)
  const hasModes = operation === 'task' || operation.startsWith('index-')
  const parts = [
    nameOperation(operation),
    ...(hasModes ? [operation === 'task' ? `${api} ${mode}` : mode] : []),
  ]
  if (run.parent_run_id !== null) parts.unshift('retry')
  if (run.retries.length > 0) parts.push(formatCounted(run.retries.length, 'retry', 'retries'))
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

/** How the latency went, for who cannot see the line: `p95 over the run: 41 ms at first, 120 ms at most, 38 ms at the end`. */
function describeCourse(courseMs: readonly number[]): string {
  const [first, last] = [courseMs[0], courseMs.at(-1)]
  if (first === undefined || last === undefined) return ''
  const highest = formatMs(Math.max(...courseMs))
  return `p95 over the run: ${formatMs(first)} at first, ${highest} at most, ${formatMs(last)} at the end`
}

/** A run of the list as it stands this moment: what is held here is newer in its snapshot than in its journal. */
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
