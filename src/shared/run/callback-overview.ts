import { z } from 'zod'
import { rowNumberSchema } from '../plan/source-place.ts'
import { callbackCountsSchema } from './run.ts'

/**
 * Why a request was not answered 200. `malformed` is stored anyway, of `oversized` and `unknown_coding` a note; `unstored`: the disk
 * failed; `forged`: an address that was never issued; `bad_request`: not HTTP.
 */
const REFUSAL_WORDS = {
  forged: 'to unknown addresses',
  malformed: 'with a body that is not a JSON object (stored anyway, or a note if it cannot be decoded)',
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

/** What a kind of refusal was, in words that follow a number of callbacks. */
export function sayRefusal(kind: string): string {
  const known = REFUSALS.find((refusal) => refusal === kind)
  return known === undefined ? `(${kind})` : REFUSAL_WORDS[known]
}

/**
 * What a callback did. `settled`, `doubled`, `differing`, `other_post` and `unreadable` as a run counts them; `measured`: it belongs to a load test;
 * `waiting`: nobody has processed it yet; `unmatched`: its run has no such row, or is gone.
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
  /** Its place in the inbox. */
  id: z.int(),
  /** Unix milliseconds. */
  receivedAtMs: z.number(),
  sizeBytes: z.int(),
  effect: callbackEffectSchema,
  /** The first run of the whole that its address belongs to; null if the workspace has none. */
  run: z.object({ runId: z.string(), name: z.string() }).nullable(),
  /** The row that its address belongs to; null if its journal does not tell, as for load tests. */
  row: rowNumberSchema.nullable(),
  /** The file of that row, of a source that has several. */
  file: z.string().exactOptional(),
  /** Number of the record that its address names; in load tests that of the request. */
  record: z.int(),
})

/** A callback in the inbox, without its content. */
export type StoredCallback = z.infer<typeof storedCallbackSchema>

const awaitingRunSchema = z.object({
  runId: z.string(),
  name: z.string(),
  /** Rows that were acknowledged and have no callback yet. */
  rows: z.int(),
  /** When the first and the last of them are overdue, Unix milliseconds. */
  firstOverdueAtMs: z.number(),
  lastOverdueAtMs: z.number(),
})

export type AwaitingRun = z.infer<typeof awaitingRunSchema>

const lastRefusalSchema = z.object({
  /** Unix milliseconds. */
  atMs: z.number(),
  /** As it announced it; null if it did not. */
  sizeBytes: z.int().nullable(),
})

/** All that is known of a request that was refused. */
export type LastRefusal = z.infer<typeof lastRefusalSchema>

/** What came to the callback receiver of a workspace, whichever process listens, and what is still awaited. */
export const callbackOverviewSchema = z.object({
  /** Where a process of this workspace listens; null if none does. */
  baseUrl: z.string().nullable(),
  /** Callbacks stored since the workspace was made, those of deleted runs too. */
  received: z.int(),
  /** Requests that were refused, by {@link Refusal}; only kinds that occurred. */
  refused: z.partialRecord(z.enum(REFUSALS), z.int()),
  /** The last request of each of these kinds; what it held is not kept. */
  lastRefused: z.partialRecord(z.enum(REFUSALS), lastRefusalSchema),
  /** HEAD and GET requests to addresses of callbacks, which only ask whether someone is there. */
  probes: z.int(),
  /** What the runs that are still there made of theirs. */
  counts: callbackCountsSchema,
  /** The one that gives up first comes first. */
  awaiting: z.array(awaitingRunSchema),
  /** The newest in the inbox, newest first. */
  newest: z.array(storedCallbackSchema),
})

export type CallbackOverview = z.infer<typeof callbackOverviewSchema>

/** How a self-test of a public address went. */
export const receiverTestSchema = z.object({
  /** The HTTP status that the address answered. */
  status: z.int(),
  /** From sending to that answer, and to the arrival in the inbox, milliseconds. */
  answeredMs: z.number(),
  arrivedMs: z.number(),
})

export type ReceiverTest = z.infer<typeof receiverTestSchema>

export const receiverSchema = z.object({
  /** Where it listens. */
  baseUrl: z.string(),
  /** `standby`: another process of this workspace listens, and takes this one's callbacks too. */
  role: z.enum(['listening', 'standby']),
  /** Callbacks stored since the workspace was made. */
  received: z.int(),
  /** Callbacks that were refused, by why; malformed ones are stored anyway. */
  refused: z.record(z.string(), z.int()),
  /** HEAD and GET requests to addresses of callbacks, since the workspace was made. */
  probes: z.int(),
})

export type ReceiverState = z.infer<typeof receiverSchema>
