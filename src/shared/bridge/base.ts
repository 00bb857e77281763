import { oc } from '@orpc/contract'
import { z } from 'zod'
import { BRIDGE_ERRORS } from './errors.ts'

/** What every procedure is made from: it may fail with each of our codes. */
export const base = oc.errors(BRIDGE_ERRORS)

/** Names one run. */
export const runIdSchema = z.strictObject({ runId: z.string().min(1).max(100) })

/** The answer of procedures that only do something. */
export const doneSchema = z.object({})

/**
 * Names one event stream of a connection, chosen by who listens. The next event of a stream is sent only after
 * `events.seen` has named the one before, so that a slow reader gets the newest and never a queue.
 */
export const streamIdSchema = z.strictObject({ streamId: z.string().min(1).max(100) })
