import type { Draw } from './seeded-draw.ts'

/**
 * What goes wrong. `status`: an error status. `reset`: the connection is reset before the answer. `stall`: nothing is
 * answered. `broken-json`: 200 whose body is not JSON. `truncated`: the connection ends amid the body. `html`: a page
 * such as a gateway's instead of the answer.
 */
export type FaultKind = 'status' | 'reset' | 'stall' | 'broken-json' | 'truncated' | 'html'

/** A fault setting: what goes wrong, how often, and how. */
export interface Fault {
  kind: FaultKind
  /** As the setting names it: `5xx`, `503-after`, `reset`. */
  name: string
  /** Share of the requests, from 0 to 1. */
  share: number
  /** Whether the task is stored first: `before` no, `after` yes, `either` one as likely as the other. */
  moment: 'before' | 'after' | 'either'
  /** HTTP status; null chooses among 500, 502, 503 and 504. */
  status: number | null
  /** Seconds of the Retry-After header; null for none. */
  retryAfterS: number | null
  /** Only the first tries of a post_id, that many; null for every try. */
  tries: number | null
  /** How long a stall lasts before the answer comes after all, in milliseconds; null for ever. */
  stallMs: number | null
}

/** What goes wrong with one request. */
export interface DecidedFault {
  fault: Fault
  /** Whether the task is stored although its answer goes wrong. */
  isStored: boolean
  /** HTTP status of the faulty answer. */
  status: number
}

const SERVER_ERROR_STATUSES = [500, 502, 503, 504]

/** Decides by chance what goes wrong with a try of a post_id, if anything; at most one fault befalls a request. */
export function decideFault(faults: readonly Fault[], tryNumber: number, draw: Draw): DecidedFault | null {
  if (faults.length === 0) return null
  let rest = draw('fault')
  for (const fault of faults) {
    if (rest < fault.share) {
      if (fault.tries !== null && tryNumber > fault.tries) return null
      return {
        fault,
        isStored: fault.moment === 'either' ? draw('fault moment') < 0.5 : fault.moment === 'after',
        status: fault.status ?? chooseServerError(draw),
      }
    }
    rest -= fault.share
  }
  return null
}

function chooseServerError(draw: Draw): number {
  return SERVER_ERROR_STATUSES[Math.floor(draw('fault status') * SERVER_ERROR_STATUSES.length)] ?? 500
}

/** How the statistics name what happened: `fault:5xx`, `fault:reset-after`. */
export function toFaultOutcome({ fault, isStored }: DecidedFault): string {
  return fault.moment === 'either'
    ? `fault:${fault.name}-${isStored ? 'after' : 'before'}`
    : `fault:${fault.name}`
}
