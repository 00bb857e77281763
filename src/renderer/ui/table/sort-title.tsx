import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import styles from './table.module.css'

/** How rows are sorted by a column; null if they are not. */
export type Sorted = 'ascending' | 'descending' | null

/** The title of a column as a button that sorts by it, with an arrow if the rows are. */
export function SortTitle(props: { sorted: Sorted; onSort: () => void; hint?: string; children: ReactNode }) {
  const Arrow = props.sorted === 'ascending' ? IconArrowUp : IconArrowDown
  return (
    <button
      type="button"
      className={`inline-flex items-center max-w-full p-0 border-0 ${styles.sort}`}
      title={props.hint}
      onClick={props.onSort}
    >
      {props.children}
      {props.sorted !== null && <Arrow size="0.9rem" aria-hidden />}
    </button>
  )
}
