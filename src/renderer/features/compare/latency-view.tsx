import { Group, SegmentedControl, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  COMPARED_PERCENTILES,
  describeLimited,
  formatPercentileName,
  toRunLetter,
} from '../../../shared/load/compare-text.ts'
import type { LatencyOverlay, OverlaidRun } from '../../../shared/load/latency-overlay.ts'
import type { DifferenceComparison, LoadComparison, Verdict } from '../../../shared/load/load-comparison.ts'
import { METRICS } from '../../../shared/load/metrics.ts'
import { formatPoints } from '../../../shared/lookback/comparison-text.ts'
import {
  formatCount,
  formatFigure,
  formatMs,
  formatRate,
  formatShare,
} from '../../../shared/messages/figure-text.ts'
import { toPlanDifferencesTable } from '../../../shared/report/comparison-report.ts'
import { ask } from '../../bridge/client.ts'
import { LatencyOverlayChart, type OverlayKind, RUN_LINES } from '../../ui/charts/latency-overlay.tsx'
import { ErrorNotice, Notice, Panel } from '../../ui/layout/screen.tsx'
import { ReportTable } from '../../ui/table/report-table.tsx'
import { type Column, Table } from '../../ui/table/table.tsx'
import { SafeText, TextList } from '../../ui/text/safe-text.tsx'
import styles from './compare.module.css'

/** How fast runs were: this machine's health, then whether the first or another was slower, then figures. */
export function LatencyView({ runIds }: { runIds: readonly string[] }) {
  const {
    data: overlay,
    error,
    refetch,
  } = useQuery(
    ask.compare.latency.queryOptions({
      input: { runIds: [...runIds] },
      staleTime: Number.POSITIVE_INFINITY,
    }),
  )
  if (error !== null) return <ErrorNotice error={error} onRetry={refetch} />
  if (overlay === undefined)
    return (
      <Group component="p" gap="sm" justify="center" wrap="nowrap" p="lg" c="dimmed">
        Reading the latencies
      </Group>
    )
  return (
    <div className="grid one-column gap-4">
      <LimitedNotice runs={overlay.runs.filter((run) => run.isLimited)} />
      {overlay.runs.map((run) => (
        <UnfinishedNotice key={run.runId} run={run} />
      ))}
      {overlay.comparisons.map((comparison, index) => (
        <SentencePanel key={comparison.b} letter={toRunLetter(index + 1)} comparison={comparison} />
      ))}
      <LatencyPanel overlay={overlay} />
      {overlay.comparisons.map((comparison, index) => (
        <PlansPanel key={comparison.b} letter={toRunLetter(index + 1)} comparison={comparison} />
      ))}
    </div>
  )
}

/** Says that latencies of runs may include delays of this machine, and how much; nothing if they do not. */
function LimitedNotice({ runs }: { runs: readonly OverlaidRun[] }) {
  if (runs.length === 0) return null
  const reasons = runs.flatMap(({ letter, limitedBecause }) =>
    limitedBecause.map((why) => `${letter}: ${why}`),
  )
  return (
    <Notice kind="warning" title={describeLimited(runs.map(({ letter }) => letter))}>
      A verdict that these delays may explain has a question mark. {reasons.join(' ')}
    </Notice>
  )
}

/** Says that a run is not over, or ended early; nothing if it was measured to its end. */
function UnfinishedNotice({ run }: { run: OverlaidRun }) {
  const { letter, name, state } = run
  if (state === 'completed') return null
  const title = (
    <>
      {letter}, <SafeText text={name} max={60} />, {state === 'running' ? 'is still running' : 'ended early'}
    </>
  )
  return (
    <Notice kind="warning" title={title}>
      It measured {formatFigure(run.durationS)} s and {formatCount(run.requests)} requests
      {state === 'running' && ' so far; its figures will change'}.
    </Notice>
  )
}

/** Whether a run is slower than the first, as far as the figures show, with caveats. */
function SentencePanel({ letter, comparison }: { letter: string; comparison: LoadComparison }) {
  const { sentence, caveats, failedShare, succeededPerS } = comparison
  return (
    <Panel title={`${letter} compared with A`}>
      <div className="grid one-column gap-4">
        <p className="bold" style={{ maxWidth: '64rem' }}>
          <SafeText text={sentence} max={1_000} lines />
        </p>
        {caveats.length > 0 && <TextList texts={caveats} max={500} className="grid gap-1 mt-1 pl-4 disc" />}
        <p className="quiet">
          Unsuccessful requests: A {formatShare(failedShare.a)}, {letter} {formatShare(failedShare.b)}
          {sayRange(failedShare, formatPoints, ' points')}. Succeeded requests: A{' '}
          {formatRate(succeededPerS.a)}/s, {letter} {formatRate(succeededPerS.b)}/s
          {sayRange(succeededPerS, formatRate, '/s')}.
        </p>
      </div>
    </Panel>
  )
}

function sayRange(
  { low, high }: DifferenceComparison,
  format: (value: number) => string,
  unit: string,
): string {
  return low === null || high === null ? '' : ` (a difference of ${format(low)} to ${format(high)}${unit})`
}

const FIRST_METRIC = 'http_req_duration'

