import { Group, Progress, Stack } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { IconPlayerStop } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { type PointerEvent, useState } from 'react'
import type { CapacityProgress } from '../../../shared/bridge/capacity.ts'
import { parseBridgeError } from '../../../shared/bridge/errors.ts'
import { followCapacity } from '../../../shared/bridge/follow.ts'
import { type CapacityUnit, formatLevel } from '../../../shared/load/capacity-level.ts'
import type { CapacityProbe, CapacityReport } from '../../../shared/load/capacity-report.ts'
import { type CapacityView, toCapacityView } from '../../../shared/load/capacity-view.ts'
import {
  createLinearScale,
  createValueScale,
  formatTick,
  type Scale,
} from '../../../shared/load/chart-scale.ts'
import { type LatencyLimit, listLatencyLimits } from '../../../shared/load/threshold-parser.ts'
import {
  formatCount,
  formatCounted,
  formatMs,
  formatRate,
  formatShare,
  formatSpan,
} from '../../../shared/messages/figure-text.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { useFollowRun, useLiveRuns } from '../../bridge/live-runs.ts'
import { useStream } from '../../bridge/use-stream.ts'
import {
  BottomLabels,
  ChartCursor,
  LeftAxis,
  Legend,
  PERCENTILE_LINES,
  type PlotPlace,
  placePlot,
  toDashArray,
  UprightLine,
} from '../../ui/charts/plot.tsx'
import type { NamePlace } from '../../ui/connection/destination.ts'
import { ConnectionChip } from '../../ui/connection/destination-panel.tsx'
import { ActionButton, CopyButton } from '../../ui/controls.tsx'
import { ErrorNotice, type Figure, Figures, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { VerdictLabel } from '../../ui/states/run-state.tsx'
import { type Column, Table } from '../../ui/table/table.tsx'
import { SafeText, Sentence } from '../../ui/text/safe-text.tsx'
import styles from './capacity.module.css'

/** A capacity search, in progress or ended: the result, the current probe, the curve, every probe. */
export function CapacityScreen(props: {
  searchId: string
  namePlace: NamePlace
  onOpenRun: (runId: string) => void
}) {
  const { searchId } = props
  const { progress, error } = useCapacity(searchId)
  const stop = useMutation(ask.capacity.stop.mutationOptions())
  if (progress === null) {
    return (
      <Screen title="Capacity" subtitle={error === null ? 'Reading the search' : undefined}>
        {error !== null && <ErrorNotice error={error} />}
      </Screen>
    )
  }
  const { report, isOver, current } = progress
  const view = toCapacityView(report, 'window')
  const failure = error ?? stop.error
  return (
    <Screen
      title={`Capacity with ${report.name}`}
      subtitle={
        <>
          {isOver ? 'search is over' : 'searching'}, service{' '}
          <ConnectionChip place={props.namePlace(report.base_url)} />
        </>
      }
      actions={
        isOver || error !== null ? (
          <CopyButton label="Copy the result as JSON" text={() => JSON.stringify(report, null, 2)} />
        ) : (
          <ActionButton
            label="Stop the search"
            loading={stop.isPending}
            icon={IconPlayerStop}
            onClick={() => stop.mutate({ searchId })}
          />
        )
      }
    >
      {failure !== null && <ErrorNotice error={failure} />}
      <AnswerPanel report={report} view={view} isOver={isOver} />
      {!isOver && error === null && <ProbePanel report={report} unit={view.unit} current={current} />}
      <Panel title="Latency over load" aside={`${report.latency}, medians of each level's probes`}>
        <CapacityCurve report={report} unit={view.unit} />
      </Panel>
      <ProbesPanel probes={report.probes} unit={view.unit} onOpenRun={props.onOpenRun} />
    </Screen>
  )
}

/** Follows a search while the screen shows it, also after a lost connection. */
function useCapacity(searchId: string): { progress: CapacityProgress | null; error: unknown } {
  const [progress, setProgress] = useState<CapacityProgress | null>(null)
  const [error, setError] = useState<unknown>(null)
  useStream(
    {
      follow: (signal) => followCapacity(bridge, searchId, signal),
      onSaid: (newest) => {
        setError(null)
        setProgress(newest)
      },
      onEnd: (failure) => {
        if (failure !== null) setError(failure)
        return failure === null || parseBridgeError(failure) !== null ? 'over' : undefined
      },
    },
    searchId,
  )
  return { progress, error }
}

/** What the search found, how certain it is, and by which thresholds. */
function AnswerPanel(props: { report: CapacityReport; view: CapacityView; isOver: boolean }) {
  const { report, view, isOver } = props
  return (
    <Panel title={isOver ? 'Capacity' : 'Capacity so far'} aside={`after ${formatSpan(report.elapsed_ms)}`}>
      <Stack gap="xs">
        <p className="text-figure bold leading-tight">
          {!isOver && report.capacity === null ? 'not known yet' : view.answer}
        </p>
        {view.interval !== '' && <p>{view.interval}</p>}
        {isOver &&
          report.caveats.map((caveat) => (
            <Notice key={caveat} kind="warning" title={<Sentence text={caveat} />} />
          ))}
        {isOver && view.end !== null && (
          <Notice
            kind={report.end === 'max_held' ? 'info' : 'warning'}
            title={<Sentence text={view.end} />}
          />
        )}
        <Group gap="var(--space-1) var(--space-4)" align="stretch">
          <span className="quiet">Thresholds:</span>
          <Group component="ul" gap="var(--space-1) var(--space-4)" align="stretch" aria-label="Thresholds">
            {report.thresholds.map((expression) => (
              <li key={expression}>
                <code>
                  <SafeText text={expression} max={120} />
                </code>
              </li>
            ))}
          </Group>
        </Group>
      </Stack>
    </Panel>
  )
}

function ProbePanel(props: {
  report: CapacityReport
  unit: CapacityUnit
  current: CapacityProgress['current']
}) {
  const { report, unit, current } = props
  if (current === null) {
    return (
      <Panel title="Now" aside={countProbes(report)}>
        <p className="quiet">Pause before the next probe.</p>
      </Panel>
    )
  }
  return (
    <Panel
      title={`Probe ${current.number} at ${formatLevel(unit, current.level)}`}
      aside={countProbes(report)}
    >
      <LiveProbe key={current.runId} runId={current.runId} report={report} />
    </Panel>
  )
}

function countProbes({ probes, settings }: CapacityReport): string {
  return `${formatCount(probes.length)} of at most ${formatCount(settings.max_probes)} probes finished`
}

function LiveProbe({ runId, report }: { runId: string; report: CapacityReport }) {
  useFollowRun(runId)
  const load = useLiveRuns((live) => live.snapshots[runId]?.load)
  if (load === null || load === undefined) return <p className="quiet">The rows are being read.</p>
  const { warmup_ms: warmupMs, measured_ms: measuredMs } = report.settings
  const doneMs = warmupMs + load.elapsedMs
  const latency = load.latencyMs[report.latency]
  const isWarmup = load.phase === 'warmup' && warmupMs > 0
  const figures: Figure[] = [
    {
      label: isWarmup ? 'Warm-up, not measured' : 'Measured',
      value: formatSpan(Math.max(0, isWarmup ? doneMs : load.elapsedMs)),
      note: `of ${formatSpan(isWarmup ? warmupMs : measuredMs)}`,
    },
    {
      label: 'Achieved',
      value: load.achievedPerS === null ? '–' : formatRate(load.achievedPerS),
      unit: 'requests/s',
      note: 'in the last second',
    },
    {
      label: 'Did not succeed',
      value: formatShare(load.failed, load.requests),
      note: `${formatCount(load.failed)} of ${formatCount(load.requests)}`,
    },
    {
      label: `${report.latency} p99`,
      value: latency === null || latency === undefined ? '–' : formatMs(latency.p99),
    },
  ]
  return (
    <Stack gap="xs">
      <Progress
        size="sm"
        aria-label="Progress of the probe"
        value={Math.min(100, Math.max(0, (100 * doneMs) / (warmupMs + measuredMs)))}
      />
      <Figures figures={figures} />
    </Stack>
  )
}

const VERDICTS = {
  held: 'held',
  failed: 'failed',
  void: 'void: delays of this machine may have decided it',
} as const

function ProbesPanel(props: {
  probes: readonly CapacityProbe[]
  unit: CapacityUnit
  onOpenRun: (runId: string) => void
}) {
  const { probes, unit } = props
  if (probes.length === 0) return null
  return (
    <Panel title="Probes" aside={formatCounted(probes.length, 'probe')} flush scrolls>
      <Table
        className={styles.table}
        caption="Probes"
        rows={probes}
        toKey={(probe) => probe.run_id}
        columns={[
          {
            title: 'Probe',
            cell: (probe, index) => (
              <button type="button" className="link" onClick={() => props.onOpenRun(probe.run_id)}>
                Probe {index + 1} at {formatLevel(unit, probe.level)}
              </button>
            ),
          },
          {
            title: 'Verdict',
            cell: ({ verdict, reasons }) => (
              <>
                <VerdictLabel verdict={verdict} word={VERDICTS[verdict]} />
                {reasons.map((reason) => (
                  <p key={reason} className="quiet">
                    <Sentence text={reason} />
                  </p>
                ))}
              </>
            ),
          },
          ...(['p50', 'p95', 'p99'] as const).map(
            (title): Column<CapacityProbe> => ({
              title,
              isNumber: true,
              cell: (probe) => (probe.latency_ms === null ? '–' : formatMs(probe.latency_ms[title])),
            }),
          ),
          {
            title: 'Unsuccessful',
            isNumber: true,
            cell: (probe) => (probe.failed_share === null ? '–' : formatShare(probe.failed_share)),
          },
          { title: 'Succeeded', isNumber: true, cell: (probe) => `${formatRate(probe.succeeded_per_s)}/s` },
        ]}
      />
    </Panel>
  )
}

const FRAME = { height: 300, left: 64, right: 24, top: 16, bottom: 40 }

type Point = CapacityReport['curve'][number]

/** Latency over load: the medians of each level's probes, which levels held, and the capacity. */
function CapacityCurve({ report, unit }: { report: CapacityReport; unit: CapacityUnit }) {
  const { ref, width } = useElementSize()
  const [picked, setPicked] = useState<number | null>(null)
  const { curve, interval } = report
  if (curve.length === 0) return <p className="quiet">Drawn from the first finished probe on.</p>
  const shaded =
    interval.low === null || interval.high === null ? null : { low: interval.low, high: interval.high }
  const limits = listLatencyLimits(report.thresholds).filter(({ metric }) => metric === report.latency)
  const x = createLinearScale(Math.max(...curve.map(({ level }) => level)))
  const measured = curve.flatMap(({ latency_ms }) =>
    latency_ms === null ? [] : PERCENTILE_LINES.map(({ point }) => latency_ms[point]),
  )
  const y = createValueScale([...measured, ...limits.map(({ value }) => value)])
  const plot = placePlot(FRAME, width)
  const toX = (level: number) => plot.x(x.toShare(level))
  const toY = (ms: number) => plot.y(y.toShare(ms))
  const pick = (event: PointerEvent) => {
    const at = event.clientX - event.currentTarget.getBoundingClientRect().left
    const distances = curve.map(({ level }) => Math.abs(toX(level) - at))
    setPicked(distances.indexOf(Math.min(...distances)))
  }
  const point = picked === null ? undefined : curve[Math.min(picked, curve.length - 1)]
  const reading =
    point === undefined ? 'Point at a level for its figures' : describePoint(point, unit, report.latency)
  return (
    <figure ref={ref} className={'min-w-0'}>
      <div className="relative">
        <svg
          width="100%"
          height={FRAME.height}
          role="img"
          aria-label={`${report.latency} by ${unit === 'rate' ? 'rate' : 'concurrency'}: ${curve.map((one) => describePoint(one, unit, report.latency)).join('; ')}`}
          onPointerMove={pick}
          onPointerLeave={() => setPicked(null)}
        >
          {shaded !== null && (
            <rect
              fill="var(--chart-limited)"
              x={toX(shaded.low)}
              width={Math.max(2, toX(shaded.high) - toX(shaded.low))}
              y={FRAME.top}
              height={plot.base - FRAME.top}
            />
          )}
          <Axes x={x} y={y} toX={toX} toY={toY} plot={plot} unit={unit} />
          {point !== undefined && <UprightLine x={toX(point.level)} from={FRAME.top} to={plot.base} />}
          {limits.map(({ label, value }) => (
            <g key={label} className={styles.limit}>
              <line x1={FRAME.left} x2={plot.right} y1={toY(value)} y2={toY(value)} />
              <text textAnchor="end" x={plot.right} y={toY(value) - 4}>
                {label}
              </text>
            </g>
          ))}
          {PERCENTILE_LINES.map(({ point: of, token, dash }) => (
            <polyline
              key={of}
              fill="none"
              strokeWidth={2}
              stroke={`var(${token})`}
              strokeDasharray={toDashArray(dash)}
              points={curve
                .flatMap(({ level, latency_ms }) =>
                  latency_ms === null ? [] : [`${toX(level)},${toY(latency_ms[of])}`],
                )
                .join(' ')}
            />
          ))}
          {curve.map((one) => (
            <LevelMark key={one.level} point={one} at={toMarkedPoint(limits)} toX={toX} toY={toY} />
          ))}
        </svg>
        <ChartCursor
          label="Levels that were probed"
          count={curve.length}
          index={picked}
          text={reading}
          onIndex={setPicked}
        />
      </div>
      <Group gap="var(--space-1) var(--space-4)" align="stretch" justify="space-between" mt="xs">
        <Legend entries={PERCENTILE_LINES} />
        <p className="quiet">● held, ✕ failed{shaded !== null && '; shaded: the capacity lies in here'}</p>
      </Group>
      <figcaption className={`quiet text-sm ${styles.reading}`}>{reading}</figcaption>
    </figure>
  )
}

/** `at 320/s: held 3 of 3, p50 12 ms, p95 80 ms, p99 140 ms, 0 % unsuccessful, 318/s succeeded`. */
function describePoint(point: Point, unit: CapacityUnit, latency: string): string {
  const { level, held, failed, latency_ms: ms, failed_share: share, succeeded_per_s: rate } = point
  return [
    `at ${formatLevel(unit, level)}: held ${held} of ${held + failed}`,
    ...(ms === null
      ? [`no ${latency}`]
      : [`p50 ${formatMs(ms.p50)}`, `p95 ${formatMs(ms.p95)}`, `p99 ${formatMs(ms.p99)}`]),
    ...(share === null ? [] : [`${formatShare(share)} unsuccessful`]),
    `${formatRate(rate)}/s succeeded`,
  ].join(', ')
}

type DrawnPercentile = (typeof PERCENTILE_LINES)[number]['point']

/** The percentile to mark levels at: the first that a threshold limits, so marks below its line held. */
export function toMarkedPoint(limits: readonly Pick<LatencyLimit, 'percentile'>[]): DrawnPercentile {
  const drawn = limits.flatMap(({ percentile }) =>
    PERCENTILE_LINES.filter(({ point }) => point === `p${percentile}`),
  )
  return drawn[0]?.point ?? 'p99'
}

/** Shows in shape and colour whether a level held, at one of its percentiles. */
function LevelMark(props: {
  point: Point
  at: DrawnPercentile
  toX: (level: number) => number
  toY: (ms: number) => number
}) {
  const { level, held, failed, latency_ms } = props.point
  const x = props.toX(level)
  const y = latency_ms === null ? FRAME.top : props.toY(latency_ms[props.at])
  return held > failed ? (
    <circle fill="var(--state-succeeded)" cx={x} cy={y} r={5} />
  ) : (
    <path
      fill="none"
      stroke="var(--state-failed)"
      strokeWidth={2.5}
      d={`M${x - 5} ${y - 5}L${x + 5} ${y + 5}M${x - 5} ${y + 5}L${x + 5} ${y - 5}`}
    />
  )
}

function Axes(props: {
  x: Scale
  y: Scale
  toX: (level: number) => number
  toY: (ms: number) => number
  plot: PlotPlace
  unit: CapacityUnit
}) {
  const { x, y, toX, toY, plot } = props
  // There are no halves of a request in flight.
  const levels = props.unit === 'rate' ? x.ticks : x.ticks.filter(Number.isInteger)
  return (
    <g aria-hidden>
      <LeftAxis
        ticks={y.ticks.map((tick) => ({
          y: toY(tick),
          label: tick >= 1000 ? `${formatTick(tick / 1000)} s` : `${formatTick(tick)} ms`,
        }))}
        left={FRAME.left}
        right={plot.right}
        gap={8}
      />
      <BottomLabels
        labels={levels.map((tick) => ({ x: toX(tick), label: formatTick(tick) }))}
        y={plot.base + 18}
      />
      <BottomLabels
        labels={[
          {
            x: plot.x(0.5),
            label: props.unit === 'rate' ? 'requests per second' : 'requests in flight',
          },
        ]}
        y={FRAME.height - 6}
      />
    </g>
  )
}
