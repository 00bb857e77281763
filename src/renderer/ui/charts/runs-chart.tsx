import { Group } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useState } from 'react'
import { createLinearScale } from '../../../shared/load/chart-scale.ts'
import { dropZeros } from '../../../shared/messages/figure-text.ts'
import { formatTimestamp } from '../format-time.ts'
import { BottomLabels, LeftAxis } from './axes.tsx'
import styles from './charts.module.css'
import { Legend, type LegendEntry, toDashArray } from './plot.tsx'

/** A figure of each run; null where a run does not have it. */
export interface RunsLine extends LegendEntry {
  values: readonly ({ value: number; low?: number | null; high?: number | null } | null)[]
}

export interface ChartedRun {
  runId: string
  name: string
  /** ISO 8601. */
  startedAt: string
}

/** Sizes in pixels. */
const FRAME = { height: 220, left: 64, right: 20, top: 12, bottom: 26, labelWidth: 96 }

/** Figures of runs in the order in which they were started, each run a link that opens it. */
export function RunsChart(props: {
  /** What is drawn, in words. */
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
  const plotWidth = Math.max(1, width - FRAME.left - FRAME.right)
  const band = plotWidth / Math.max(1, runs.length)
  const toX = (index: number) => FRAME.left + band * (index + 0.5)
  const base = FRAME.height - FRAME.bottom
  const toY = (value: number) => FRAME.top + (base - FRAME.top) * (1 - scale.toShare(value))
  const every = Math.max(1, Math.ceil(FRAME.labelWidth / band))
  const toReading = (index: number) =>
    lines.flatMap(({ label, values }) => {
      const one = values[index] ?? null
      return one === null ? [] : [`${label} ${format(one.value)}`]
    })
  const run = picked === null ? undefined : runs[picked]
  return (
    <figure ref={ref} className={`min-w-0 ${styles.distribution}`}>
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing of links is no form */}
      <svg width="100%" height={FRAME.height} role="group" aria-label={props.label}>
        <LeftAxis
          ticks={scale.ticks.map((tick) => ({ y: toY(tick), label: dropZeros(format(tick)) }))}
          left={FRAME.left}
          right={FRAME.left + plotWidth}
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
            className={styles.runBand}
            aria-label={`Open ${name}, ${formatTimestamp(startedAt)}: ${toReading(index).join(', ')}`}
            onPointerEnter={() => setPicked(index)}
            onPointerLeave={() => setPicked(null)}
            onFocus={() => setPicked(index)}
            onBlur={() => setPicked(null)}
          >
            <rect x={toX(index) - band / 2} y={FRAME.top} width={band} height={base - FRAME.top} />
          </a>
        ))}
      </svg>
      <Group
        component="figcaption"
        gap="var(--space-1) var(--space-4)"
        align="stretch"
        justify="space-between"
      >
        <Legend entries={lines} />
        <p className={styles.reading}>
          {picked === null || run === undefined
            ? 'Point at a run for its figures; click to open it'
            : `${formatTimestamp(run.startedAt).slice(0, 16)}: ${toReading(picked).join(', ')}`}
        </p>
      </Group>
    </figure>
  )
}

/** A line through the values, broken where there is none. */
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
