import { useEffect, useRef } from 'react'

/**
 * A key, with Ctrl or Cmd where `mod` is set. While something is being typed, keys without it and letters with it, such
 * as undo, belong to the field.
 */
interface Hotkey {
  key: string
  mod?: boolean
}

/** Calls `act` when the key is pressed anywhere in the window and no dialog is open; null turns it off. */
export function useHotkey(hotkey: Hotkey, act: (() => void) | null): void {
  const newest = useRef(act)
  newest.current = act
  const { key, mod = false } = hotkey
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (newest.current === null || event.defaultPrevented || event.repeat) return
      if (event.key !== key || (event.ctrlKey || event.metaKey) !== mod || event.altKey) return
      if ((!mod || key.length === 1) && isTyping(event.target)) return
      if (document.querySelector('[role="dialog"]')) return
      event.preventDefault()
      newest.current()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [key, mod])
}

/** Calls `press` for keys pressed anywhere in the window while nothing is typed and no dialog is open. */
export function useWindowKeys(press: (event: KeyboardEvent) => void): void {
  const newest = useRef(press)
  newest.current = press
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (isTyping(event.target) || document.querySelector('[role="dialog"]')) return
      newest.current(event)
    }
    window.addEventListener('keydown', listen)
    return () => window.removeEventListener('keydown', listen)
  }, [])
}

/** Fields that take letters; a switch takes none. */
const FIELDS = 'input:not([type="checkbox"]), textarea, select, [contenteditable]'

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest(FIELDS) !== null
}
