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

/** A column of a table: its title, and what stands in it for each row. */
export interface Column<Row> {
  /** Absent over cells that have none, such as a corner. */
  title?: ReactNode
  /** The title in words, for the menu of columns; needed only if the title is an element. */
  name?: string
  /** More about the title, in a tooltip. */
  hint?: string
  /** The title is there for who cannot see the table. */
  isTitleHidden?: true
  cell: (row: Row, index: number) => ReactNode
  /** Its cells name their rows. Those of the first column do if no column says so. */
  isRowHead?: boolean
  /** Figures stand at the right, in one line. */
  isNumber?: true
  /** Buttons stand at the right, in as little room as they need; the title is hidden. */
  isActions?: true
  /** A CSS length. */
  width?: string
  /** Of the title and of every cell. */
  className?: string | undefined
  /** The order that its title gives the rows. */
  sort?: { sorted: Sorted; onSort: () => void } | undefined
  /** What a cell has besides; null leaves it out, because one beside or above it spans its place. */
  toCell?: (row: Row, index: number) => (TdHTMLAttributes<HTMLTableCellElement> & DataAttributes) | null
}

type DataAttributes = { [name: `data-${string}`]: unknown }

/**
 * A table: its columns as data, and a row for each thing that it is about. Large ones that scroll by themselves are
 * grids, see `ui/grid`.
 */
export function Table<Row>(props: {
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  /** What keeps the state of a row as rows come and go; its place if absent. */
  toKey?: (row: Row, index: number) => Key
  /** Names the table for who cannot see it. */
  caption?: ReactNode
  isCaptionShown?: true
  /** `dense` has lower rows; `plain` has neither lines nor room at its sides. */
  look?: 'dense' | 'plain'
  hasNoHead?: true
  className?: string | undefined
  toRow?: (row: Row, index: number) => HTMLAttributes<HTMLTableRowElement> & DataAttributes
  /** What stands in a row of its own under a row; null for nothing. */
  below?: (row: Row) => ReactNode
  /** Which columns a person hid and resized. */
  view?: TableColumns
  /** Stands in the last row. */
  foot?: ReactNode
  /** Stands in the place of a table without rows. */
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

/** Names and what they are, one under the other; what is null or false is left out. */
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

/** {@link FactTable} as a list, each name beside what it is. */
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

/** The title of a column as a button that sorts by it, with an arrow if the rows are. */
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
