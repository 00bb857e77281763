// biome-ignore-all lint/a11y/useSemanticElements: rows out of view have no elements, so the roles are spelt out
import { memo, type ReactNode } from 'react'
import { SortTitle } from '../table/sort-title.tsx'
import { ColumnEdge } from './column-width.tsx'
import styles from './grid.module.css'

/** What a person can do with the columns of a grid; what is left out cannot be done. */
export interface ColumnActions {
  /** The column that the rows are sorted by. */
  sorted?: { id: string; order: 'ascending' | 'descending' } | null
  /** Called with a sortable column whose title is pressed. */
  onSort?: (id: string) => void
  /** Called with the new width in rem when the edge of a column was dragged. */
  onResize?: (id: string, rem: number) => void
  /** Called when a column was dropped on another, whose place it takes. */
  onMove?: (id: string, to: string) => void
}

interface HeadColumn {
  id: string
  title: ReactNode
  /** The whole title, where the column may be too narrow for it and it is no string. */
  name?: string
  align?: 'end'
  isSortable?: boolean
}

const DRAGGED_TYPE = 'application/x-sluice-column'

/** The titles of a grid's columns: pressed to sort, dragged to move, their edges dragged to resize. */
export const GridHead = memo(function GridHead(props: {
  columns: readonly HeadColumn[]
  template: string
  minWidth: string
  actions: ColumnActions
  /** Called with the width in rem while an edge is dragged. */
  onResizing: (id: string, rem: number) => void
}) {
  const { actions } = props
  const { onMove, onResize, sorted = null } = actions
  return (
    <div
      className={`small bg-sunken bold ${styles.head}`}
      role="row"
      tabIndex={-1}
      aria-rowindex={1}
      // Until the columns are known, the row has none of the titles that a row must have.
      aria-busy={props.columns.length === 0 || undefined}
      style={{ gridTemplateColumns: props.template, minWidth: props.minWidth }}
    >
      {props.columns.map((column) => (
        <div
          key={column.id}
          role="columnheader"
          className={column.align === 'end' ? 'text-right' : undefined}
          title={readName(column)}
          tabIndex={-1}
          aria-sort={sorted?.id === column.id ? sorted.order : undefined}
          draggable={onMove !== undefined}
          onDragStart={(event) => event.dataTransfer.setData(DRAGGED_TYPE, column.id)}
          onDragOver={(event) => {
            if (event.dataTransfer.types.includes(DRAGGED_TYPE)) event.preventDefault()
          }}
          onDrop={(event) => {
            const dragged = event.dataTransfer.getData(DRAGGED_TYPE)
            if (dragged !== '' && dragged !== column.id) onMove?.(dragged, column.id)
          }}
        >
          <Title column={column} actions={actions} />
          {onResize !== undefined && (
            <ColumnEdge
              onResizing={(rem) => props.onResizing(column.id, rem)}
              onResized={(rem) => onResize(column.id, rem)}
            />
          )}
        </div>
      ))}
    </div>
  )
})

function readName({ title, name }: HeadColumn): string | undefined {
  return name ?? (typeof title === 'string' ? title : undefined)
}

function Title({ column, actions }: { column: HeadColumn; actions: ColumnActions }) {
  const { onSort, sorted = null } = actions
  if (onSort === undefined || column.isSortable !== true) return column.title
  return (
    <SortTitle
      sorted={sorted?.id === column.id ? sorted.order : null}
      hint={`Sort by ${readName(column) ?? 'this column'}`}
      onSort={() => onSort(column.id)}
    >
      {column.title}
    </SortTitle>
  )
}
