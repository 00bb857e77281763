import { Group, Tabs } from '@mantine/core'
import { IconArrowsDiff } from '@tabler/icons-react'
import { skipToken, useQueries, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { LabelChoice, RunPair } from '../../../shared/bridge/compare.ts'
import type {
  ChangeFilter,
  ChangeOfMetrics,
  DecisionComparison,
} from '../../../shared/lookback/comparison.ts'
import { describeUnjudged, formatP, formatPoints } from '../../../shared/lookback/comparison-text.ts'
import type { Metric } from '../../../shared/lookback/evaluation.ts'
import { FIGURES, toShareText } from '../../../shared/lookback/evaluation-view.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { ask } from '../../bridge/client.ts'
import { LabelsForm } from '../../ui/labels/labels-form.tsx'
import { Empty, ErrorNotice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { isLoadTest } from '../../ui/states/run-state.tsx'
import { type Column, Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { ChangesView } from './changes-view.tsx'
import styles from './compare.module.css'
import { DecisionsView, Joining, useDecisions } from './decisions-view.tsx'
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

/** How right both runs were, by the labels of a column or by verdicts. */
function LabelsView({ pair }: { pair: RunPair }) {
  const [labels, setLabels] = useState<LabelChoice | null>(null)
  const judged = useQuery(
    ask.compare.byLabels.queryOptions({ input: labels === null ? skipToken : { ...pair, labels } }),
  )
  const choices = useQuery(ask.evaluate.choices.queryOptions({ input: { runId: pair.b } }))
  const decisions = useDecisions(pair)
  const error = choices.error ?? decisions.error
  if (error !== null) return <ErrorNotice error={error} />
  if (choices.data === undefined || decisions.data === undefined) return <Joining />
  return (
    <div className={styles.stack}>
      <Panel title="Labels of the rows of B">
        <LabelsForm
          choices={choices.data}
          rules={decisions.data.joined.rules.map(({ rule }) => rule)}
          action="Compare by labels"
          busy={judged.isFetching}
          onLabels={setLabels}
        />
      </Panel>
      {judged.error !== null && <ErrorNotice error={judged.error} />}
      {labels !== null && judged.isPending && <Joining />}
      {judged.data !== undefined && <MetricsPanel judged={judged.data} />}
    </div>
  )
}

type JudgedPair = NonNullable<DecisionComparison['labels']>

function MetricsPanel({ judged }: { judged: JudgedPair }) {
  const left = describeUnjudged(judged)
  const rules = [
    ...(judged.rules.length > 1 ? [{ rule: 'Any of these rules', ...judged.overall }] : []),
    ...judged.rules,
  ]
  return (
    <Panel
      title={`${formatCounted(judged.rows, 'labelled row')} that both runs answered`}
      aside={left === '' ? undefined : left}
      flush
      scrolls
    >
      <Table
        className={styles.table}
        caption="Precision, recall and F1 of both runs by rule"
        rows={rules.flatMap((rule) =>
          FIGURES.map(({ name: key, title: name }, index) => ({ rule, key, name, index })),
        )}
        columns={COLUMNS}
      />
      <p className="small p-3-4 border-t">
        Where an interval does not cross the middle line, the change is unlikely to be chance.
      </p>
    </Panel>
  )
}

interface MetricLine {
  rule: { rule: string } & ChangeOfMetrics
  key: (typeof FIGURES)[number]['name']
  name: string
  index: number
}

/** The first line of a rule has what all of its lines share. */
const spanLines: Column<MetricLine>['toCell'] = ({ index }) =>
  index === 0 ? { rowSpan: FIGURES.length } : null

const COLUMNS: readonly Column<MetricLine>[] = [
  { title: 'Rule', toCell: spanLines, cell: ({ rule }) => <SafeText text={rule.rule} max={60} /> },
  { title: 'Metric', className: styles.metric, cell: ({ name }) => name },
  { title: 'A', isNumber: true, cell: ({ rule, key }) => toShareText(rule.a[key].value) },
  { title: 'B', isNumber: true, cell: ({ rule, key }) => toShareText(rule.b[key].value) },
  {
    title: 'Change in points, with its 95 % interval',
    cell: ({ rule, key, name }) => (
      <ChangeDrawing name={`${name} of ${rule.rule}`} change={rule.change[key]} />
    ),
  },
  { title: 'Right only in', toCell: spanLines, cell: ({ rule }) => <RightOnly rule={rule} /> },
]

function RightOnly({ rule }: { rule: ChangeOfMetrics }) {
  return (
    <>
      A: {formatCounted(rule.right_only_in_a, 'row')}
      <br />
      B: {formatCounted(rule.right_only_in_b, 'row')}
      <br />
      <span className="quiet">p {formatP(rule.p)}</span>
    </>
  )
}

/** Sizes in pixels; the drawing reaches from −100 to +100 points. */
const DRAWING = { width: 200, height: 18 }

/** A change of a share with its interval, around none in the middle. */
function ChangeDrawing({ name, change }: { name: string; change: Metric }) {
  const { value, low, high } = change
  if (value === null) return '–'
  const toX = (share: number) => ((share + 1) / 2) * DRAWING.width
  const range = low === null || high === null ? '' : `${formatPoints(low)} to ${formatPoints(high)}`
  const isSure = low !== null && high !== null && (low > 0 || high < 0)
  return (
    <span
      className={`inline-flex items-center gap-3 nowrap ${styles.change}`}
      data-direction={!isSure ? 'unclear' : value > 0 ? 'better' : 'worse'}
    >
      <svg
        width={DRAWING.width}
        height={DRAWING.height}
        role="img"
        aria-label={`Change of ${name}: ${formatPoints(value)} points${range === '' ? '' : `, ${range}`}`}
      >
        <line stroke="var(--line)" x1="0" x2={DRAWING.width} y1="9" y2="9" />
        <line stroke="var(--line-strong)" x1={toX(0)} x2={toX(0)} y1="0" y2={DRAWING.height} />
        {low !== null && high !== null && (
          <rect x={toX(low)} y="6" width={Math.max(1, toX(high) - toX(low))} height="6" rx="1" />
        )}
        <circle cx={toX(value)} cy="9" r="4" />
      </svg>
      <span>
        {formatPoints(value)} <span className="quiet">{range}</span>
      </span>
    </span>
  )
}
