import { useElementSize } from '@mantine/hooks'
import { memo } from 'react'
import type { JudgedRule, ThresholdPoint } from '../../../shared/lookback/evaluation.ts'
import { toShareText } from '../../../shared/lookback/evaluation-view.ts'
import { BottomLabels, LeftAxis } from '../../ui/charts/axes.tsx'
import styles from './scores.module.css'

/** Sizes in pixels. */
const FRAME = { height: 190, left: 60, right: 8, top: 8, bottom: 34 }

const TICKS = [0, 0.5, 1]

interface Place {
  x: (recall: number) => number
  y: (precision: number) => number
}

/** Precision against recall at every threshold, with where the chosen one stands and where the rule itself does. */
export function PrecisionRecallCurve(props: {
  /** Ascending by threshold. */
  points: readonly ThresholdPoint[]
  at: ThresholdPoint
  rule: JudgedRule | null
}) {
  const { points, at, rule } = props
  const { ref, width } = useElementSize()
  const [inner, tall] = [
    Math.max(1, width - FRAME.left - FRAME.right),
    FRAME.height - FRAME.top - FRAME.bottom,
  ]
  const place = {
    x: (recall: number) => FRAME.left + recall * inner,
    y: (precision: number) => FRAME.top + (1 - precision) * tall,
  }
  const decided = rule === null ? null : { precision: rule.precision.value, recall: rule.recall.value }
  return (
    <figure ref={ref} className={styles.curve}>
      <svg
        width="100%"
        height={FRAME.height}
        role="img"
        aria-label={`Precision against recall; at this threshold precision ${toShareText(at.precision)}, recall ${toShareText(at.recall)}`}
      >
        <Curve points={points} width={inner} />
        {decided !== null && decided.precision !== null && decided.recall !== null && (
          <rect
            fill="none"
            stroke="var(--chart-2)"
            strokeWidth={2}
            x={place.x(decided.recall) - 8}
            y={place.y(decided.precision) - 8}
            width={16}
            height={16}
          />
        )}
        {at.precision !== null && at.recall !== null && (
          <circle
            fill="var(--surface)"
            stroke="var(--text)"
            strokeWidth={2}
            cx={place.x(at.recall)}
            cy={place.y(at.precision)}
            r={6}
          />
        )}
      </svg>
      <figcaption className={`small flex flex-wrap ${styles.sliderKey}`}>
        <span>circle: this threshold</span>
        {rule !== null && <span>square: the rule as it decided</span>}
      </figcaption>
    </figure>
  )
}

/** Axes and line, which stay as they are while the threshold moves. */
const Curve = memo(function Curve({ points, width }: { points: readonly ThresholdPoint[]; width: number }) {
  const tall = FRAME.height - FRAME.top - FRAME.bottom
  const place: Place = {
    x: (recall) => FRAME.left + recall * width,
    y: (precision) => FRAME.top + (1 - precision) * tall,
  }
  const line = points
    .filter(({ precision, recall }) => precision !== null && recall !== null)
    .map(
      ({ precision, recall }) => `${place.x(recall ?? 0).toFixed(1)},${place.y(precision ?? 0).toFixed(1)}`,
    )
  return (
    <>
      <LeftAxis
        ticks={TICKS.map((tick) => ({ y: place.y(tick), label: `${tick * 100} %` }))}
        left={FRAME.left}
        right={FRAME.left + width}
      />
      <BottomLabels
        // Labels at the ends stay beside those of the other axis and inside the drawing.
        labels={TICKS.map((tick) => ({
          ...{ x: place.x(tick), label: `${tick * 100} %` },
          ...(tick === 0 ? { anchor: 'start' } : tick === 1 && { anchor: 'end' }),
        }))}
        y={FRAME.height - FRAME.bottom + 14}
      />
      <BottomLabels labels={[{ x: FRAME.left + width / 2, label: 'recall' }]} y={FRAME.height - 6} />
      <text
        fill="var(--text-2)"
        fontSize="0.75rem"
        transform={`translate(10 ${FRAME.top + tall / 2}) rotate(-90)`}
        textAnchor="middle"
      >
        precision
      </text>
      <polyline fill="none" stroke="var(--chart-1)" strokeWidth={2} points={line.join(' ')} />
      {line.length <= DOTS_MAX &&
        line.map((point) => {
          const [x, y] = point.split(',')
          return <circle key={point} fill="var(--chart-1)" cx={x} cy={y} r={2.5} />
        })}
    </>
  )
})

/** Points that are drawn one by one. */
const DOTS_MAX = 40
