import { useMemo, useSyncExternalStore } from 'react'
import type { LedgerKind } from '../../shared/lookback/ledger.ts'

const DRAFT_STEPS = ['operation', 'source', 'mapping', 'check', 'review'] as const

export type DraftStep = (typeof DRAFT_STEPS)[number]

const RUN_SCREENS = ['results', 'labelling', 'evaluate', 'export', 'trend', 'sql', 'plan', 'correct'] as const

/** One of a run's screens; `run` shows its progress. */
export type RunPlace = 'run' | (typeof RUN_SCREENS)[number]
const LISTS: readonly LedgerKind[] = ['index', 'watchlist', 'appeals']

export type Route =
  | { kind: 'runs' | 'connections' | 'settings' | 'callbacks' | 'sandbox' | 'scratchpad' }
  | { kind: 'lists'; of: LedgerKind }
  | { kind: 'draft'; step: DraftStep }
  | { kind: RunPlace; runId: string }
  /** Runs side by side, the earliest first; with none or one, the others are still to be chosen. */
  | { kind: 'compare'; runIds: readonly string[] }
  | { kind: 'capacity'; searchId: string }

/** Reads a route from the part of the address after `#`; an unknown one is the home screen. */
export function parseRoute(hash: string): Route {
  const [area, ...rest] = hash.replace(/^#?\/?/, '').split('/')
  const [first, second] = rest
  if (area === 'connections') return { kind: 'connections' }
  if (area === 'settings' || area === 'callbacks') return { kind: area }
  if (area === 'sandbox' || area === 'scratchpad') return { kind: area }
  if (area === 'compare') {
    return { kind: 'compare', runIds: rest.filter((part) => part !== '').map(decodeSafely) }
  }
  if (area === 'lists') return { kind: 'lists', of: LISTS.find((known) => known === first) ?? 'index' }
  if (area === 'new') {
    const step = DRAFT_STEPS.find((known) => known === first)
    return step ? { kind: 'draft', step } : { kind: 'runs' }
  }
  if (area === 'capacity' && first !== undefined && first !== '') {
    return { kind: 'capacity', searchId: decodeSafely(first) }
  }
  if (area === 'run' && first !== undefined && first !== '') {
    const runId = decodeSafely(first)
    if (second === undefined || second === '') return { kind: 'run', runId }
    const screen = RUN_SCREENS.find((known) => known === second)
    if (screen !== undefined) return { kind: screen, runId }
  }
  return { kind: 'runs' }
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The part of the address from `#` on, which {@link parseRoute} reads. */
export function toHash(route: Route): string {
  switch (route.kind) {
    case 'runs':
    case 'connections':
    case 'settings':
    case 'callbacks':
    case 'sandbox':
    case 'scratchpad':
      return `#/${route.kind}`
    case 'compare':
      return ['#/compare', ...route.runIds.map(encodeURIComponent)].join('/')
    case 'lists':
      return `#/lists/${route.of}`
    case 'draft':
      return `#/new/${route.step}`
    case 'capacity':
      return `#/capacity/${encodeURIComponent(route.searchId)}`
    case 'run':
      return `#/run/${encodeURIComponent(route.runId)}`
    default:
      return `#/run/${encodeURIComponent(route.runId)}/${route.kind}`
  }
}

/** A key for the current task: one for all screens of a run, and for the steps of a draft with one source. */
export function toPlace(route: Route, draftOf: string): string {
  if (route.kind === 'draft') return `draft ${draftOf}`
  return 'runId' in route ? `run ${route.runId}` : toHash(route)
}

function subscribe(changed: () => void): () => void {
  window.addEventListener('hashchange', changed)
  return () => window.removeEventListener('hashchange', changed)
}

/** The current route; follows Back and Forward. */
export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => window.location.hash)
  return useMemo(() => parseRoute(hash), [hash])
}

/** Goes to a screen; with `replace`, Back skips the current one. */
export function goTo(route: Route, options: { replace?: boolean } = {}): void {
  const hash = toHash(route)
  if (window.location.hash === hash) return
  if (options.replace) window.location.replace(hash)
  else window.location.hash = hash
  // The browser's own event comes later, and until then the old screen would be drawn once more.
  window.dispatchEvent(new HashChangeEvent('hashchange'))
}
