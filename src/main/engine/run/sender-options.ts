import type { Plan } from '../../../shared/plan/plan.ts'
import type { StopNotice } from '../../../shared/run/snapshot.ts'
import type { Journal } from '../journal/journal.ts'
import type { SecondMeter } from '../sending/second-meter.ts'
import type { Exchange } from '../service/exchange.ts'
import type { Judgement } from '../service/judgement.ts'
import type { ServiceClient, ServiceRequest } from '../service/service-client.ts'
import type { CallbackSettler } from './callback-settler.ts'
import type { ClaimedItem, ItemClaims } from './journal/item-claims.ts'
import type { SentItem } from './recorder.ts'

/** How a period of sending ended. `failing`: it stopped itself. `done`: nothing is left to send. */
export type SendingEnd = { kind: 'done' } | { kind: 'stopped' } | { kind: 'failing'; reason: StopNotice }

/** An item's request, and what its answer tells the item's rows apart by. */
export interface ItemRequest {
  request: ServiceRequest
  rowKeys: readonly string[]
}

/** What a sender is made of. */
export interface SenderOptions {
  plan: Plan
  journal: Journal
  claims: ItemClaims
  /** Takes callbacks in; null for sync runs. */
  settler: CallbackSettler | null
  meter: SecondMeter
  createClient: () => ServiceClient
  /** A pure function of the item: a resend has the same body. */
  toRequest: (item: ClaimedItem) => ItemRequest
  judge: (exchange: Exchange, rowKeys: readonly string[], attempts: number) => Judgement
  random: () => number
  /** Where the key in use is from; null where requests carry none. See {@link FailureGuard}. */
  readKeySource: () => string | null
  /** How long the service may answer nothing but 429, milliseconds; see {@link FailureGuard}. */
  throttledMaxMs?: number | undefined
  /** Bodies in flight beyond which nothing more goes out, UTF-16 code units (default: 64 M). */
  bodiesMax?: number | undefined
}

/** An item whose request is in flight, without what the request was made of, which may be large. */
export interface InFlight {
  sent: SentItem
  rowKeys: readonly string[]
  bodyLength: number
  /** When it was handed to its lane, milliseconds, monotonic. */
  takenAtMs: number
  /** Unix microseconds the request was due; null under a closed pace. */
  scheduledAtUs: number | null
  /** It was due before and could not go out, since the cap was full or sending was held. */
  hasWaited: boolean
}
