import { Button, Checkbox, Popover, Stack } from '@mantine/core'
import { useViewportSize } from '@mantine/hooks'
import { IconArrowDown, IconArrowUp, IconColumns3 } from '@tabler/icons-react'
import { type CSSProperties, type ReactNode, type RefCallback, useRef, useState } from 'react'
import { formatCount } from '../../../shared/messages/figure-text.ts'
import { COLUMN_REM, type TableChange, type TableView } from '../../../shared/run/result-view.ts'
import { ActionButton, IconButton } from '../controls.tsx'
import { ColumnEdge, WidthButtons } from '../grid/column-width.tsx'
import { useRem } from '../theme.ts'
import styles from './table.module.css'

export interface TableColumn {
  title: string
  /** Cannot be hidden, since it identifies the line. */
  isFixed?: true
}

/** Controls for drawing a table whose columns can be hidden and resized. */
export interface TableColumns {
  shows: (title: string) => boolean
  /** For a column's head: its ref, and its edge as its last child; undefined if it cannot be changed. */
  head: (title: string) => { ref: RefCallback<HTMLTableCellElement>; edge: ReactNode } | undefined
  cell: (title: string) => CSSProperties | undefined
  /** Hides, shows and sizes the columns by keyboard. */
  menu: ReactNode
}

/** Hides and resizes the columns of a table; `changeView` stores a person's choices. */
export function useTableColumns(
  columns: readonly TableColumn[],
  view: TableView,
  changeView: (change: TableChange) => void,
): TableColumns {
  const heads = useRef(new Map<string, HTMLElement>())
  const [resizing, setResizing] = useState<{ title: string; rem: number } | null>(null)
  const remPx = useRem()
  const { hidden, widths } = view
  const remOf = (title: string) => (resizing?.title === title ? resizing.rem : widths[title])
  const cell = (title: string): CSSProperties | undefined => {
    const rem = remOf(title)
    if (rem === undefined) return undefined
    const width = `${rem}rem`
    return { width, minWidth: width, maxWidth: width, overflow: 'hidden', textOverflow: 'ellipsis' }
  }
  const setWidth = (title: string, rem: number) => {
    setResizing(null)
    const bounded = Math.min(COLUMN_REM.max, Math.max(COLUMN_REM.min, rem))
    changeView({ widths: { [title]: bounded } })
  }
  const shows = (title: string) => !hidden.includes(title)
  const toggle = (title: string) => changeView({ hidden: { [title]: shows(title) } })
  const widthOf = (title: string) =>
    remOf(title) ?? (heads.current.get(title)?.getBoundingClientRect().width ?? 0) / remPx
  /** The table's CSS hides a column if the window is too narrow. */
  const hasRoom = (title: string) => heads.current.get(title)?.checkVisibility() !== false
  return {
    shows,
    head: (title) =>
      columns.some((column) => column.title === title)
        ? {
            ref: (element) => {
              if (element === null) heads.current.delete(title)
              else heads.current.set(title, element)
            },
            edge: (
              <ColumnEdge
                onResizing={(rem) => setResizing({ title, rem })}
                onResized={(rem) => setWidth(title, rem)}
              />
            ),
          }
        : undefined,
    cell,
    menu: (
      <ColumnMenu width="21rem" size="compact-sm">
        <Stack gap="sm">
          <ColumnList
            columns={columns}
            shows={shows}
            hasRoom={hasRoom}
            onToggle={toggle}
            onResize={(title, by) => setWidth(title, widthOf(title) + by)}
          />
          <ActionButton label="Usual columns" small onClick={() => changeView(null)} />
        </Stack>
      </ColumnMenu>
    ),
  }
}

/** Every column with its actions, or a note that it needs a wider window. */
function ColumnList(props: {
  columns: readonly TableColumn[]
  shows: (title: string) => boolean
  hasRoom: (title: string) => boolean
  onToggle: (title: string) => void
  onResize: (title: string, by: number) => void
}) {
  const { shows, hasRoom, onToggle, onResize } = props
  // Redraws when the window is resized, which may make room.
  useViewportSize()
  return (
    <ul>
      {props.columns.map(({ title, isFixed = false }) => {
        const isWaiting = shows(title) && !hasRoom(title)
        return (
          <ColumnLine
            key={title}
            title={title}
            label={isWaiting ? `${title} (shown in wider windows)` : title}
            isShown={shows(title)}
            isFixed={isFixed}
            onToggle={() => onToggle(title)}
            {...(shows(title) && !isWaiting && { onResize: (by: number) => onResize(title, by) })}
          />
        )
      })}
    </ul>
  )
}

/** Chooses the columns of a table, orders and sizes them, all by keyboard. */
export function ColumnMenu(props: {
  width: string
  size: 'compact-xs' | 'compact-sm'
  /** Its text gives way to other tools in a narrow window. */
  isCrowded?: true
  /** Number of hidden source columns (default: 0), which its button shows. */
  hidden?: number
  children: ReactNode
}) {
  const { hidden = 0 } = props
  const label = hidden === 0 ? 'Columns' : `Columns (${formatCount(hidden)} hidden)`
  const crowded = props.isCrowded ? { 'aria-label': label, title: label, className: styles.crowded } : {}
  return (
    <Popover
      position="bottom-end"
      width={props.width}
      // In a low window, the menu is only as high as the window allows.
      middlewares={{ flip: true, shift: true, size: true }}
      classNames={{ dropdown: 'overflow-auto' }}
      trapFocus
      returnFocus
      withinPortal
    >
      <Popover.Target>
        <Button size={props.size} leftSection={<IconColumns3 size="1rem" aria-hidden />} {...crowded}>
          <span>{label}</span>
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Columns of the table">{props.children}</Popover.Dropdown>
    </Popover>
  )
}

/** A column in the menu; absent actions are not available. */
export function ColumnLine(props: {
  title: string
  label?: ReactNode
  description?: ReactNode
  isShown: boolean
  isFixed?: boolean
  onToggle: () => void
  onMove?: (by: -1 | 1) => void
  onResize?: (byRem: number) => void
}) {
  const { title, label = title, onMove, onResize } = props
  const [left, right] = [`Move ${title} to the left`, `Move ${title} to the right`]
  return (
    <li className={`row justify-between gap-2 ${styles.column}`}>
      <Checkbox
        label={label}
        description={props.description}
        checked={props.isShown}
        disabled={props.isFixed === true}
        onChange={props.onToggle}
      />
      <span className="flex flex-none">
        {onMove !== undefined && (
          <>
            <IconButton icon={IconArrowUp} label={left} title={left} onClick={() => onMove(-1)} />
            <IconButton icon={IconArrowDown} label={right} title={right} onClick={() => onMove(1)} />
          </>
        )}
        {onResize !== undefined && <WidthButtons title={title} onResize={onResize} />}
      </span>
    </li>
  )
}
