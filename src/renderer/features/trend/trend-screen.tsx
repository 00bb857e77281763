import { Group as MantineGroup, SegmentedControl } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { skipToken, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { create } from 'zustand'
import type { LabelChoice, TrendQuestion } from '../../../shared/bridge/compare.ts'
import { createLinearScale } from '../../../shared/load/chart-scale.ts'
import type { Metric } from '../../../shared/lookback/evaluation.ts'
import { FIGURES } from '../../../shared/lookback/evaluation-view.ts'
import {
  listJudged,
  listTrendWarnings,
  listTriggered,
  suggestPattern,
  type Trend,
  type TrendPoint,
} from '../../../shared/lookback/trend.ts'
import {
  dropZeros,
  formatCount,
  formatCounted,
  formatMs,
  formatShare,
  P99_LEAST,
} from '../../../shared/messages/figure-text.ts'
import { ask } from '../../bridge/client.ts'
import { useLiveRuns } from '../../bridge/live-runs.ts'
import chartStyles from '../../ui/charts/charts.module.css'
import { RUN_LINES } from '../../ui/charts/latency-overlay.tsx'
import {
  BottomLabels,
  ChartFoot,
  LeftAxis,
  type LegendEntry,
  placePlot,
  toDashArray,
} from '../../ui/charts/plot.tsx'
import type { NamePlace } from '../../ui/connection/destination.ts'
import { ActionButton, SelectField, TextField } from '../../ui/controls.tsx'
import { formatTimestamp } from '../../ui/format-time.ts'
import { LabelsForm } from '../../ui/labels/labels-form.tsx'
import { Columns, ErrorNotice, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { nameOperation } from '../../ui/operations/operation-looks.tsx'
import { type Column, Table } from '../../ui/table/table.tsx'
import { MessageText, SafeText, toSentence } from '../../ui/text/safe-text.tsx'
import styles from './trend.module.css'

/** Links to runs, and names of their services. */
interface LinesProps {
  hrefOf: (runId: string) => string
  namePlace: NamePlace
}

/** What a person asked of the trend of a run. */
interface TrendChoices {
  labels: LabelChoice | null
  /** Whether the labels are chosen. */
  wantsLabels: boolean
  group: Group | null
  /** Null for the kind of the run. */
  product: 'run' | 'load' | null
}

const NO_CHOICES: TrendChoices = { labels: null, wantsLabels: false, group: null, product: null }

/** Remembers the choices for each run while the window is open: a point of a chart leads to another run. */
const useChoices = create<Readonly<Record<string, TrendChoices>>>(() => ({}))

/** All runs of the source of a run, oldest first: rules, latency and, with labels, how right each run was. */
export function TrendScreen(props: { runId: string } & LinesProps) {
  const { runId, ...links } = props
  const { labels, wantsLabels, group, product } = useChoices((known) => known[runId] ?? NO_CHOICES)
  const choose = (part: Partial<TrendChoices>) =>
    useChoices.setState((known) => ({ [runId]: { ...(known[runId] ?? NO_CHOICES), ...part } }))
  const asked = { runId, ...(group !== null && { group }) }
  const trend = useQuery(ask.compare.trend.queryOptions({ input: asked }))
  const judged = useQuery({
    ...ask.compare.trend.queryOptions({ input: { ...asked, ...(labels !== null && { labels }) } }),
    enabled: labels !== null,
  })
  const data = (labels === null ? undefined : judged.data) ?? trend.data
  const own = data?.runs.find((run) => run.run_id === runId)
  const shown = product ?? (own?.is_load_test ? 'load' : 'run')
  const runs = (data?.runs ?? []).filter((run) => run.is_load_test === (shown === 'load'))
  const latest = runs.at(-1)?.run_id
  const choices = useQuery(
    ask.evaluate.choices.queryOptions({
      input: wantsLabels && shown === 'run' && latest !== undefined ? { runId: latest } : skipToken,
    }),
  )
  const hasBoth = data !== undefined && runs.length < data.runs.length
  return (
    <Screen
      title="Trend"
      actions={
        <>
          {hasBoth && (
            <SegmentedControl
              aria-label="Kind of run"
              value={shown}
              data={[
                { value: 'run', label: 'Runs' },
                { value: 'load', label: 'Load tests' },
              ]}
              onChange={(chosen) => choose({ product: chosen })}
            />
          )}
          {shown === 'run' && !wantsLabels && (
            <ActionButton label="Add labels…" onClick={() => choose({ wantsLabels: true })} />
          )}
        </>
      }
    >
      {trend.error !== null && <ErrorNotice error={trend.error} onRetry={trend.refetch} />}
      <GroupForm runId={runId} group={group} onGroup={(chosen) => choose({ group: chosen })} />
      <p className={`small ${styles.quiet}`}>
        {data === undefined ? (
          'Reading the runs'
        ) : (
          <>
            {SAID_OF[data.by]} <SafeText text={data.source} max={1_000} lines />
          </>
        )}
      </p>
      {choices.error !== null && <ErrorNotice error={choices.error} onRetry={choices.refetch} />}
      {wantsLabels && choices.data !== undefined && (
        <Panel title="Labels">
          <LabelsForm
            choices={choices.data}
            rules={findCommonRules(runs).map(({ rule }) => rule)}
            action="Evaluate every run"
            busy={judged.isFetching}
            used={labels}
            onLabels={(chosen) => choose({ labels: chosen })}
          />
        </Panel>
      )}
      {judged.error !== null && <ErrorNotice error={judged.error} />}
      {listTrendWarnings(runs, sayRun).map((warning) => (
        <Notice key={warning} kind="warning" title={<MessageText text={warning} max={500} />} />
      ))}
      {data !== undefined && runs.length === 0 && (
        <Panel title="Runs">
          <p>No {shown === 'load' ? 'load test' : 'bulk run'} of this source.</p>
        </Panel>
      )}
      {runs.length > 0 && <Charts runs={runs} hrefOf={links.hrefOf} />}
      {runs.length > 0 && <RunsTable runs={runs} {...links} />}
    </Screen>
  )
}

/** A run by name and start, as in the table. */
function sayRun({ name, started_at: startedAt }: TrendPoint): string {
  return `${name.replaceAll('`', '')} of ${formatTimestamp(startedAt)}`
}

/** Words before the name of what a trend's runs have in common. */
const SAID_OF: Record<Trend['by'], string> = {
  sources: 'All runs of',
  pattern: 'All runs of sources called',
  tag: 'All runs with the tag',
}

/** Runs that a person groups; those of one source always belong together. */
type Group = NonNullable<TrendQuestion['group']>

type GroupKind = 'source' | Group['kind']

/** Selects the runs: those of the run's source, of sources with similar names, or with a tag. */
function GroupForm(props: { runId: string; group: Group | null; onGroup: (group: Group | null) => void }) {
  const { runId, group, onGroup } = props
  const run = useLiveRuns((live) => live.summaries[runId])
  const [kind, setKind] = useState<GroupKind>(group?.kind ?? 'source')
  const suggested = run === undefined ? null : suggestPattern(run.source)
  const [typed, setTyped] = useState(group?.kind === 'pattern' ? group.pattern : null)
  const pattern = (typed ?? suggested ?? '').trim()
  const tags = run?.tags ?? []
  const [firstTag] = tags
  const choose = (chosen: GroupKind) => {
    setKind(chosen)
    if (chosen === 'source') onGroup(null)
    else if (chosen === 'tag' && firstTag !== undefined) onGroup({ kind: 'tag', tag: firstTag })
    else if (chosen === 'pattern' && pattern !== '') onGroup({ kind: 'pattern', pattern })
  }
  return (
    <MantineGroup gap="md" align="end" className="flex-wrap">
      <SelectField
        label="Runs of"
        value={kind}
        onValue={choose}
        data={[
          { value: 'source', label: 'this source' },
          { value: 'pattern', label: 'sources with similar names' },
          ...(tags.length === 0 ? [] : [{ value: 'tag' as const, label: 'a tag' }]),
        ]}
      />
      {kind === 'pattern' && (
        <form
          className="row items-end gap-3"
          onSubmit={(event) => {
            event.preventDefault()
            if (pattern !== '') onGroup({ kind: 'pattern', pattern })
          }}
        >
          <TextField
            w="18rem"
            label="Name of the source"
            placeholder="posts-*.csv"
            isLiteral
            maxLength={4_096}
            value={typed ?? suggested ?? ''}
            onValue={setTyped}
          />
          <ActionButton
            type="submit"
            label="Show"
            disabled={pattern === '' || (group?.kind === 'pattern' && group.pattern === pattern)}
          />
        </form>
      )}
      {kind === 'tag' && tags.length > 1 && (
        <SelectField
          label="Tag"
          value={group?.kind === 'tag' ? group.tag : ''}
          onValue={(tag) => onGroup({ kind: 'tag', tag })}
          data={tags}
        />
      )}
    </MantineGroup>
  )
}

function Charts({ runs, hrefOf }: { runs: Trend['runs']; hrefOf: (runId: string) => string }) {
  const charted = runs.map(({ run_id, name, started_at }) => ({
    runId: run_id,
    name,
    startedAt: started_at,
  }))
  const rules = findCommonRules(runs)
  const metrics = toMetricLines(runs)
  const limited = runs.filter((run) => run.generator_limited).length
  const triggered = listTriggered(runs).length - rules.length
  const judged = listJudged(runs).length - metrics.length
  return (
    <>
      {limited > 0 && (
        <Notice kind="warning" title="Latencies of some runs may include delays of this machine">
          The table marks them.
        </Notice>
      )}
      {triggered + judged > 0 && (
        <Notice kind="info" title={`Up to ${RULES_DRAWN} rules are shown`}>
          {toSentence(
            [
              ...(triggered > 0
                ? [`${formatCounted(triggered, 'further rule')} triggered in fewer rows`]
                : []),
              ...(judged > 0 ? [`${formatCounted(judged, 'further rule')} judged by labels`] : []),
            ].join('; '),
          )}
        </Notice>
      )}
      <Columns least="34rem">
        {rules.length > 0 && (
          <Panel title="Rows that triggered a rule" aside="Share of the rows that succeeded">
            <RunsChart
              label="Share of rows that triggered each rule, by run"
              runs={charted}
              lines={rules.map(({ rule, values }, index) => ({ ...toLook(index), label: rule, values }))}
              format={(share) => formatShare(share)}
              hrefOf={hrefOf}
            />
          </Panel>
        )}
        {metrics.map(({ title, lines }) => (
          <Panel key={title} title={title} aside="With 95 % intervals">
            <RunsChart
              label={`${title}, by run`}
              runs={charted}
              lines={lines.map((line, index) => ({ ...toLook(index), ...line }))}
              format={(share) => formatShare(share)}
              hrefOf={hrefOf}
            />
          </Panel>
        ))}
        <Panel title="Latency" aside={<code>http_req_duration</code>}>
          <RunsChart
            label="Latency by run"
            runs={charted}
            lines={[toLatencyLine(runs, 'p50', 0), toLatencyLine(runs, 'p99', 1)]}
            format={formatMs}
            hrefOf={hrefOf}
          />
        </Panel>
      </Columns>
    </>
  )
}

function toLook(index: number): Pick<RunsLine, 'token' | 'dash'> {
  return RUN_LINES[index % RUN_LINES.length] ?? { token: '--chart-1', dash: 'solid' }
}

function toLatencyLine(runs: readonly TrendPoint[], name: 'p50' | 'p99', index: number): RunsLine {
  return {
    ...toLook(index),
    label: name,
    values: runs.map(({ latency_ms: latency }) => (latency === null ? null : { value: latency[name] })),
  }
}

/** The charts' figures, a line for each run. */
function RunsTable({ runs, hrefOf, namePlace }: { runs: Trend['runs'] } & LinesProps) {
  const rules = findCommonRules(runs)
  const isLoad = runs[0]?.is_load_test ?? false
  return (
    <Panel title={isLoad ? 'Load tests' : 'Runs'} aside="Oldest first" flush scrolls>
      <Table
        caption="Figures of each run, oldest first"
        rows={runs}
        toKey={(run) => run.run_id}
        columns={[
          {
            title: 'Run',
            cell: (run) => (
              <>
                <a className="bold" href={hrefOf(run.run_id)}>
                  <SafeText text={run.name} max={60} />
                </a>
                <div className={`small ${styles.quiet}`}>
                  <SafeText
                    text={`${nameOperation(run.operation)} · ${namePlace(run.base_url).name}`}
                    max={120}
                  />
                </div>
                {run.without_metrics !== null && (
                  <div className={`small ${styles.quiet}`}>
                    not evaluated: <SafeText text={run.without_metrics} max={300} />
                  </div>
                )}
              </>
            ),
          },
          { title: 'Started', cell: (run) => formatTimestamp(run.started_at) },
          { title: 'State', cell: (run) => run.load_failure ?? run.state },
          { title: isLoad ? 'Requests' : 'Rows', isNumber: true, cell: (run) => formatCount(run.rows) },
          { title: 'Unsuccessful', isNumber: true, cell: (run) => formatCount(run.unsuccessful) },
          ...rules.map(
            ({ rule, values }): Column<TrendPoint> => ({
              title: <SafeText text={rule} max={40} />,
              isNumber: true,
              cell: (_, index) => toShareText(values[index] ?? null),
            }),
          ),
          { title: 'p50', isNumber: true, cell: (run) => toMsText(run.latency_ms?.p50) },
          {
            title: 'p99',
            isNumber: true,
            cell: (run) => (
              <>
                {toMsText(run.latency_ms?.p99)}
                {run.latency_ms !== null && run.rows < P99_LEAST && (
                  <div className={`small ${styles.quiet}`}>the slowest</div>
                )}
                {run.generator_limited && (
                  <div className={`small ${styles.quiet}`}>limited by this machine</div>
                )}
              </>
            ),
          },
        ]}
      />
    </Panel>
  )
}

function toShareText(one: { value: number } | null): string {
  return one === null ? '–' : formatShare(one.value)
}

function toMsText(ms: number | undefined): string {
  return ms === undefined ? '–' : formatMs(ms)
}

/** Rules drawn; more lines could not be told apart. */
const RULES_DRAWN = 6

/** The drawn rules, each with its share in every run. */
export function findCommonRules(runs: readonly TrendPoint[]) {
  return listTriggered(runs).slice(0, RULES_DRAWN)
}

/** A chart for each judged rule: its precision, recall and F1 in each evaluated run. */
export function toMetricLines(runs: readonly TrendPoint[]): {
  title: string
  lines: { label: string; values: ({ value: number; low: number | null; high: number | null } | null)[] }[]
}[] {
  return listJudged(runs)
    .slice(0, RULES_DRAWN)
    .map((name) => ({
      title: `${name}, by labels`,
      lines: FIGURES.map(({ name: key, title: label }) => ({
        label,
        values: runs.map(({ metrics }) => {
          const judged = metrics?.rules.find(({ rule }) => rule === name)
          return judged === undefined ? null : toPoint(judged[key])
        }),
      })),
    }))
}

function toPoint({ value, low, high }: Metric) {
  return value === null ? null : { value, low, high }
}

/** A figure of each run; null for a run without it. */
interface RunsLine extends LegendEntry {
  values: readonly ({ value: number; low?: number | null; high?: number | null } | null)[]
}

interface ChartedRun {
  runId: string
  name: string
  /** ISO 8601. */
  startedAt: string
}

const FRAME = { height: 220, left: 64, right: 20, top: 12, bottom: 26, labelWidth: 96 }

/** Figures of runs in the order of their starts; each run is a link that opens it. */
function RunsChart(props: {
  /** Describes the drawing in words. */
  label: string
  runs: readonly ChartedRun[]
  lines: readonly RunsLine[]
  format: (value: number) => string
  hrefOf: (runId: string) => string
}) {
  const { runs, lines, format } = props
  const { ref, width } = useElementSize()
  const [picked, setPicked] = useState<number | null>(null)
  const highest = Math.max(
    0,
    ...lines.flatMap(({ values }) => values.map((one) => (one === null ? 0 : (one.high ?? one.value)))),
  )
  const scale = createLinearScale(highest)
  const plot = placePlot(FRAME, width)
  const band = plot.width / Math.max(1, runs.length)
  const toX = (index: number) => FRAME.left + band * (index + 0.5)
  const toY = (value: number) => plot.y(scale.toShare(value))
  const every = Math.max(1, Math.ceil(FRAME.labelWidth / band))
  const toReading = (index: number) =>
    lines.flatMap(({ label, values }) => {
      const one = values[index] ?? null
      return one === null ? [] : [`${label} ${format(one.value)}`]
    })
  const run = picked === null ? undefined : runs[picked]
  return (
    <figure ref={ref} className={'min-w-0'}>
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing of links is no form */}
      <svg width="100%" height={FRAME.height} role="group" aria-label={props.label}>
        <LeftAxis
          ticks={scale.ticks.map((tick) => ({ y: toY(tick), label: dropZeros(format(tick)) }))}
          left={FRAME.left}
          right={plot.right}
        />
        <BottomLabels
          labels={runs.flatMap(({ startedAt }, index) =>
            index % every === 0 ? [{ x: toX(index), label: formatTimestamp(startedAt).slice(5, 16) }] : [],
          )}
          y={FRAME.height - 8}
        />
        {lines.map(({ label, token, dash = 'solid', values }) => (
          <g key={label} stroke={`var(${token})`} fill={`var(${token})`}>
            <path
              d={toBrokenPath(values, toX, toY)}
              fill="none"
              strokeWidth="2"
              strokeDasharray={toDashArray(dash)}
            />
            {values.map((one, index) =>
              one === null ? null : (
                <g key={runs[index]?.runId}>
                  {typeof one.low === 'number' && typeof one.high === 'number' && (
                    <line
                      x1={toX(index)}
                      x2={toX(index)}
                      y1={toY(one.low)}
                      y2={toY(one.high)}
                      strokeWidth="1"
                    />
                  )}
                  <circle cx={toX(index)} cy={toY(one.value)} r="3.5" />
                </g>
              ),
            )}
          </g>
        ))}
        {runs.map(({ runId, name, startedAt }, index) => (
          <a
            key={runId}
            href={props.hrefOf(runId)}
            className={chartStyles.runBand}
            aria-label={`Open ${name}, ${formatTimestamp(startedAt)}: ${toReading(index).join(', ')}`}
            onPointerEnter={() => setPicked(index)}
            onPointerLeave={() => setPicked(null)}
            onFocus={() => setPicked(index)}
            onBlur={() => setPicked(null)}
          >
            <rect x={toX(index) - band / 2} y={FRAME.top} width={band} height={plot.base - FRAME.top} />
          </a>
        ))}
      </svg>
      <ChartFoot
        entries={lines}
        reading={
          picked === null || run === undefined
            ? 'Point at a run for its figures; click to open it'
            : `${formatTimestamp(run.startedAt).slice(0, 16)}: ${toReading(picked).join(', ')}`
        }
      />
    </figure>
  )
}

/** A line through the values, with gaps for missing ones. */
function toBrokenPath(
  values: RunsLine['values'],
  toX: (index: number) => number,
  toY: (value: number) => number,
): string {
  return values
    .map((one, index) => {
      if (one === null) return ''
      const isFirst = index === 0 || values[index - 1] === null
      return `${isFirst ? 'M' : 'L'}${toX(index)} ${toY(one.value)}`
    })
    .join('')
}
