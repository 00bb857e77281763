import { type KeyboardEvent, type RefObject, useCallback } from 'react'
import { isNothingFocused, useWindowKeys } from '../../ui/shortcuts.ts'
import type { Results } from './use-results.ts'

/**
 * The keys of the table, of the drawer next to it, and those that work wherever the focus is. `place` holds the table.
 */
export function useResultsKeys(results: Results, place: RefObject<HTMLElement | null>) {
  const { row, isOpen, setOpen, step, revealed } = results
  const findGrid = () => place.current?.querySelector<HTMLElement>('[role="grid"]')
  const reveal = () => row !== null && revealed.toggle(row.row)
  const close = useCallback(() => {
    setOpen(false)
    place.current?.querySelector<HTMLElement>('[role="grid"]')?.focus()
  }, [setOpen, place])

  const pressInDrawer = (event: { key: string; target: EventTarget | null; preventDefault: () => void }) => {
    if (event.key === 'Escape') close()
    else if (event.key === 'j' || event.key === 'J') step(1)
    else if (event.key === 'k' || event.key === 'K') step(-1)
    else if (event.key === ' ' && isHeading(event.target)) reveal()
    else return
    event.preventDefault()
  }
  useWindowKeys((event) => {
    const grid = findGrid()
    if (grid === null || grid === undefined || grid.contains(document.activeElement)) return
    const isIdle = isNothingFocused()
    if (isOpen) {
      // A button of the drawer that had the focus may be gone.
      if (isIdle) pressInDrawer(event)
      return
    }
    if (!/^[jk]$/i.test(event.key) && !(isIdle && (event.key === 'Enter' || event.key === ' '))) return
    event.preventDefault()
    grid.focus()
    if (event.key === 'Enter') setOpen(row !== null)
    else if (event.key === ' ') reveal()
    else step(event.key.toLowerCase() === 'j' ? 1 : -1)
  })

  return {
    close,
    /** Brings the row under the cursor into view where it is out of sight, and says whether it was. */
    bringIntoView(): boolean {
      if (isOpen || results.cursor.row === null || isInView(findGrid())) return false
      results.showCursor()
      return true
    },
    /** Says whether it has handled the key. */
    pressInGrid(event: KeyboardEvent): boolean {
      if (event.key === ' ' && row !== null) reveal()
      else if (event.key === 'Escape' && isOpen) close()
      else return false
      return true
    },
    pressInDrawer,
  }
}

/** Whether the row under the cursor of a table can be seen there, at least half of it. */
function isInView(grid: HTMLElement | null | undefined): boolean {
  const row = grid?.querySelector('[role="row"][aria-selected="true"]')?.getBoundingClientRect()
  const head = grid?.querySelector('[role="columnheader"]')?.getBoundingClientRect()
  if (grid === null || grid === undefined || row === undefined || head === undefined) return false
  const middle = (row.top + row.bottom) / 2
  return middle >= head.bottom && middle <= grid.getBoundingClientRect().bottom
}

function isHeading(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('button, input, [tabindex="0"]') === null
}
