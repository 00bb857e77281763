import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import {
  type CSSProperties,
  Fragment,
  type HTMLAttributes,
  type Key,
  type ReactNode,
  type TdHTMLAttributes,
} from 'react'
import styles from './table.module.css'
import type { TableColumns } from './table-columns.tsx'

export interface Column<Row> {
  /** Absent for columns without a title, such as a corner. */
  title?: ReactNode
  /** The title as text, for the menu of columns; needed only if the title is an element. */
  name?: string
  /** A longer description of the title, in a tooltip. */
  hint?: string
  /** Only screen readers get the title. */
  isTitleHidden?: true
  cell: (row: Row, index: number) => ReactNode
  /** Its cells are the rows' headings (default: those of the first column). */
  isRowHead?: boolean
  /** Right-aligned and not wrapped, for figures. */
  isNumber?: true
  /** Right-aligned and as narrow as possible, for buttons; the title is hidden. */
  isActions?: true
  /** A CSS length. */
  width?: string
  /** For the title and every cell. */
  className?: string | undefined
  /** The sort order of its title. */
  sort?: { sorted: Sorted; onSort: () => void } | undefined
  /** Further attributes of a cell; null leaves it out, because a cell beside or above it spans its place. */
  toCell?: (row: Row, index: number) => (TdHTMLAttributes<HTMLTableCellElement> & DataAttributes) | null
}

type DataAttributes = { [name: `data-${string}`]: unknown }

/** A table with its columns as data, and a row for each item. Large scrolling ones are grids (`ui/grid`). */
export function Table<Row>(props: {
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  /** A key that keeps a row's state as rows come and go (default: its index). */
  toKey?: (row: Row, index: number) => Key
  /** Names the table for screen readers. */
  caption?: ReactNode
  isCaptionShown?: true
  /** `dense` has lower rows; `plain` has neither lines nor room at its sides. */
  look?: 'dense' | 'plain'
  hasNoHead?: true
  className?: string | undefined
  toRow?: (row: Row, index: number) => HTMLAttributes<HTMLTableRowElement> & DataAttributes
  /** Content of an additional row below a row; null for none. */
  below?: (row: Row) => ReactNode
  /** The columns that a person hid and resized. */
  view?: TableColumns
  /** Content of the last row. */
  foot?: ReactNode
  /** Replaces a table without rows. */
  empty?: ReactNode
}) {
  const { rows, toKey = (_, index) => index, caption, look, toRow, below, view, empty } = props
  if (rows.length === 0 && empty !== undefined) return <p className="p-3-4 quiet">{empty}</p>
  const columns = props.columns.filter((column) => view === undefined || view.shows(toName(column)))
  const isHeaded = columns.some(({ isRowHead }) => isRowHead !== undefined)
  return (
    <table
      className={join(
        look === 'plain' ? styles.plain : styles.table,
        look === 'dense' && styles.dense,
        props.className,
      )}
    >
      {caption !== undefined && (
        <caption className={props.isCaptionShown ? styles.caption : 'visually-hidden'}>{caption}</caption>
      )}
      {props.hasNoHead !== true && (
        <thead>
          <tr>
            {columns.map((column, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: titles may be alike or absent
              <Head key={index} column={column} view={view} />
            ))}
          </tr>
        </thead>
      )}
      <tbody>
        {rows.map((row, index) => {
          const under = below?.(row) ?? null
          return (
            <Fragment key={toKey(row, index)}>
              <tr {...toRow?.(row, index)}>
                {columns.map((column, place) => {
                  const cell = column.toCell === undefined ? {} : column.toCell(row, index)
                  if (cell === null) return null
                  const isHead = isHeaded ? column.isRowHead === true : place === 0
                  const Cell = isHead ? 'th' : 'td'
                  return (
                    <Cell
                      // biome-ignore lint/suspicious/noArrayIndexKey: titles may be alike or absent
                      key={place}
                      {...(isHead && { scope: 'row' })}
                      {...cell}
                      className={join(toClass(column), cell.className)}
                      style={toStyle(column, view)}
                    >
                      {column.cell(row, index)}
                    </Cell>
                  )
                })}
              </tr>
              {under !== null && (
                <tr>
                  <td colSpan={columns.length}>{under}</td>
                </tr>
              )}
            </Fragment>
          )
        })}
      </tbody>
      {props.foot !== undefined && (
        <tfoot>
          <tr>
            <td colSpan={columns.length}>{props.foot}</td>
          </tr>
        </tfoot>
      )}
    </table>
  )
}

