import type { Metric } from '../../../shared/lookback/evaluation.ts'
import { describeFigure } from '../../../shared/lookback/evaluation-view.ts'
import styles from './interval-bar.module.css'

/** Width of the mark, in pixels. */
const MARK_PX = 3

/** A share on a line from 0 to 100 %: its 95 % interval as a band, the share itself as a mark. `name` says of what. */
export function IntervalBar({
  name,
  metric,
  large = false,
}: {
  name: string
  metric: Metric
  large?: boolean
}) {
  const { value, low, high } = metric
  return (
    <span
      className={`relative block overflow-hidden w-full rounded ${styles.bar} ${large ? styles.large : ''}`}
      role="img"
      aria-label={value === null ? `${name}: no such rows` : `${name} ${describeFigure(metric)}`}
      title={value === null ? 'No such rows' : describeFigure(metric)}
    >
      {low !== null && high !== null && (
        <span className={styles.band} style={{ left: toPercent(low), width: toPercent(high - low) }} />
      )}
      {value !== null && (
        <span className={styles.point} style={{ width: MARK_PX, left: toMarkPlace(value) }} />
      )}
    </span>
  )
}

/** Where the mark begins, in the bar also at 0 and 100 %. */
function toMarkPlace(share: number): string {
  return `clamp(0px, calc(${toPercent(share)} - ${MARK_PX / 2}px), calc(100% - ${MARK_PX}px))`
}

function toPercent(share: number): string {
  return `${(share * 100).toFixed(2)}%`
}
