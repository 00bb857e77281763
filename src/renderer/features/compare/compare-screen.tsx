import { Button, Group, Select, Tabs } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconArrowsDiff, IconArrowsUpDown, IconChartLine, IconX } from '@tabler/icons-react'
import { keepPreviousData, skipToken, useQueries, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { LabelChoice, RunPair } from '../../../shared/bridge/compare.ts'
import { toRunLetter } from '../../../shared/load/compare-text.ts'
import { isSameSubject, toBaselineSubject } from '../../../shared/lookback/baseline.ts'
import {
  type ChangeFilter,
  type ChangeOfMetrics,
  COMPARED_MAX,
  type DecisionComparison,
} from '../../../shared/lookback/comparison.ts'
import { describeUnjudged, formatP, formatPoints } from '../../../shared/lookback/comparison-text.ts'
import type { Metric } from '../../../shared/lookback/evaluation.ts'
import { FIGURES, toShareText } from '../../../shared/lookback/evaluation-view.ts'
import { formatCounted, listCounts } from '../../../shared/messages/figure-text.ts'
import { describeState } from '../../../shared/messages/state-name.ts'
import { isSameSource, nameSource } from '../../../shared/plan/source-paths.ts'
import { countLeftOut, listLeftOut } from '../../../shared/run/item-state.ts'
import { type RunSummary, toShownState } from '../../../shared/run/run.ts'
import { ask } from '../../bridge/client.ts'
import type { NamePlace } from '../../ui/connection/destination.ts'
import { ActionButton, IconButton } from '../../ui/controls.tsx'
import { formatTimestamp } from '../../ui/format-time.ts'
import { LabelsForm } from '../../ui/labels/labels-form.tsx'
import { Empty, ErrorNotice, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { nameOperation } from '../../ui/operations/operation-looks.tsx'
import { isLoadTest, RunStateLabel } from '../../ui/states/run-state.tsx'
import { type Column, Table } from '../../ui/table/table.tsx'
import { MessageText, SafeText } from '../../ui/text/safe-text.tsx'
import { BaselineMenu, useBaselines } from './baseline-menu.tsx'
import { ChangesView } from './changes-view.tsx'
import styles from './compare.module.css'
import { DecisionsView, Joining, useDecisions } from './decisions-view.tsx'
import { LatencyView } from './latency-view.tsx'

/** Views of two runs; load tests only have latency. */
const VIEWS = ['decisions', 'changes', 'labels', 'latency'] as const

type View = (typeof VIEWS)[number]

const NAMES: Record<View, string> = {
  decisions: 'Decisions',
  changes: 'Changed rows',
  labels: 'By labels',
  latency: 'Latency',
}

interface CompareProps {
  /** The run that the others are compared with comes first. */
  runIds: readonly string[]
  onRuns: (runIds: readonly string[]) => void
  onOpenRun: (runId: string) => void
  onTrend: (runId: string) => void
  namePlace: NamePlace
}

/** Runs side by side: different decisions, how right each run was, and how fast. */
export function CompareScreen(props: CompareProps) {
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
      <RunsPanel {...props} runs={runs} />
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
  const [labels, setLabels] = useState<LabelChoice | null>(null)
  const decided = findDecided(runs)
  const [against, setAgainst] = useState(decided[0]?.run_id ?? null)
  const runIds = runs.map(({ run_id }) => run_id)
  const [first] = runs
  const other = decided.find(({ run_id }) => run_id === against)
  const pair: RunPair | null =
    first === undefined || other === undefined
      ? null
      : { a: first.run_id, b: other.run_id, ...(by !== null && { by }) }
  // Keeps the query active for all views.
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
      className="grid one-column gap-4"
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
        <LabelsView pair={pair} labels={labels} onLabels={setLabels} />
      </Tabs.Panel>
      <Tabs.Panel value="latency">
        <LatencyView runIds={runIds} />
      </Tabs.Panel>
    </Tabs>
  )
}

/** The runs whose decisions can be compared with the first's: bulk runs of the same operation. */
export function findDecided(runs: readonly RunSummary[]): RunSummary[] {
  const [first, ...others] = runs
  if (first === undefined || isLoadTest(first)) return []
  return others.filter((run) => !isLoadTest(run) && run.operation === first.operation)
}

/** How right both runs were, by the labels of a column or by verdicts. */
function LabelsView(props: {
  pair: RunPair
  /** The labels behind the figures; null until some are chosen. */
  labels: LabelChoice | null
  onLabels: (labels: LabelChoice) => void
}) {
  const { pair, labels } = props
  const judged = useQuery(
    ask.compare.byLabels.queryOptions({ input: labels === null ? skipToken : { ...pair, labels } }),
  )
  const choices = useQuery(ask.evaluate.choices.queryOptions({ input: { runId: pair.b } }))
  const decisions = useDecisions(pair)
  const error = choices.error ?? decisions.error
  if (error !== null) return <ErrorNotice error={error} />
  if (choices.data === undefined || decisions.data === undefined) return <Joining />
  return (
    <div className="grid one-column gap-4">
      <Panel title="Labels of the rows of B">
        <LabelsForm
          choices={choices.data}
          rules={decisions.data.joined.rules.map(({ rule }) => rule)}
          action="Compare by labels"
          busy={judged.isFetching}
          used={labels}
          onLabels={props.onLabels}
        />
      </Panel>
      {judged.error !== null && <ErrorNotice error={judged.error} />}
      {labels !== null && judged.isPending && <Joining />}
      {judged.data?.warnings
        // Those of the decisions stand on their own page.
        .filter((warning) => !decisions.data.warnings.includes(warning))
        .map((warning) => (
          <Notice key={warning} kind="warning" title={<MessageText text={warning} max={500} />} />
        ))}
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

/** A rule's first line has the cells that all of its lines share. */
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

/** Sizes in pixels; the drawing spans −100 to +100 points. */
const DRAWING = { width: 200, height: 18 }

/** A change of a share with its interval; zero is in the middle. */
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

/** The compared runs in order, and controls to change them. */
function RunsPanel(props: CompareProps & { runs: readonly RunSummary[] }) {
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
                      text={`${nameOperation(run.operation)} · ${props.namePlace(run.base_url, run.connection).name}`}
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
              cell: (run) => <RunStateLabel state={toShownState(run)} isLoadTest={isLoadTest(run)} />,
            },
            { title: 'Baseline', cell: (run) => <BaselineMenu run={run} /> },
            {
              title: 'Remove',
              isActions: true,
              cell: (run) => (
                <IconButton
                  icon={IconX}
                  label={`Remove ${run.name} from the comparison`}
                  onClick={() => onRuns(runIds.filter((runId) => runId !== run.run_id))}
                />
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
            onRun={(run) => onRuns(addRun(run, runIds, runs[0]))}
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
  const unsent = listLeftOut(run.rows).map(
    ({ state, rows }) => [rows, describeState({ state, attempts: 0 })] as const,
  )
  return [formatCounted(run.rows.read - countLeftOut(run.rows), 'row'), ...listCounts(unsent)].join(', ')
}

/** The ids with one more run: a second one is placed by its time, later ones last. `only` is the first. */
export function addRun(run: RunSummary, runIds: readonly string[], only: RunSummary | undefined): string[] {
  const isEarlier = runIds.length === 1 && only !== undefined && run.created_at < only.created_at
  return isEarlier ? [run.run_id, ...runIds] : [...runIds, run.run_id]
}

const QUIET_MS = 200
const LISTED = 50

/** A search among all runs; those with the same source and connection as `like` come first. */
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
      input: like === null ? skipToken : { search: nameSource({ path: like.source }), limit: LISTED },
    }),
  )
  // Runs of the same source may be older than the newest runs overall.
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
        // The workspace has already searched, not only in names.
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

const NAME_MAX = 50

function describeRun(run: RunSummary): string {
  const name = run.name.length > NAME_MAX ? `${run.name.slice(0, NAME_MAX)}…` : run.name
  const started = formatTimestamp(run.started_at ?? run.created_at).slice(0, 16)
  return `${isLoadTest(run) ? 'Load test: ' : ''}${name} · ${started} · ${describeSize(run)} · ${toShownState(run)}`
}

/** Selects which of several runs is compared with the first by its decisions. */
function PairSelect(props: {
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

/** Selects how the rows of two runs are paired. */
function JoinSelect(props: {
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

/** Runs to compare with one, with what they have in common with it. */
interface CandidateGroup {
  group: string
  runs: RunSummary[]
}

/** Groups runs by what they have in common with a run, in their order within a group. Omits empty groups. */
export function groupCandidates(like: RunSummary | null, runs: readonly RunSummary[]): CandidateGroup[] {
  if (like === null) return runs.length === 0 ? [] : [{ group: 'Newest first', runs: [...runs] }]
  const subject = toBaselineSubject(like)
  const isAlike = (run: RunSummary) => isSameSubject(toBaselineSubject(run), subject)
  const isOfSource = (run: RunSummary) => isSameSource(run.source, like.source)
  return [
    { group: 'Same source and connection', runs: runs.filter(isAlike) },
    { group: 'Same source', runs: runs.filter((run) => !isAlike(run) && isOfSource(run)) },
    { group: 'Other runs', runs: runs.filter((run) => !isOfSource(run)) },
  ].filter((one) => one.runs.length > 0)
}
