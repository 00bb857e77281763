import type { ReactNode } from 'react'
import styles from './layout.module.css'

/** One number with its name: what a measuring instrument shows. */
export interface Figure {
  label: string
  value: ReactNode
  /** A word or unit set smaller next to the value. */
  unit?: string
  /** A line under the value. */
  note?: ReactNode
}

/** Numbers side by side, each under its name. */
export function Figures({ figures }: { figures: Figure[] }) {
  return (
    <dl className={styles.figures}>
      {figures.map((figure) => (
        <div key={figure.label} className={styles.figure}>
          <dt>{figure.label}</dt>
          <dd>
            <span className={styles.figureValue}>{figure.value}</span>
            {figure.unit !== undefined && <span className={styles.figureUnit}> {figure.unit}</span>}
            {figure.note !== undefined && <div className={styles.figureNote}>{figure.note}</div>}
          </dd>
        </div>
      ))}
    </dl>
  )
}
