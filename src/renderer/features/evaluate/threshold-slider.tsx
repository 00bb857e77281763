import { useElementSize } from '@mantine/hooks'
import { type KeyboardEvent, memo, type PointerEvent } from 'react'
import type { ScoreBar } from '../../../shared/lookback/evaluation.ts'
import { formatScore } from '../../../shared/lookback/evaluation-view.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import styles from './scores.module.css'

/** Sizes in pixels: half the picture for each kind of rows, and a line of scores under it. */
const FRAME = { half: 84, left: 8, right: 8, axis: 22 }
const HEIGHT = 2 * FRAME.half + FRAME.axis
const LABEL_PX = 48

/** Thresholds that Page Up and Page Down pass, as a share of all. */
const LEAP = 0.1

/**
 * The distribution of the scores, rows that should trigger above the line and all others below it, both on one scale,
 * with a threshold that is dragged over it or moved by keys. `thresholds` are ascending.
 */
export function ThresholdSlider(props: {
  name: string
  bars: readonly ScoreBar[]
  thresholds: readonly number[]
  threshold: number
  /** What a threshold would find, in words. */
  describe: (threshold: number) => string
  onThreshold: (threshold: number) => void
}) {
  const { name, bars, thresholds, threshold, onThreshold } = props
  const { ref, width } = useElementSize()
  const inner = Math.max(1, width - FRAME.left - FRAME.right)
  const at = Math.max(
    0,
    thresholds.findIndex((one) => one >= threshold),
  )
  const x = FRAME.left + toShare(bars, threshold) * inner
  const drag = (event: PointerEvent<HTMLElement>) => {
    const from = event.currentTarget.getBoundingClientRect().left
    const score = toScore(bars, (event.clientX - from - FRAME.left) / inner)
    const nearest = findNearest(thresholds, score)
    if (nearest !== null && nearest !== threshold) onThreshold(nearest)
  }
  const press = (event: KeyboardEvent) => {
    const leap = Math.max(1, Math.round(thresholds.length * LEAP))
    const next: Record<string, number> = {
      ArrowLeft: at - 1,
      ArrowDown: at - 1,
      ArrowRight: at + 1,
      ArrowUp: at + 1,
      PageDown: at - leap,
      PageUp: at + leap,
      Home: 0,
      End: thresholds.length - 1,
    }
    const index = next[event.key]
    if (index === undefined) return
    event.preventDefault()
    const chosen = thresholds[Math.min(thresholds.length - 1, Math.max(0, index))]
    if (chosen !== undefined) onThreshold(chosen)
  }
  return (
    <figure className={styles.sliderFigure}>
      <div
        ref={ref}
        className={styles.slider}
        role="slider"
        tabIndex={0}
        aria-label={name}
        aria-valuemin={thresholds[0] ?? 0}
        aria-valuemax={thresholds.at(-1) ?? 0}
        aria-valuenow={threshold}
        aria-valuetext={props.describe(threshold)}
        onKeyDown={press}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          drag(event)
        }}
        onPointerMove={(event) => {
          if (event.currentTarget.hasPointerCapture(event.pointerId)) drag(event)
        }}
      >
        <svg width="100%" height={HEIGHT} aria-hidden="true">
          <rect
            fill="var(--accent-wash)"
            x={x}
            y={0}
            width={Math.max(0, FRAME.left + inner - x)}
            height={2 * FRAME.half}
          />
          <Histogram bars={bars} inner={inner} />
          <line stroke="var(--text)" strokeWidth={2} x1={x} x2={x} y1={0} y2={2 * FRAME.half} />
          <circle fill="var(--surface)" stroke="var(--text)" strokeWidth={2} cx={x} cy={FRAME.half} r={6} />
        </svg>
      </div>
      <figcaption className={`small flex flex-wrap ${styles.sliderKey}`}>
        <span data-kind="positives">
          above the line: should trigger, at most {formatCounted(toHighest(bars, 'positives'), 'row')} a bar
        </span>
        <span data-kind="negatives">
          below: should not, at most {formatCounted(toHighest(bars, 'negatives'), 'row')} a bar
        </span>
        <span>shaded: would trigger, score ≥ {formatScore(threshold)}</span>
      </figcaption>
    </figure>
  )
}