/** One latency of all runs in one chart, and its percentiles. */
function LatencyPanel({ overlay }: { overlay: LatencyOverlay }) {
  const [kind, setKind] = useState<OverlayKind>('curve')
  const [wanted, setWanted] = useState<string>(FIRST_METRIC)
  const series = overlay.series.find(({ metric }) => metric === wanted) ?? overlay.series[0]
  if (series === undefined) {
    return (
      <Panel title="Latency">
        <p className="quiet">None of the runs measured a latency.</p>
      </Panel>
    )
  }
  const lines = overlay.runs.map((run, index) => ({
    ...(RUN_LINES[index] ?? { token: '--chart-1', dash: 'solid' as const }),
    label: `${run.letter} ${run.name}`,
    letter: run.letter,
    latency: series.latencies[index] ?? null,
  }))
  return (
    <Panel
      title="Latency"
      aside={
        <>
          <Select
            aria-label="Latency"
            size="xs"
            value={series.metric}
            data={overlay.series.map(({ metric }) => metric)}
            onChange={(value) => value !== null && setWanted(value)}
          />
          <SegmentedControl
            size="xs"
            aria-label="Kind of chart"
            value={kind}
            data={[
              { value: 'curve', label: 'Percentile curve' },
              { value: 'distribution', label: 'Distribution' },
            ]}
            onChange={setKind}
          />
        </>
      }
    >
      <div className="grid one-column gap-4">
        <p className="quiet">
          <code>{series.metric}</code>: {METRICS[series.metric].meaning}
        </p>
        <LatencyOverlayChart name={series.metric} kind={kind} series={lines} />
        <PercentilesCompared overlay={overlay} series={series} />
      </div>
    </Panel>
  )
}

/** Percentiles of all runs, with the change for those after the first. */
function PercentilesCompared(props: { overlay: LatencyOverlay; series: LatencyOverlay['series'][number] }) {
  const { overlay, series } = props
  return (
    <Table
      className={styles.table}
      caption={`Percentiles of ${series.metric}`}
      rows={[...COMPARED_PERCENTILES, null]}
      columns={[
        { title: 'Percentile', cell: (row) => (row === null ? 'Answers' : formatPercentileName(row[0])) },
        ...overlay.runs.map(
          ({ letter }, index): Column<(typeof COMPARED_PERCENTILES)[number] | null> => ({
            title: index === 0 ? letter : `${letter}, change from A`,
            isNumber: true,
            cell: (row) => {
              const percentiles = series.latencies[index]?.percentiles
              if (row === null) {
                return (
                  <>
                    {percentiles?.count === undefined ? 'unknown' : formatCount(percentiles.count)}
                    {index > 0 && <span className={`ml-3 quiet text-left ${styles.verdict}`} />}
                  </>
                )
              }
              const [percentile, key] = row
              const ms = percentiles?.[key]
              const comparison = index === 0 ? undefined : overlay.comparisons[index - 1]
              const compared = comparison?.series
                .find(({ metric }) => metric === series.metric)
                ?.percentiles.find((one) => one.percentile === percentile)
              return (
                <>
                  {ms === undefined ? '–' : formatMs(ms)}
                  {compared !== undefined && <ChangeOfPercentile {...compared} />}
                </>
              )
            },
          }),
        ),
      ]}
    />
  )
}

/** `+12.3 % slower`; in doubt if delays of this machine may explain the verdict. */
function ChangeOfPercentile(props: {
  ratio: number
  low: number | null
  high: number | null
  verdict: Verdict
  mayBeOwn?: true
}) {
  const { ratio, low, high, verdict, mayBeOwn = false } = props
  const range =
    low === null || high === null
      ? 'range unknown'
      : `${formatPercent(low)} to ${formatPercent(high)} with 99 % confidence`
  return (
    <span
      className={`ml-3 quiet text-left ${styles.verdict}`}
      data-verdict={mayBeOwn ? 'unclear' : verdict}
      title={range}
    >
      {formatPercent(ratio)} {mayBeOwn ? `${verdict}?` : verdict}
    </span>
  )
}

/** The difference of a ratio from 1: `+12.3 %`, `−4.0 %`. */
export function formatPercent(ratio: number): string {
  const percent = (ratio - 1) * 100
  const text = Math.abs(percent) >= 99.95 ? formatCount(Math.round(percent)) : percent.toFixed(1)
  return `${percent > 0 ? '+' : ''}${text.replace('-', '−')} %`
}

/** Differences between the plans of a run and of the first run. */
function PlansPanel({ letter, comparison }: { letter: string; comparison: LoadComparison }) {
  const { planDifferences } = comparison
  if (planDifferences.length === 0) return null
  return (
    <Panel
      title={`Plans of A and ${letter}`}
      aside="What differs below may explain what differs above"
      flush
      scrolls
    >
      <ReportTable
        className={`${styles.table} ${styles.settings}`}
        toRow={(_, index) => ({ title: planDifferences[index]?.path })}
        caption={`Differences of the plans of A and ${letter}`}
        table={toPlanDifferencesTable(planDifferences, { setting: 'Setting', b: letter })}
      />
    </Panel>
  )
}
