// biome-ignore-all lint/a11y/useSemanticElements: rows out of view have no elements, so the roles are spelt out
import {
  type KeyboardEvent,
  memo,
  type ReactNode,
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
} from 'react'
import { hasModifier } from '../shortcuts.ts'
import { SortTitle } from '../table/table.tsx'
import { useRem } from '../theme.ts'
import { fitsColumn } from './cell-width.ts'
import { ColumnEdge } from './column-width.tsx'
import styles from './grid.module.css'
import { useRowWindow } from './use-row-window.ts'

export interface GridColumn<Row> {
  id: string
  title: ReactNode
  name?: string
  /** Width in rem; the least width if the column grows. */
  rem: number
  /** Gets the remaining room. */
  grow?: boolean
  /** Right-aligned, for numbers. */
  align?: 'end'
  isSortable?: boolean
  cell: (row: Row) => ReactNode
  /** Greatest width of the cell in em; a cell is clipped if this is absent or exceeds the column. */
  em?: ((row: Row) => number) | undefined
}

const ROW_REM = 2

/**
 * A table of any number of rows of equal height; only those in view are laid out. It is one tab stop: arrows
 * or J and K move the cursor, Page Up, Page Down, Home and End jump, Enter opens, and `onKey` gets every
 * other key first. `rowAt` returns null for a row that is still loading.
 */
export function DataGrid<Row>(props: {
  label: string
  columns: readonly GridColumn<Row>[]
  count: number
  rowAt: (index: number) => Row | null
  /** Each new value scrolls the row under the cursor into view. */
  shown?: unknown
  cursor: number
  /**
   * The row under the cursor. If the cursor changes and this does not, other rows were added or removed
   * before it: a scrolled view then stays with the row. At its top, a list shows new rows.
   */
  cursorRow?: unknown
  /** False if the cursor's row has left the table: it is then before the row now in its place. */
  hasCursor?: boolean
  onCursor: (index: number) => void
  /** Called with a clicked row, and with the one under the cursor on Enter; null if it is not loaded. */
  onOpen?: (index: number, row: Row | null) => void
  /** Focuses the table when it appears, so that its keys work at once. */
  focused?: boolean
  onKey?: (event: KeyboardEvent, index: number) => boolean
  /** Called with the first and last index in view. */
  onWindow?: (first: number, last: number) => void
  columnActions?: ColumnActions
}) {
  const { count, shown, cursor, onCursor, onOpen, onKey, onWindow, rowAt, focused = false } = props
  const { cursorRow, hasCursor = true } = props
  const element = useRef<HTMLDivElement>(null)
  const gridId = useId()
  const rowPx = useRem() * ROW_REM
  const isRead = (index: number) => rowAt(index) !== null
  const rows = useRowWindow(element, { count, rowPx, headPx: rowPx, isRead, onWindow })
  const { first, last, shiftPx, scrolledPx, reveal, keepInPlace } = rows
  const [resizing, setResizing] = useState<{ id: string; rem: number } | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: other columns have their own widths
  useEffect(() => setResizing(null), [props.columns])
  const columns = useMemo(
    () =>
      props.columns.map((column) =>
        column.id === resizing?.id ? { ...column, rem: resizing.rem, grow: false } : column,
      ),
    [props.columns, resizing],
  )
  const resize = useCallback((id: string, rem: number) => setResizing({ id, rem }), [])
  const template = columns
    .map((column) => (column.grow ? `minmax(${column.rem}rem, 1fr)` : `${column.rem}rem`))
    .join(' ')
  const minWidth = `${columns.reduce((sum, column) => sum + column.rem, 0)}rem`
  const places = useRowPlaces(first, last)

  useEffect(() => {
    if (focused && document.activeElement === document.body) element.current?.focus()
  }, [focused])
  const before = useRef({ cursor, cursorRow })
  const isThere = cursor >= 0 && cursor < count
  // biome-ignore lint/correctness/useExhaustiveDependencies: see `shown`
  useLayoutEffect(() => {
    const was = before.current
    before.current = { cursor, cursorRow }
    const hasSameRow = cursorRow !== undefined && cursorRow !== null && cursorRow === was.cursorRow
    if (hasSameRow && cursor !== was.cursor) keepInPlace(was.cursor, cursor)
    else if (isThere) reveal(cursor)
  }, [cursor, cursorRow, isThere, shown, reveal, keepInPlace])

  const press = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.defaultPrevented || hasModifier(event)) return
    if (onKey?.(event, cursor)) {
      event.preventDefault()
      return
    }
    if (event.key === 'Enter' && onOpen && event.target === event.currentTarget) {
      event.preventDefault()
      if (hasCursor) onOpen(cursor, rowAt(cursor))
      return
    }
    const page = Math.max(1, Math.floor(event.currentTarget.clientHeight / rowPx) - 2)
    const moved = toMovedCursor(event.key, { cursor, count, page, hasCursor })
    if (moved === null) return
    event.preventDefault()
    onCursor(moved)
  }

  const cursorInView = hasCursor && cursor >= first && cursor <= last && count > 0
  return (
    <div
      ref={element}
      className={`relative flex-1 min-w-0 min-h-0 h-full bg-surface ${styles.grid}`}
      role="grid"
      tabIndex={0}
      aria-label={props.label}
      aria-rowcount={count + 1}
      aria-colcount={columns.length}
      aria-activedescendant={cursorInView ? `${gridId}-${cursor}` : undefined}
      onKeyDown={press}
    >
      <GridHead
        columns={columns}
        template={template}
        minWidth={minWidth}
        actions={props.columnActions ?? NO_ACTIONS}
        onResizing={resize}
      />
      <div className="relative w-full" role="rowgroup" style={{ height: scrolledPx, minWidth }}>
        {places.map(({ key, index }) => (
          <GridRow
            key={key}
            {...(hasCursor && index === cursor && { id: `${gridId}-${index}` })}
            index={index}
            topPx={Math.round(index * rowPx) + shiftPx}
            row={rowAt(index)}
            columns={columns}
            template={template}
            active={hasCursor && index === cursor}
            onPick={onCursor}
            {...(onOpen && { onOpen })}
          />
        ))}
      </div>
    </div>
  )
}