/** The bars, which stay as they are while the threshold moves. */
const Histogram = memo(function Histogram({ bars, inner }: { bars: readonly ScoreBar[]; inner: number }) {
  const step = inner / Math.max(1, bars.length)
  const gap = step > 4 ? Math.max(1, step * 0.08) : 0
  const most = Math.max(toHighest(bars, 'positives'), toHighest(bars, 'negatives'))
  // Few are still some: a bar that is there is seen.
  const toHeight = (rows: number) => (rows === 0 ? 0 : Math.max(1.5, (rows / most) * (FRAME.half - 6)))
  const every = Math.max(1, Math.ceil(LABEL_PX / step))
  return (
    <>
      {bars.map((bar, index) => {
        const [up, down] = [toHeight(bar.positives), toHeight(bar.negatives)]
        const place = { x: FRAME.left + index * step + gap / 2, width: Math.max(1, step - gap) }
        const range =
          bar.from === bar.to ? formatScore(bar.from) : `${formatScore(bar.from)} to ${formatScore(bar.to)}`
        return (
          <g key={bar.from}>
            <title>
              {`score ${range}: ${formatCount(bar.positives)} that should trigger, ${formatCount(bar.negatives)} that should not`}
            </title>
            <rect fill="transparent" {...place} y={0} height={2 * FRAME.half} />
            <rect fill="var(--chart-1)" {...place} y={FRAME.half - up} height={up} />
            <rect fill="var(--chart-2)" {...place} y={FRAME.half} height={down} />
            {index % every === 0 && (
              <text
                fill="var(--text-2)"
                fontSize="0.75rem"
                textAnchor={bar.from === bar.to ? 'middle' : 'start'}
                x={bar.from === bar.to ? place.x + place.width / 2 : place.x}
                y={HEIGHT - 6}
              >
                {formatTick(bar.from)}
              </text>
            )}
          </g>
        )
      })}
      <line
        stroke="var(--line-strong)"
        x1={FRAME.left}
        x2={FRAME.left + inner}
        y1={FRAME.half}
        y2={FRAME.half}
      />
    </>
  )
})

function toHighest(bars: readonly ScoreBar[], kind: 'positives' | 'negatives'): number {
  return bars.reduce((most, bar) => Math.max(most, bar[kind]), 0)
}

/** About three digits. */
function formatTick(score: number): string {
  return String(Number(score.toPrecision(3)))
}

/** Where a threshold stands: at the left edge of its score where each score has a bar, else along the scores. */
function toShare(bars: readonly ScoreBar[], threshold: number): number {
  if (isEach(bars)) {
    const at = bars.findIndex(({ from }) => from >= threshold)
    return at === -1 ? 1 : at / bars.length
  }
  const [lowest, highest] = [bars[0]?.from ?? 0, bars.at(-1)?.to ?? 1]
  return highest === lowest ? 0 : Math.min(1, Math.max(0, (threshold - lowest) / (highest - lowest)))
}

function toScore(bars: readonly ScoreBar[], share: number): number {
  const within = Math.min(1, Math.max(0, share))
  if (isEach(bars)) return bars[Math.min(bars.length - 1, Math.round(within * bars.length))]?.from ?? 0
  const [lowest, highest] = [bars[0]?.from ?? 0, bars.at(-1)?.to ?? 1]
  return lowest + within * (highest - lowest)
}

function isEach(bars: readonly ScoreBar[]): boolean {
  return bars.every(({ from, to }) => from === to)
}

function findNearest(thresholds: readonly number[], score: number): number | null {
  let [from, to] = [0, thresholds.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((thresholds[middle] ?? 0) < score) from = middle + 1
    else to = middle
  }
  const [below, above] = [thresholds[from - 1], thresholds[from]]
  if (below === undefined || above === undefined) return above ?? below ?? null
  return score - below < above - score ? below : above
}
