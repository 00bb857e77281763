import { z } from 'zod'
import { rowNumberSchema } from '../plan/source-place.ts'
import { callbackCountsSchema } from './run.ts'

/**
 * Why a request was not answered 200. A `malformed` body is stored anyway, and a note for `oversized` and
 * `unknown_coding`. `unstored`: the disk failed; `forged`: the address was never issued; `bad_request`: not
 * HTTP.
 */
const REFUSAL_WORDS = {
  forged: 'to unknown addresses',
  malformed:
    'with a body that is neither a JSON object nor a list of them (stored anyway, or a note if it cannot be decoded)',
  oversized: 'over the size limit (a note is stored)',
  unknown_coding: 'with a content coding that Sluice cannot decode (a note is stored)',
  overloaded: 'while too many were waiting',
  slow: 'that took too long to arrive',
  broken: 'that ended early',
  unstored: 'that could not be written to disk',
  wrong_method: 'with a method other than POST, GET or HEAD',
  bad_request: 'that were not valid HTTP',
}

export type Refusal = keyof typeof REFUSAL_WORDS

export const REFUSALS = Object.keys(REFUSAL_WORDS) as [Refusal, ...Refusal[]]

/** A kind of refusal in words that follow a number of callbacks. */
export function sayRefusal(kind: string): string {
  const known = REFUSALS.find((refusal) => refusal === kind)
  return known === undefined ? `(${kind})` : REFUSAL_WORDS[known]
}

/**
 * The effect of a callback. `settled`, `doubled`, `differing`, `other_post` and `unreadable` as a run counts
 * them; `measured`: it belongs to a load test; `waiting`: not processed yet; `unmatched`: its run has no such
 * row, or was deleted.
 */
export const callbackEffectSchema = z.enum([
  'settled',
  'settled_before',
  'doubled',
  'differing',
  'other_post',
  'unreadable',
  'measured',
  'waiting',
  'unmatched',
])

export type CallbackEffect = z.infer<typeof callbackEffectSchema>

const storedCallbackSchema = z.object({
  /** Its number in the inbox. */
  id: z.int(),
  /** Unix milliseconds. */
  receivedAtMs: z.number(),
  sizeBytes: z.int(),
  effect: callbackEffectSchema,
  /** The first run of the whole to which its address belongs; null if the workspace has none. */
  run: z.object({ runId: z.string(), name: z.string() }).nullable(),
  /** The row of its address; null if its journal does not tell, as for load tests. */
  row: rowNumberSchema.nullable(),
  /** The file of that row, if the source has several. */
  file: z.string().exactOptional(),
  /** Number of the record of its address; in load tests, number of the request. */
  record: z.int(),
})

/** A callback in the inbox, without its content. */
export type StoredCallback = z.infer<typeof storedCallbackSchema>

const awaitingRunSchema = z.object({
  runId: z.string(),
  name: z.string(),
  /** Acknowledged rows without a callback so far. */
  rows: z.int(),
  /** When the first and the last of them become overdue, Unix milliseconds. */
  firstOverdueAtMs: z.number(),
  lastOverdueAtMs: z.number(),
})

export type AwaitingRun = z.infer<typeof awaitingRunSchema>

const lastRefusalSchema = z.object({
  /** Unix milliseconds. */
  atMs: z.number(),
  /** As announced by the request; null if it did not. */
  sizeBytes: z.int().nullable(),
})

/** Everything known about a refused request. */
export type LastRefusal = z.infer<typeof lastRefusalSchema>

/** What arrived at a workspace's callback receiver, in whichever process it runs, and what is awaited. */
export const callbackOverviewSchema = z.object({
  /** Where a process of this workspace listens; null if none does. */
  baseUrl: z.string().nullable(),
  /** Callbacks stored since the workspace was created, including those of deleted runs. */
  received: z.int(),
  /** Refused requests by {@link Refusal}; only kinds that occurred. */
  refused: z.partialRecord(z.enum(REFUSALS), z.int()),
  /** The last request of each of these kinds, without its content. */
  lastRefused: z.partialRecord(z.enum(REFUSALS), lastRefusalSchema),
  /** HEAD and GET requests to callback addresses, which only check whether something listens. */
  probes: z.int(),
  /** What the existing runs did with theirs. */
  counts: callbackCountsSchema,
  /** The run that gives up first comes first. */
  awaiting: z.array(awaitingRunSchema),
  /** The newest in the inbox, newest first. */
  newest: z.array(storedCallbackSchema),
})

export type CallbackOverview = z.infer<typeof callbackOverviewSchema>

/** Result of a self-test of a public address. */
export const receiverTestSchema = z.object({
  /** The HTTP status of the address' answer. */
  status: z.int(),
  /** From sending to the answer, and to the arrival in the inbox, milliseconds. */
  answeredMs: z.number(),
  arrivedMs: z.number(),
})

export type ReceiverTest = z.infer<typeof receiverTestSchema>

export const receiverSchema = z.object({
  /** Where it listens. */
  baseUrl: z.string(),
  /** `standby`: another process of this workspace listens, and receives this one's callbacks too. */
  role: z.enum(['listening', 'standby']),
  /** Callbacks stored since the workspace was created. */
  received: z.int(),
  /** Refused callbacks by reason; malformed ones are stored anyway. */
  refused: z.record(z.string(), z.int()),
  /** HEAD and GET requests to callback addresses, since the workspace was created. */
  probes: z.int(),
})

export type ReceiverState = z.infer<typeof receiverSchema>
