import { useLayoutEffect, useRef } from 'react'

const IS_MAC = navigator.platform.startsWith('Mac')

/**
 * A key, with Ctrl (⌘ on a Mac) if `mod` is set. In a focused text field, keys without it, and letters with
 * it, such as undo, belong to the field.
 */
interface Shortcut {
  /** As in `KeyboardEvent.key`; letters in lower case. */
  key: string
  mod?: boolean
  /** With Shift; only checked for letters, since other characters need it on some keyboards only. */
  shift?: boolean
  /** Wins over the key's effect in a focused text field. */
  inFields?: boolean
  /** Leaves the key to any other control that uses it. */
  last?: boolean
}

type Press = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>

/**
 * Calls `act` when the shortcut is pressed anywhere in the window while no dialog or menu is open; null turns
 * it off. It listens from before the first paint, so that no key is lost.
 */
export function useShortcut(shortcut: Shortcut, act: (() => void) | null): void {
  const newest = useRef(act)
  newest.current = act
  const { key, mod = false, shift = false, inFields = false, last = false } = shortcut
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (newest.current === null || event.defaultPrevented || event.repeat) return
      if (!isPressed(event, { key, mod, shift })) return
      if (!inFields && (!mod || key.length === 1) && isTyping(event.target)) return
      if (isForDialog(event)) return
      event.preventDefault()
      newest.current()
    }
    // The document receives a key before the window.
    const controller = new AbortController()
    const { signal } = controller
    if (last) window.addEventListener('keydown', press, { signal })
    else document.addEventListener('keydown', press, { signal })
    return () => controller.abort()
  }, [key, mod, shift, inFields, last])
}

/** Whether a press is the shortcut, even with Caps Lock. */
export function isPressed(event: Press, shortcut: Shortcut, isMac = IS_MAC): boolean {
  const { key, mod = false, shift = false } = shortcut
  if (event.altKey || hasMod(event, isMac) !== mod || (isMac ? event.ctrlKey : event.metaKey)) return false
  if (!/^[a-z]$/.test(key)) return event.key === key
  return event.key.toLowerCase() === key && event.shiftKey === shift
}

/** Whether Ctrl (⌘ on a Mac) is held. */
export function hasMod(event: Pick<Press, 'ctrlKey' | 'metaKey'>, isMac = IS_MAC): boolean {
  return isMac ? event.metaKey : event.ctrlKey
}

/** A shortcut in this system's notation: Ctrl+Shift+Z, or ⌘⇧Z on a Mac. `Mod` stands for Ctrl or ⌘. */
export function nameShortcut(keys: readonly string[], isMac = IS_MAC): string {
  return keys.map((key) => nameKey(key, isMac)).join(isMac ? '' : '+')
}

/** A key in this system's notation. */
export function nameKey(key: string, isMac = IS_MAC): string {
  const [mac, other] = NAMES[key] ?? [key, key]
  return isMac ? mac : other
}

const NAMES: Readonly<Record<string, readonly [mac: string, other: string]>> = {
  Mod: ['⌘', 'Ctrl'],
  Shift: ['⇧', 'Shift'],
  Enter: ['↩', 'Enter'],
}

/** Whether Ctrl, Alt or ⌘ is held, so that the key does not have its own meaning. */
export function hasModifier(event: Pick<Press, 'ctrlKey' | 'metaKey' | 'altKey'>): boolean {
  return event.ctrlKey || event.metaKey || event.altKey
}

/**
 * Calls `press` for keys pressed anywhere in the window outside of text fields and while no dialog or menu is
 * open. It also listens from before the first paint.
 */
export function useWindowKeys(press: (event: KeyboardEvent) => void): void {
  const newest = useRef(press)
  newest.current = press
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || hasModifier(event)) return
      if (isTyping(event.target) || isForDialog(event)) return
      newest.current(event)
    }
    window.addEventListener('keydown', listen)
    return () => window.removeEventListener('keydown', listen)
  }, [])
}

/** Whether a dialog or menu is open, or this key has just closed it. */
function isForDialog(event: KeyboardEvent): boolean {
  const path = event.composedPath()
  return (
    document.querySelector(DIALOG) !== null || path.some((at) => at instanceof Element && at.matches(DIALOG))
  )
}

const DIALOG = '[role="dialog"], [role="menu"]'

/** Whether no control has the focus, so that keys such as Enter and Space belong to the screen. */
export function isNothingFocused(): boolean {
  const { activeElement } = document
  return activeElement === null || activeElement.matches('body, main, main h1')
}

/** Fields for text, which excludes switches. */
const FIELDS = 'input:not([type="checkbox"]), textarea, select, [contenteditable]'

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest(FIELDS) !== null
}
