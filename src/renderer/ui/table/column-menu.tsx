import { ActionIcon, Button, Checkbox, Popover } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconColumns3 } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { WidthButtons } from '../grid/column-width.tsx'
import styles from './table.module.css'

/** Chooses the columns of a table, orders and sizes them, all by keyboard. */
export function ColumnMenu(props: {
  width: string
  size: 'compact-xs' | 'compact-sm'
  /** Beside other tools, its word gives way to them in a narrow window. */
  isCrowded?: true
  children: ReactNode
}) {
  const crowded = props.isCrowded
    ? { 'aria-label': 'Columns', title: 'Columns', className: styles.crowded }
    : {}
  return (
    <Popover
      position="bottom-end"
      width={props.width}
      // A menu over a low window is only as high as the window has room for.
      middlewares={{ flip: true, shift: true, size: true }}
      classNames={{ dropdown: 'overflow-auto' }}
      trapFocus
      returnFocus
      withinPortal
    >
      <Popover.Target>
        <Button size={props.size} leftSection={<IconColumns3 size="1rem" aria-hidden />} {...crowded}>
          <span>Columns</span>
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Columns of the table">{props.children}</Popover.Dropdown>
    </Popover>
  )
}

/** A column in the menu; what is left out cannot be done with it. */
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
            <ActionIcon aria-label={left} title={left} onClick={() => onMove(-1)}>
              <IconArrowUp size="1rem" />
            </ActionIcon>
            <ActionIcon aria-label={right} title={right} onClick={() => onMove(1)}>
              <IconArrowDown size="1rem" />
            </ActionIcon>
          </>
        )}
        {onResize !== undefined && <WidthButtons title={title} onResize={onResize} />}
      </span>
    </li>
  )
}
