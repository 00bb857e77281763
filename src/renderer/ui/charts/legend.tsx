import styles from './charts.module.css'

/** One series as the chart draws it. */
export interface LegendEntry {
  label: string
  /** A colour token's name, such as `--chart-1`. */
  token: string
  /** How the line is drawn, so that the colour is not alone. */
  dash?: 'solid' | 'dashed' | 'dotted'
}

/** What the lines of a chart are, each by colour and dash. */
export function Legend({ entries }: { entries: readonly LegendEntry[] }) {
  return (
    <ul className={styles.legend}>
      {entries.map((entry) => (
        <li key={entry.label}>
          <svg width="1.5rem" height="0.5rem" viewBox="0 0 24 8" aria-hidden="true">
            <line
              x1="0"
              x2="24"
              y1="4"
              y2="4"
              stroke={`var(${entry.token})`}
              strokeWidth="2"
              strokeDasharray={toDashArray(entry.dash ?? 'solid')}
            />
          </svg>
          {entry.label}
        </li>
      ))}
    </ul>
  )
}

function toDashArray(dash: 'solid' | 'dashed' | 'dotted'): string | undefined {
  if (dash === 'solid') return undefined
  return dash === 'dashed' ? '6 4' : '2 3'
}
