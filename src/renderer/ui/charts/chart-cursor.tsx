import type { KeyboardEvent } from 'react'
import styles from './charts.module.css'

/** How far Page Up and Page Down go. */
const PAGE = 10

/**
 * Lies over a chart and makes it reachable by keyboard: arrows, Page Up, Page Down, Home and End move from point to
 * point, whose figures a screen reader says. The pointer goes through it.
 */
export function ChartCursor(props: {
  /** What the points are, such as `Bars of http_req_duration`. */
  label: string
  /** How many points there are. */
  count: number
  /** The point that is shown; null where none is. */
  index: number | null
  /** The figures of that point. */
  text: string
  onIndex: (index: number | null) => void
  /** Other keys of the chart; says whether it took the key. */
  onOtherKey?: (key: string) => boolean
}) {
  const { count, index, onIndex } = props
  const last = Math.max(0, count - 1)
  const move = (event: KeyboardEvent) => {
    const to = toMoved(event.key, index, last)
    if (to !== null) onIndex(to)
    else if (!props.onOtherKey?.(event.key)) return
    event.preventDefault()
  }
  return (
    <div
      role="slider"
      tabIndex={0}
      className={styles.cursor}
      aria-label={props.label}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={Math.min(last, index ?? 0)}
      aria-valuetext={props.text}
      onKeyDown={move}
      onFocus={() => onIndex(Math.min(last, index ?? 0))}
      onBlur={() => onIndex(null)}
    />
  )
}

function toMoved(key: string, index: number | null, last: number): number | null {
  const at = index ?? 0
  const clamp = (to: number) => Math.min(last, Math.max(0, to))
  if (key === 'ArrowRight' || key === 'ArrowUp') return clamp(at + 1)
  if (key === 'ArrowLeft' || key === 'ArrowDown') return clamp(at - 1)
  if (key === 'PageUp') return clamp(at + PAGE)
  if (key === 'PageDown') return clamp(at - PAGE)
  if (key === 'Home') return 0
  return key === 'End' ? last : null
}
