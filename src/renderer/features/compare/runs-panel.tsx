import { ActionIcon, Button, Group, Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconArrowsUpDown, IconChartLine, IconX } from '@tabler/icons-react'
import { keepPreviousData, skipToken, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { toRunLetter } from '../../../shared/load/compare-text.ts'
import { isSameSubject, toBaselineSubject } from '../../../shared/lookback/baseline.ts'
import { COMPARED_MAX } from '../../../shared/lookback/comparison.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { countLeftOut } from '../../../shared/run/item-state.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { ask } from '../../bridge/client.ts'
import { ActionButton } from '../../ui/controls.tsx'
import { formatTimestamp } from '../../ui/format-time.ts'
import { ErrorNotice, Panel } from '../../ui/layout/screen.tsx'
import { nameOperation } from '../../ui/operations/operation-looks.tsx'
import { isLoadTest, RunStateLabel, toVerdict } from '../../ui/states/run-state.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { BaselineMenu, useBaselines } from './baseline-menu.tsx'
import styles from './compare.module.css'

/** The runs that are compared, in their order, and the ways to change them. */
export function RunsPanel(props: {
  runIds: readonly string[]
  runs: readonly RunSummary[]
  onRuns: (runIds: readonly string[]) => void
  onOpenRun: (runId: string) => void
  onTrend: (runId: string) => void
}) {
  const { runIds, runs, onRuns } = props
  const newest = runs.at(-1) ?? null
  const baselines = useBaselines(newest?.run_id ?? null)
  const offered = (baselines.data ?? []).filter(
    ({ runId, runName }) => runName !== null && !runIds.includes(runId),
  )
  return (
    <Panel
      title="Runs"
      aside={
        <>
          {runIds.length === 2 && (
            <ActionButton
              label="Swap A and B"
              small
              icon={IconArrowsUpDown}
              onClick={() => onRuns([...runIds].reverse())}
            />
          )}
          {newest !== null && (
            <ActionButton
              label="Trend of this source"
              small
              icon={IconChartLine}
              onClick={() => props.onTrend(newest.run_id)}
            />
          )}
        </>
      }
      flush
    >
      {runs.length > 0 && (
        <Table
          className={styles.table}
          caption="Compared runs"
          rows={runs}
          toKey={(run) => run.run_id}
          columns={[
            {
              title: 'Letter',
              isTitleHidden: true,
              width: '2rem',
              cell: (_, index) => <strong>{toRunLetter(index)}</strong>,
            },
            {
              title: 'Run',
              isRowHead: true,
              cell: (run) => (
                <>
                  <button type="button" className="link bold" onClick={() => props.onOpenRun(run.run_id)}>
                    <SafeText text={run.name} max={60} />
                  </button>
                  <div className="small breaks">
                    <SafeText
                      text={`${nameOperation(run.operation)} · ${run.connection ?? run.base_url}`}
                      max={120}
                    />
                  </div>
                </>
              ),
            },
            {
              title: 'Started',
              className: styles.started,
              cell: (run) => formatTimestamp(run.started_at ?? run.created_at),
            },
            { title: 'Size', isNumber: true, cell: describeSize },
            {
              title: 'State',
              cell: (run) => <RunStateLabel state={toVerdict(run)} isLoadTest={isLoadTest(run)} />,
            },
            { title: 'Baseline', cell: (run) => <BaselineMenu run={run} /> },
            {
              title: 'Remove',
              isActions: true,
              cell: (run) => (
                <ActionIcon
                  aria-label={`Remove ${run.name} from the comparison`}
                  onClick={() => onRuns(runIds.filter((runId) => runId !== run.run_id))}
                >
                  <IconX size="1rem" aria-hidden />
                </ActionIcon>
              ),
            },
          ]}
        />
      )}
      <Group gap="xs" py="sm" px="md">
        {runIds.length < COMPARED_MAX && (
          <RunSelect
            like={newest}
            taken={runIds}
            label={runIds.length === 0 ? 'Earlier run (A)' : runIds.length === 1 ? 'Other run' : 'Add a run'}
            onRun={(run) => onRuns(place(run, runIds, runs[0]))}
          />
        )}
        {offered.map(({ name, runId }) => (
          <Button key={name} onClick={() => onRuns([runId, ...runIds])}>
            Against the baseline <SafeText text={name} max={40} />
          </Button>
        ))}
      </Group>
    </Panel>
  )
}

function describeSize(run: RunSummary): string {
  if (isLoadTest(run)) return formatCounted(run.requests.sent, 'request')
  const leftOut = countLeftOut(run.rows)
  return `${formatCounted(run.rows.read - leftOut, 'row')}${leftOut === 0 ? '' : `, ${formatCount(leftOut)} left out`}`
}

/** The ids with one more run: a second one by its time, further ones last. `only` is the run there is. */
export function place(run: RunSummary, runIds: readonly string[], only: RunSummary | undefined): string[] {
  const isEarlier = runIds.length === 1 && only !== undefined && run.created_at < only.created_at
  return isEarlier ? [run.run_id, ...runIds] : [...runIds, run.run_id]
}

const QUIET_MS = 200
const LISTED = 50

/** A search among all runs; those of the same source and connection as `like` come first. */
function RunSelect(props: {
  like: RunSummary | null
  taken: readonly string[]
  label: string
  onRun: (run: RunSummary) => void
}) {
  const { like, taken } = props
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed, QUIET_MS)
  const found = useQuery(
    ask.runs.list.queryOptions({ input: { search, limit: LISTED }, placeholderData: keepPreviousData }),
  )
  const alike = useQuery(
    ask.runs.list.queryOptions({
      input: like === null ? skipToken : { search: toFileName(like.source), limit: LISTED },
    }),
  )
  // Runs of the same source may be further back than the newest of all.
  const runs = [...(search === '' ? (alike.data?.entries ?? []) : []), ...(found.data?.entries ?? [])]
    .map(({ summary }) => summary)
    .filter(({ run_id }, index, all) => all.findIndex((other) => other.run_id === run_id) === index)
    .filter(({ run_id }) => !taken.includes(run_id))
  const error = found.error ?? alike.error
  return (
    <>
      <Select
        aria-label={props.label}
        placeholder={`${props.label}: search by name, source, tag or id`}
        flex="1 1 16.5rem"
        maw="32rem"
        searchable
        value={null}
        searchValue={typed}
        onSearchChange={setTyped}
        // The workspace has searched already, in more than the names.
        filter={({ options }) => options}
        nothingFoundMessage={found.isPending ? 'Searching' : 'No other run'}
        data={groupCandidates(like, runs).map(({ group, runs: ofGroup }) => ({
          group,
          items: ofGroup.map((run) => ({ value: run.run_id, label: describeRun(run) })),
        }))}
        onChange={(value) => {
          const run = runs.find(({ run_id }) => run_id === value)
          if (run === undefined) return
          setTyped('')
          props.onRun(run)
        }}
      />
      {error !== null && <ErrorNotice error={error} />}
    </>
  )
}