const NO_ACTIONS: ColumnActions = {}

interface GridRowProps<Row> {
  /** Only for the row under the cursor, to which the grid refers. */
  id?: string
  index: number
  topPx: number
  row: Row | null
  columns: readonly GridColumn<Row>[]
  template: string
  active: boolean
  onPick: (index: number) => void
  onOpen?: (index: number, row: Row | null) => void
}

function PlainGridRow<Row>(props: GridRowProps<Row>) {
  const { index } = props
  const isRead = props.row !== null
  // While a row loads, the previous row's cells stay, hidden: keeping them costs a fraction of new ones.
  const lastRead = useRef(props.row)
  if (isRead) lastRead.current = props.row
  const row = lastRead.current
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keys for the row under its cursor
    <div
      id={props.id}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={props.active}
      aria-busy={!isRead}
      tabIndex={-1}
      className={styles.row}
      style={{ gridTemplateColumns: props.template, transform: `translateY(${props.topPx}px)` }}
      onClick={() => (props.onOpen === undefined ? props.onPick(index) : props.onOpen(index, props.row))}
    >
      {!isRead && <div role="gridcell" tabIndex={-1} className={styles.waiting} aria-label="Loading" />}
      {row !== null &&
        props.columns.map((column, place) => {
          const fits = column.em !== undefined && fitsColumn(column.em(row), column.rem, place === 0)
          const align = column.align === 'end' ? 'text-right' : ''
          return (
            <div
              key={column.id}
              role="gridcell"
              tabIndex={-1}
              className={`${styles.cell} ${fits ? '' : styles.clipped} ${align}`}
            >
              {column.cell(row)}
            </div>
          )
        })}
    </div>
  )
}

/** One row of a grid; drawn again only when what it shows changes. */
const GridRow = memo(PlainGridRow, isSameRow) as typeof PlainGridRow

/**
 * The properties that a row is drawn from, spelt out: scrolling compares all rows for each frame, and a list
 * of names would be garbage each time.
 */
const DRAWN_FROM: Record<keyof GridRowProps<unknown>, true> = {
  id: true,
  index: true,
  topPx: true,
  row: true,
  columns: true,
  template: true,
  active: true,
  onPick: true,
  onOpen: true,
}

function isSameRow<Row>(before: GridRowProps<Row>, now: GridRowProps<Row>): boolean {
  for (const name in DRAWN_FROM) {
    const key = name as keyof GridRowProps<Row>
    if (before[key] !== now[key]) return false
  }
  return true
}

