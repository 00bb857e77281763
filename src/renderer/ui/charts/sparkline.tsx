import styles from './charts.module.css'

const WIDTH = 80
const HEIGHT = 18
/** So that the line is not cut at the edges. */
const EDGE = 1.5

/** A row of figures as a small line from zero up; `label` says in words what it shows. Nothing for a single figure. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  if (values.length < 2) return null
  return (
    <svg
      className={styles.sparkline}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <polyline points={toSparkPoints(values)} />
    </svg>
  )
}

/** The points of the line, as SVG writes them. */
export function toSparkPoints(values: readonly number[]): string {
  const highest = Math.max(...values, Number.MIN_VALUE)
  const step = (WIDTH - 2 * EDGE) / Math.max(1, values.length - 1)
  return values
    .map((value, index) => {
      const x = EDGE + index * step
      const y = HEIGHT - EDGE - (value / highest) * (HEIGHT - 2 * EDGE)
      return `${x.toFixed(1)},${y.toFixed(1)}`
    })
    .join(' ')
}