function toFileName(path: string): string {
  return path.split(/[/\\]/).at(-1) ?? path
}

const NAME_MAX = 50

function describeRun(run: RunSummary): string {
  const name = run.name.length > NAME_MAX ? `${run.name.slice(0, NAME_MAX)}…` : run.name
  const started = formatTimestamp(run.started_at ?? run.created_at).slice(0, 16)
  return `${isLoadTest(run) ? 'Load test: ' : ''}${name} · ${started} · ${describeSize(run)} · ${run.state}`
}

/** Which of several runs is compared with the first by its decisions. */
export function PairSelect(props: {
  runs: readonly RunSummary[]
  decided: readonly RunSummary[]
  value: string
  onValue: (runId: string) => void
}) {
  return (
    <Select
      aria-label="Run to compare with A"
      value={props.value}
      data={props.decided.map((run) => ({
        value: run.run_id,
        label: `A and ${toRunLetter(props.runs.indexOf(run))}`,
      }))}
      onChange={(value) => value !== null && props.onValue(value)}
    />
  )
}

const AUTOMATIC = 'automatic'

/** By what the rows of two runs are joined. */
export function JoinSelect(props: {
  runId: string
  operation: string
  value: string | null
  onValue: (by: string | null) => void
}) {
  const { runId } = props
  const columns = useQuery(ask.results.columns.queryOptions({ input: { runId } })).data ?? []
  const kinds = [
    { value: AUTOMATIC, label: 'Join rows automatically' },
    ...(props.operation === 'task' ? [{ value: 'post_id', label: 'Join rows by post_id' }] : []),
    { value: 'row', label: 'Join rows by number' },
    { value: 'content', label: 'Join rows by content' },
  ]
  const known = new Set(kinds.map(({ value }) => value))
  const named = [...new Set(columns)].filter((column) => column !== '' && !known.has(column))
  return (
    <Select
      aria-label="How rows are joined"
      w="16rem"
      value={props.value ?? AUTOMATIC}
      data={[...kinds, ...named.map((column) => ({ value: column, label: `Join rows by column ${column}` }))]}
      onChange={(value) => props.onValue(value === null || value === AUTOMATIC ? null : value)}
    />
  )
}

/** Runs that may be compared with one, and what they have in common with it. */
interface CandidateGroup {
  group: string
  runs: RunSummary[]
}

/** Sorts runs by what they have in common with a run; within a group they keep their order. Empty groups are left out. */
export function groupCandidates(like: RunSummary | null, runs: readonly RunSummary[]): CandidateGroup[] {
  if (like === null) return runs.length === 0 ? [] : [{ group: 'Newest first', runs: [...runs] }]
  const subject = toBaselineSubject(like)
  const isAlike = (run: RunSummary) => isSameSubject(toBaselineSubject(run), subject)
  const isOfSource = (run: RunSummary) => run.source === like.source
  return [
    { group: 'Same source and connection', runs: runs.filter(isAlike) },
    { group: 'Same source', runs: runs.filter((run) => !isAlike(run) && isOfSource(run)) },
    { group: 'Other runs', runs: runs.filter((run) => !isOfSource(run)) },
  ].filter((one) => one.runs.length > 0)
}
