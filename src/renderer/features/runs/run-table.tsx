import { Menu, UnstyledButton } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import type { RunEntry } from '../../../shared/bridge/runs.ts'
import { formatCount, formatCounted, formatMs } from '../../../shared/messages/figure-text.ts'
import type { RowState } from '../../../shared/run/item-state.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import type { RunSnapshot } from '../../../shared/run/snapshot.ts'
import type { NamedPlace } from '../../ui/connection/destination.ts'
import { ConnectionChip } from '../../ui/connection/destination-panel.tsx'
import { formatAgo, formatTimestamp } from '../../ui/format-time.ts'
import { isOperationKind, LOAD_LOOK, OPERATION_LOOKS } from '../../ui/operations/operation-looks.tsx'
import { RunTick } from '../../ui/runs/run-selection.tsx'
import { CountsBar, STATE_LOOKS } from '../../ui/states/row-states.tsx'
import {
  describeThresholds,
  isLoadTest,
  type RunStanding,
  RunStateLabel,
  toVerdict,
} from '../../ui/states/run-state.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './runs.module.css'

const OUTCOMES = ['succeeded', 'rejected', 'failed', 'unknown'] as const satisfies readonly RowState[]

/** What can be done with a run from the list. */
interface RunActions {
  onOpen: (run: RunSummary) => void
  onResults: (run: RunSummary) => void
  onDelete: (run: RunSummary) => void
}

/** The runs, and how those that this process holds stand this moment. */
interface RunTableProps extends RunActions {
  runs: readonly RunSummary[]
  standings: ReadonlyMap<string, RunStanding>
  nowMs: number
  /** What an address is called. */
  namePlace: (baseUrl: string) => NamedPlace
}

/** Every run, newest first: what it did to how many rows, how fast, and how it stands. */
export function RunTable(props: RunTableProps) {
  return (
    <table className={styles.table}>
      <caption className="visually-hidden">Runs, newest first</caption>
      <thead>
        <tr>
          <th scope="col" className={styles.tick}>
            <span className="visually-hidden">Compare</span>
          </th>
          <th scope="col">Run</th>
          <th scope="col" className={styles.number}>
            Rows
          </th>
          {OUTCOMES.map((state) => (
            <th key={state} scope="col" className={styles.number}>
              <OutcomeHead state={state} />
            </th>
          ))}
          <th scope="col" className={`${styles.number} ${styles.spare}`}>
            p95
          </th>
          <th scope="col" className={styles.spare}>
            Started
          </th>
          <th scope="col">State</th>
          <th scope="col" className={styles.menu}>
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {props.runs.map((run) => (
          <RunLine key={run.run_id} run={run} {...props} />
        ))}
      </tbody>
    </table>
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

function RunLine(props: { run: RunSummary } & Omit<RunTableProps, 'runs'>) {
  const { run, nowMs } = props
  const p95 = run.latency_ms.http_req_duration?.p95
  const started = run.started_at ?? run.created_at
  const isLoad = isLoadTest(run)
  // A load test uses its rows over and over: what counts is each request.
  const counts = isLoad ? run.requests : run.rows
  return (
    <tr data-run={run.run_id}>
      <td className={styles.tick}>
        <RunTick run={run} />
      </td>
      <th scope="row" className={styles.run}>
        <button type="button" className={styles.name} onClick={() => props.onOpen(run)}>
          <SafeText text={run.name} max={80} />
        </button>
        <div className={styles.about}>
          <SafeText text={describeRun(run)} max={120} /> · <RunPlace place={props.namePlace(run.base_url)} />
        </div>
        {!isLoad && <CountsBar rows={run.rows} label={`Progress of ${run.name}`} />}
      </th>
      <td className={styles.number}>{formatCount(run.rows.read)}</td>
      {OUTCOMES.map((state) => (
        <td key={state} className={styles.number} data-zero={counts[state] === 0}>
          {formatCount(counts[state])}
        </td>
      ))}
      <td className={`${styles.number} ${styles.spare}`}>{p95 === undefined ? '–' : formatMs(p95)}</td>
      <td className={`${styles.when} ${styles.spare}`} title={formatTimestamp(started)}>
        {formatAgo(started, nowMs)}
      </td>
      <td>
        <RunStateLabel state={props.standings.get(run.run_id) ?? toVerdict(run)} isLoadTest={isLoad} />
      </td>
      <td className={styles.menu}>
        <Menu position="bottom-end" shadow="md">
          <Menu.Target>
            <UnstyledButton className={styles.dots} aria-label={`Actions for ${run.name}`}>
              <IconDots size="1rem" aria-hidden />
            </UnstyledButton>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => props.onOpen(run)}>Open the run</Menu.Item>
            {!isLoad && <Menu.Item onClick={() => props.onResults(run)}>View results</Menu.Item>}
            <Menu.Item
              disabled={run.state === 'running' && props.standings.get(run.run_id) !== 'ready'}
              onClick={() => props.onDelete(run)}
            >
              Delete…
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </td>
    </tr>
  )
}

/** Production stands out; every other place is a name. */
function RunPlace({ place }: { place: NamedPlace }) {
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
  const isKnown = isOperationKind(operation)
  const hasModes = operation === 'task' || operation.startsWith('index-')
  const parts = [
    isKnown ? OPERATION_LOOKS[operation].title.toLowerCase() : operation,
    ...(hasModes ? [operation === 'task' ? `${api} ${mode}` : mode] : []),
  ]
  if (run.parent_run_id !== null) parts.unshift('retry')
  if (run.retries.length > 0) parts.push(formatCounted(run.retries.length, 'retry', 'retries'))
  return parts.join(' · ')
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
    .join(' · ')
}

/** A run of the list as it stands this moment: what is held here is newer in its snapshot than in its journal. */
export function withLive(entry: RunEntry, snapshot: RunSnapshot | undefined): RunSummary {
  const { summary } = entry
  if (!entry.isHeld || snapshot === undefined || snapshot.phase === 'ended') return summary
  return {
    ...summary,
    rows: snapshot.rows,
    requests: snapshot.requests,
    latency_ms: {
      ...summary.latency_ms,
      ...(snapshot.latencyMs !== null && { http_req_duration: snapshot.latencyMs }),
    },
  }
}
