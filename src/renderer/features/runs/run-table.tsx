import { Menu, UnstyledButton } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { formatCount, formatMs } from '../../../shared/messages/figure-text.ts'
import type { RowState } from '../../../shared/run/results.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { ConnectionChip } from '../../ui/connection/connection-chip.tsx'
import type { NamedPlace } from '../../ui/connection/destination.ts'
import { formatAgo, formatTimestamp } from '../../ui/format-time.ts'
import { CountsBar } from '../../ui/states/counts-bar.tsx'
import { isLoadTest } from '../../ui/states/is-load-test.ts'
import { type RunStanding, RunStateLabel, toVerdict } from '../../ui/states/run-state-label.tsx'
import { STATE_LOOKS } from '../../ui/states/state-looks.ts'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { describeRun } from './describe-run.ts'
import styles from './runs.module.css'

const OUTCOMES = ['succeeded', 'rejected', 'failed', 'unknown'] as const satisfies readonly RowState[]

/** What can be done with a run from the list. */
interface RunActions {
  onOpen: (run: RunSummary) => void
  onResults: (run: RunSummary) => void
  onDelete: (run: RunSummary) => void
}

/** The runs, and how those that this process holds stand this moment. */
export interface RunTableProps extends RunActions {
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
