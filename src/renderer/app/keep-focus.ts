import { useEffect, useLayoutEffect } from 'react'
import type { Route } from './route.ts'

/**
 * Manages the keyboard focus. A new screen gets it at its title, like a new page. An element that was
 * disabled while focused, such as a button that waits for its answer, gets it back, and so does the element
 * that opened a dialog. If that was removed or disabled for good, such as the button of a finished
 * correction, the next control gets it; after a click, the title does, since Space and Enter must not press
 * what nobody pointed at. F6 moves between parts.
 */
export function useKeptFocus(route: Route): void {
  // Before the effects of what is on the screen: a table that appears takes the focus only if nothing has it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each screen takes the focus
  useLayoutEffect(focusTitle, [route])
  useEffect(() => {
    const watch = new FocusWatch()
    return () => watch.close()
  }, [])
}

/** Focuses the title of the screen, without a ring, since the person did not move there by keyboard. */
export function focusTitle(): void {
  const title = document.querySelector<HTMLElement>('main h1')
  focusHeading(title)
  if (title !== null) title.dataset['arrived'] = ''
}

function focusHeading(heading: HTMLElement | null | undefined): void {
  if (!heading) return
  heading.tabIndex = -1
  delete heading.dataset['arrived']
  heading.focus({ preventScroll: heading.tagName === 'H1' })
}

/** On F6, focuses the next part of the window: its places, the screen's title, or a heading below it. */
function goToPart(event: KeyboardEvent): void {
  if (event.key !== 'F6' || event.ctrlKey || event.metaKey || event.altKey) return
  if (document.querySelector('[role="dialog"]')) return
  event.preventDefault()
  const parts = [...document.querySelectorAll<HTMLElement>('nav, main h1, main h2')].filter((part) =>
    part.checkVisibility(),
  )
  const here = document.activeElement
  const at = parts.findLastIndex((part) => here !== null && (part.contains(here) || isAfter(part, here)))
  const behind = parts[(at + 1) % parts.length]
  // From inside a part, going back leads to its beginning first.
  const before = parts.at(parts[at] === here || parts[at]?.tagName === 'NAV' ? at - 1 : at)
  const part = event.shiftKey ? before : behind
  if (part?.tagName !== 'NAV') focusHeading(part)
  else (part.querySelector<HTMLElement>('[aria-current]') ?? part.querySelector('a'))?.focus()
}

const FOCUSABLE =
  'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), [tabindex="0"]'
const ABOVE_PAGE = '[role="dialog"], [role="menu"], [role="listbox"]'

/** Returns the focus to where it was, or to the nearest control. */
class FocusWatch {
  #held: HTMLElement | null = null
  /** The last focused element in the page itself, not in a dialog or a menu over it. */
  #inPage: HTMLElement | null = null
  /** The former positions of those two elements, once removed: the parent, and what followed. */
  readonly #gaps = new Map<HTMLElement, { parent: Node; next: Node | null }>()
  #usesKeys = false
  #frame = 0
  readonly #watcher = new MutationObserver((records) => this.#note(records))
  readonly #listening = new AbortController()

  constructor() {
    const { signal } = this.#listening
    const noteInput = ({ type }: Event) => {
      this.#usesKeys = type === 'keydown'
    }
    window.addEventListener('keydown', noteInput, { capture: true, signal })
    window.addEventListener('pointerdown', noteInput, { capture: true, signal })
    window.addEventListener('keydown', goToPart, { signal })
    document.addEventListener('focusin', ({ target }) => this.#hold(target), { signal })
    // A click on empty space drops the focus on purpose. Removed or disabled elements blur as they go.
    document.addEventListener('focusout', ({ target }) => queueMicrotask(() => this.#release(target)), {
      signal,
    })
    const attributeFilter = ['disabled', 'data-loading']
    this.#watcher.observe(document.body, { childList: true, subtree: true, attributeFilter })
  }

  close(): void {
    this.#watcher.disconnect()
    this.#listening.abort()
    cancelAnimationFrame(this.#frame)
  }

  #hold(target: EventTarget | null): void {
    if (!(target instanceof HTMLElement)) return
    this.#held = target
    if (target.closest(ABOVE_PAGE) === null) this.#inPage = target
    for (const known of this.#gaps.keys()) if (known !== this.#inPage) this.#gaps.delete(known)
  }

  #release(target: EventTarget | null): void {
    const held = this.#held
    if (held !== null && target === held && isUsable(held) && document.activeElement === document.body) {
      this.#held = null
    }
  }

  #note(records: readonly MutationRecord[]): void {
    if (this.#held === null) return
    for (const { target: parent, removedNodes, nextSibling: next } of records) {
      for (const removed of removedNodes) {
        for (const known of [this.#held, this.#inPage]) {
          if (known === null) continue
          const gap = this.#gaps.get(known)
          if (removed.contains(known) || (gap !== undefined && removed.contains(gap.parent))) {
            this.#gaps.set(known, { parent, next })
          }
        }
      }
    }
    // A replacement of what was removed may be added in the same turn; one frame later it exists.
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#mend())
  }

  #mend(): void {
    this.#frame = 0
    const held = this.#held
    if (held === null || document.activeElement !== document.body) return
    if (isUsable(held)) held.focus({ preventScroll: true })
    // A waiting button will be enabled again.
    else if (held.isConnected && held.matches('[data-loading]')) return
    else {
      const { parentNode: parent, nextSibling: next } = held
      if (parent !== null && held.isConnected) this.#gaps.set(held, { parent, next })
      const other = this.#findOther()
      if (other === undefined) focusTitle()
      else other.focus({ preventScroll: true })
    }
  }

  /** Receives the focus instead of a removed element; undefined for the title. */
  #findOther(): HTMLElement | undefined {
    const dialog = [...document.querySelectorAll<HTMLElement>('[role="dialog"]')].at(-1)
    if (dialog !== undefined) {
      const chosen = dialog.querySelector<HTMLElement>('[data-autofocus]:not(:disabled)')
      return chosen ?? this.#findNext(this.#held, dialog) ?? dialog
    }
    if (this.#inPage !== null && isUsable(this.#inPage)) return this.#inPage
    const screen = document.querySelector('main')
    const wasTitle = this.#inPage?.tagName === 'H1'
    return screen === null || wasTitle || !this.#usesKeys ? undefined : this.#findNext(this.#inPage, screen)
  }

  /** The first control after a removed one, in the same screen or dialog; else the last one before it. */
  #findNext(removed: HTMLElement | null, scope: Element): HTMLElement | undefined {
    const gap = removed === null ? undefined : this.#gaps.get(removed)
    if (gap === undefined || !scope.contains(gap.parent)) return
    const { parent, next } = gap
    const controls = [...scope.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((control) =>
      control.checkVisibility(),
    )
    const isBehind = (control: HTMLElement) =>
      next?.isConnected
        ? next.contains(control) || isAfter(next, control)
        : !parent.contains(control) && isAfter(parent, control)
    return controls.find(isBehind) ?? controls.at(-1)
  }
}

function isUsable(element: HTMLElement): boolean {
  return element.isConnected && !element.matches(':disabled')
}

function isAfter(node: Node, other: Node): boolean {
  return (node.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0
}