/**
 * The cursor after a key, or null for keys that do not move it: arrows, J and K, Page Up and Page Down by
 * `page` rows, Home and End. It never leaves the table. Without a row under it, the cursor is before the row
 * at its position.
 */
export function toMovedCursor(
  key: string,
  place: { cursor: number; count: number; page: number; hasCursor?: boolean },
): number | null {
  const step = toStep(key, place)
  if (step === null || place.count === 0) return null
  const from = place.hasCursor === false && step > 0 ? place.cursor - 1 : place.cursor
  return Math.min(Math.max(0, from + step), place.count - 1)
}

function toStep(key: string, place: { count: number; page: number }): number | null {
  switch (key) {
    case 'ArrowDown':
    case 'j':
    case 'J':
      return 1
    case 'ArrowUp':
    case 'k':
    case 'K':
      return -1
    case 'PageDown':
      return place.page
    case 'PageUp':
      return -place.page
    case 'Home':
      return -place.count
    case 'End':
      return place.count
    default:
      return null
  }
}

const CHARACTER_REM = 0.47
const PADDING_REM = 1.25
const NARROWEST_REM = 5
const WIDEST_REM = 28

/** A width in rem that fits nine in ten of a column's cells, given their lengths; never wider than a line. */
export function toColumnRem(name: string, lengths: readonly number[]): number {
  const sorted = [...lengths].sort((a, b) => a - b)
  const usual = sorted[Math.floor(sorted.length * 0.9)] ?? 0
  const characters = Math.max(name.length * 1.05, usual)
  return Math.min(WIDEST_REM, Math.max(NARROWEST_REM, characters * CHARACTER_REM + PADDING_REM))
}

/** How long scrolling must pause before the rows' elements are sorted, milliseconds. */
const REST_MS = 500

/** An element of the table, with the row that it shows. */
interface RowPlace {
  key: number
  index: number
}

/**
 * An element for each row from `first` to `last`. Scrolling reuses the elements of rows that have left the
 * view, which costs a fraction of new ones. After a pause, the elements are sorted by row, since this is the
 * order in which they are read out.
 */
function useRowPlaces(first: number, last: number): readonly RowPlace[] {
  const places = useRef<readonly RowPlace[]>([])
  const [, draw] = useReducer((times: number) => times + 1, 0)
  places.current = assignRows(places.current, first, last)
  const isInOrder = places.current.every(({ index }, at) => index === first + at)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each move of the view puts the rest off
  useEffect(() => {
    if (isInOrder) return
    const rest = setTimeout(() => {
      places.current = places.current.toSorted((a, b) => a.index - b.index)
      draw()
    }, REST_MS)
    return () => clearTimeout(rest)
  }, [isInOrder, first, last])
  return places.current
}

/** Gives new rows in view the elements of rows that have left it; rows that stay keep theirs. */
export function assignRows(places: readonly RowPlace[], first: number, last: number): readonly RowPlace[] {
  const isShown = ({ index }: RowPlace) => index >= first && index <= last
  const shown = new Set(places.filter(isShown).map(({ index }) => index))
  if (shown.size === places.length && shown.size === last - first + 1) return places
  const missing: number[] = []
  for (let index = first; index <= last; index += 1) if (!shown.has(index)) missing.push(index)
  const reused = places.flatMap((place) => {
    if (isShown(place)) return [place]
    const index = missing.shift()
    return index === undefined ? [] : [{ key: place.key, index }]
  })
  const nextKey = Math.max(-1, ...places.map(({ key }) => key)) + 1
  return [...reused, ...missing.map((index, at) => ({ key: nextKey + at, index }))]
}

/** A person's actions on the columns of a grid; absent ones are not available. */
export interface ColumnActions {
  /** The column by which the rows are sorted. */
  sorted?: { id: string; order: 'ascending' | 'descending' } | null
  /** Called with a sortable column when its title is pressed. */
  onSort?: (id: string) => void
  /** Called with the new width in rem after the edge of a column was dragged. */
  onResize?: (id: string, rem: number) => void
  /** Called when a column was dropped on another, to take its place. */
  onMove?: (id: string, to: string) => void
}

type HeadColumn = Pick<GridColumn<never>, 'id' | 'title' | 'name' | 'align' | 'isSortable'>

const DRAGGED_TYPE = 'application/x-sluice-column'

/** The titles of a grid's columns: press to sort, drag to move, drag their edges to resize. */
const GridHead = memo(function GridHead(props: {
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
      // Until the columns are known, the row lacks the titles that it must have.
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