/** Names and values below each other; null and false ones are left out. */
export function FactTable(props: {
  facts: readonly (readonly [name: ReactNode, value: ReactNode] | null | false)[]
  caption?: ReactNode
  className?: string | undefined
  look?: 'dense' | 'plain'
}) {
  const { facts, ...table } = props
  const rows = facts.filter((fact) => fact !== null && fact !== false)
  return <Table {...table} hasNoHead rows={rows} columns={FACT_COLUMNS} />
}

/** {@link FactTable} as a list, each name beside its value. */
export function FactList({
  facts,
  className = '',
}: Pick<Parameters<typeof FactTable>[0], 'facts' | 'className'>) {
  return (
    <dl className={`facts ${className}`}>
      {facts
        .filter((fact) => fact !== null && fact !== false)
        .map(([name, value], index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: names may be alike
          <Fragment key={index}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
    </dl>
  )
}

const FACT_COLUMNS: readonly Column<readonly [ReactNode, ReactNode]>[] = [
  { cell: ([name]) => name },
  { cell: ([, value]) => value },
]

function Head<Row>({ column, view }: { column: Column<Row>; view: TableColumns | undefined }) {
  const { title, hint, isTitleHidden, isActions, sort } = column
  const chosen = view?.head(toName(column))
  if (title === undefined) return <td className={toClass(column)} style={toStyle(column, view)} />
  const shown =
    isTitleHidden || isActions ? (
      <span className="visually-hidden">{title}</span>
    ) : sort === undefined ? (
      title
    ) : (
      <SortTitle {...sort}>{title}</SortTitle>
    )
  return (
    <th
      scope="col"
      title={hint}
      className={toClass(column)}
      aria-sort={sort?.sorted ?? undefined}
      ref={chosen?.ref}
      style={
        chosen === undefined ? toStyle(column, view) : { ...toStyle(column, view), position: 'relative' }
      }
    >
      {shown}
      {chosen?.edge}
    </th>
  )
}

function toClass<Row>({ className, isNumber, isActions }: Column<Row>): string | undefined {
  return join(isNumber && 'text-right nowrap', isActions && styles.actions, className)
}

function toStyle<Row>(column: Column<Row>, view: TableColumns | undefined): CSSProperties | undefined {
  return view?.cell(toName(column)) ?? (column.width === undefined ? undefined : { width: column.width })
}

function toName<Row>({ name, title }: Column<Row>): string {
  return name ?? (typeof title === 'string' ? title : '')
}

function join(...names: (string | false | undefined)[]): string | undefined {
  return names.filter(Boolean).join(' ') || undefined
}

type Sorted = 'ascending' | 'descending' | null

/** A column's title as a button that sorts by it, with an arrow if the rows are sorted. */
export function SortTitle(props: { sorted: Sorted; onSort: () => void; hint?: string; children: ReactNode }) {
  const Arrow = props.sorted === 'ascending' ? IconArrowUp : IconArrowDown
  return (
    <button
      type="button"
      className={`bare inline-flex items-center max-w-full ${styles.sort}`}
      title={props.hint}
      onClick={props.onSort}
    >
      {props.children}
      {props.sorted !== null && <Arrow size="0.9rem" aria-hidden />}
    </button>
  )
}
