import { Button, Checkbox, Popover } from '@mantine/core'
import { IconColumns3 } from '@tabler/icons-react'
import { type CSSProperties, type ReactNode, type RefCallback, useRef, useState } from 'react'
import { COLUMN_REM, type TableView } from '../../shared/run/result-view.ts'
import { ColumnEdge, WidthButtons } from './grid/column-width.tsx'
import styles from './grid/grid.module.css'
import { useRem } from './theme.ts'

/** A menu over a low window is only as high as the window has room for. */
export const WITHIN_WINDOW = {
  middlewares: { flip: true, shift: true, size: true },
  classNames: { dropdown: styles.menu ?? '' },
}

/** A column of a table, by its title. */
export interface TableColumn {
  title: string
  /** Stays, since it says what the line is. */
  isFixed?: true
}

/** What a table with columns that can be hidden and resized is drawn with. */
export interface TableColumns {
  shows: (title: string) => boolean
  /** For the head of a column: where it is, and how wide. */
  head: (title: string) => { ref: RefCallback<HTMLTableCellElement>; style: CSSProperties }
  /** The edge of a column, the last child of its head. */
  edge: (title: string) => ReactNode
  /** For the cells of a column. */
  cell: (title: string) => CSSProperties | undefined
  /** Hides, shows and sizes the columns by keyboard. */
  menu: ReactNode
}

/** Hides and resizes the columns of a table; `onView` keeps what a person chose. */
export function useTableColumns(
  columns: readonly TableColumn[],
  view: TableView,
  onView: (view: TableView) => void,
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
    onView({ hidden, widths: { ...widths, [title]: bounded } })
  }
  const toggle = (title: string) =>
    onView({
      widths,
      hidden: hidden.includes(title) ? hidden.filter((one) => one !== title) : [...hidden, title],
    })
  const shows = (title: string) => !hidden.includes(title)
  const widthOf = (title: string) =>
    remOf(title) ?? (heads.current.get(title)?.getBoundingClientRect().width ?? 0) / remPx
  return {
    shows,
    head: (title) => ({
      ref: (element) => {
        if (element === null) heads.current.delete(title)
        else heads.current.set(title, element)
      },
      style: { position: 'relative', ...cell(title) },
    }),
    edge: (title) => (
      <ColumnEdge
        onResizing={(rem) => setResizing({ title, rem })}
        onResized={(rem) => setWidth(title, rem)}
      />
    ),
    cell,
    menu: (
      <Popover position="bottom-end" width="21rem" {...WITHIN_WINDOW} trapFocus returnFocus withinPortal>
        <Popover.Target>
          <Button variant="default" size="compact-sm" leftSection={<IconColumns3 size="1rem" aria-hidden />}>
            Columns
          </Button>
        </Popover.Target>
        <Popover.Dropdown aria-label="Columns of the table">
          <ul className={styles.columnList}>
            {columns.map(({ title, isFixed }) => (
              <li key={title}>
                <Checkbox
                  label={title}
                  checked={shows(title)}
                  disabled={isFixed === true}
                  onChange={() => toggle(title)}
                />
                {shows(title) && (
                  <WidthButtons title={title} onResize={(by) => setWidth(title, widthOf(title) + by)} />
                )}
              </li>
            ))}
          </ul>
          <Button variant="default" size="compact-sm" onClick={() => onView({ hidden: [], widths: {} })}>
            Usual columns
          </Button>
        </Popover.Dropdown>
      </Popover>
    ),
  }
}
