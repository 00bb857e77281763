// biome-ignore-all lint/a11y/useSemanticElements: rows out of view have no elements, so the roles are spelt out
import { memo } from 'react'
import type { GridColumn } from './data-grid.tsx'
import styles from './grid.module.css'

interface GridRowProps<Row> {
  id: string
  index: number
  topPx: number
  row: Row | null
  columns: readonly GridColumn<Row>[]
  template: string
  active: boolean
  onPick: (index: number) => void
  onOpen?: (index: number) => void
}

function PlainGridRow<Row>(props: GridRowProps<Row>) {
  const { row, index } = props
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keys for the row under its cursor
    <div
      id={props.id}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={props.active}
      tabIndex={-1}
      className={styles.row}
      style={{ gridTemplateColumns: props.template, top: props.topPx }}
      onClick={() => (props.onOpen ?? props.onPick)(index)}
    >
      {row === null ? (
        <div role="gridcell" tabIndex={-1} className={styles.waiting} aria-label="Loading" />
      ) : (
        props.columns.map((column) => (
          <div
            key={column.id}
            role="gridcell"
            tabIndex={-1}
            className={column.align === 'end' ? `${styles.cell} ${styles.end}` : styles.cell}
          >
            {column.cell(row)}
          </div>
        ))
      )}
    </div>
  )
}

/** One row of a grid; redrawn only when what it shows changes. */
export const GridRow = memo(PlainGridRow) as typeof PlainGridRow
