import { Group, Tabs } from '@mantine/core'
import { IconArrowsDiff } from '@tabler/icons-react'
import { useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import type { RunPair } from '../../../shared/bridge/compare.ts'
import type { ChangeFilter } from '../../../shared/lookback/comparison.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { ask } from '../../bridge/client.ts'
import { Empty, ErrorNotice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { isLoadTest } from '../../ui/states/run-state.tsx'
import { ChangesView } from './changes-view.tsx'
import styles from './compare.module.css'
import { DecisionsView, useDecisions } from './decisions-view.tsx'
import { LabelsView } from './labels-view.tsx'
import { LatencyView } from './latency-view.tsx'
import { JoinSelect, PairSelect, RunsPanel } from './runs-panel.tsx'

/** What is shown of two runs; load tests have their latency alone. */
const VIEWS = ['decisions', 'changes', 'labels', 'latency'] as const

type View = (typeof VIEWS)[number]

const NAMES: Record<View, string> = {
  decisions: 'Decisions',
  changes: 'Changed rows',
  labels: 'By labels',
  latency: 'Latency',
}

/** Runs side by side: what was decided differently, how right either run was, and how fast each was. */
export function CompareScreen(props: {
  /** The run that the others are compared with comes first. */
  runIds: readonly string[]
  onRuns: (runIds: readonly string[]) => void
  onOpenRun: (runId: string) => void
  onTrend: (runId: string) => void
}) {
  const { runIds } = props
  const { runs, error } = useQueries({
    queries: runIds.map((runId) => ask.runs.summarize.queryOptions({ input: { runId } })),
    combine: (results) => ({
      runs: results.flatMap(({ data }) => (data === undefined ? [] : [data])),
      error: results.find((result) => result.error !== null)?.error ?? null,
    }),
  })
  const isReady = runIds.length >= 2 && runs.length === runIds.length
  return (
    <Screen title="Compare" subtitle="What changed from one run to another">
      {error !== null && <ErrorNotice error={error} />}
      <RunsPanel
        runIds={runIds}
        runs={runs}
        onRuns={props.onRuns}
        onOpenRun={props.onOpenRun}
        onTrend={props.onTrend}
      />
      {runIds.length < 2 && (
        <Panel title="Comparison">
          <Empty icon={IconArrowsDiff} title="Choose two runs">
            Two bulk runs show which rows were decided differently, and how fast each run was. Load tests are
            compared by latency, up to eight in one chart.
          </Empty>
        </Panel>
      )}
      {isReady && <ComparedRuns key={runIds.join(' ')} runs={runs} />}
    </Screen>
  )
}

function ComparedRuns({ runs }: { runs: readonly RunSummary[] }) {
  const [view, setView] = useState<View>('decisions')
  const [list, setList] = useState<ChangeFilter>({ kind: 'changed' })
  const [by, setBy] = useState<string | null>(null)
  const decided = findDecided(runs)
  const [against, setAgainst] = useState(decided[0]?.run_id ?? null)
  const runIds = runs.map(({ run_id }) => run_id)
  const [first] = runs
  const other = decided.find(({ run_id }) => run_id === against)
  const pair: RunPair | null =
    first === undefined || other === undefined
      ? null
      : { a: first.run_id, b: other.run_id, ...(by !== null && { by }) }
  // Kept for all views.
  useDecisions(pair)
  if (pair === null || other === undefined) return <LatencyView runIds={runIds} />
  const showRows = (chosen: ChangeFilter) => {
    setList(chosen)
    setView('changes')
  }
  return (
    <Tabs
      value={view}
      onChange={(value) => setView(VIEWS.find((one) => one === value) ?? 'decisions')}
      keepMounted={false}
      className={styles.tabs ?? ''}
    >
      <Group gap="var(--space-2) var(--space-4)" justify="space-between">
        <Tabs.List>
          {VIEWS.map((one) => (
            <Tabs.Tab key={one} value={one}>
              {NAMES[one]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {view !== 'latency' && (
          <Group gap="xs" align="stretch" wrap="nowrap">
            {decided.length > 1 && (
              <PairSelect runs={runs} decided={decided} value={other.run_id} onValue={setAgainst} />
            )}
            <JoinSelect runId={other.run_id} operation={other.operation} value={by} onValue={setBy} />
          </Group>
        )}
      </Group>
      <Tabs.Panel value="decisions">
        <DecisionsView pair={pair} onRows={showRows} />
      </Tabs.Panel>
      <Tabs.Panel value="changes">
        <ChangesView pair={pair} list={list} onList={setList} />
      </Tabs.Panel>
      <Tabs.Panel value="labels">
        <LabelsView pair={pair} />
      </Tabs.Panel>
      <Tabs.Panel value="latency">
        <LatencyView runIds={runIds} />
      </Tabs.Panel>
    </Tabs>
  )
}

/** The runs whose decisions can be compared with those of the first: bulk runs of its operation. */
export function findDecided(runs: readonly RunSummary[]): RunSummary[] {
  const [first, ...others] = runs
  if (first === undefined || isLoadTest(first)) return []
  return others.filter((run) => !isLoadTest(run) && run.operation === first.operation)
}
