import { useMemo, useSyncExternalStore } from 'react'
import { parseRoute, type Route, toHash } from './route.ts'

function subscribe(changed: () => void): () => void {
  window.addEventListener('hashchange', changed)
  return () => window.removeEventListener('hashchange', changed)
}

/** Where the window stands; follows Back and Forward. */
export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => window.location.hash)
  return useMemo(() => parseRoute(hash), [hash])
}

/** Goes to a screen; `replace` leaves no step behind for Back. */
export function goTo(route: Route, options: { replace?: boolean } = {}): void {
  const hash = toHash(route)
  if (window.location.hash === hash) return
  if (options.replace) window.location.replace(hash)
  else window.location.hash = hash
  // The browser's own event comes later: the screen must not be drawn once more for where the window no longer stands.
  window.dispatchEvent(new HashChangeEvent('hashchange'))
}
