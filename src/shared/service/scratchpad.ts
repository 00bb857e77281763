import { z } from 'zod'
import { outcomeSchema } from '../run/item-state.ts'
import { problemSchema } from '../run/problem.ts'

/** Longest text of a single request, in UTF-16 code units. */
export const SCRATCH_TEXT_MAX = 1024 * 1024

/** Most problems named for a text, the first ones: a long list may have one in each of its terms. */
export const SCRATCH_PROBLEMS_MAX = 100

const headerSchema = z.tuple([z.string(), z.string()])

/** What an answer or a callback means, as a run would count it. */
const scratchVerdictSchema = z.object({
  outcome: outcomeSchema,
  errorCode: z.string().nullable(),
  message: z.string().nullable(),
  /** Each rule once. */
  rules: z.array(z.object({ ruleId: z.string(), ruleName: z.string() })),
  /** The outcome will come by callback. */
  isAcknowledgement: z.boolean(),
})

export type ScratchVerdict = z.infer<typeof scratchVerdictSchema>

const bodySchema = z.object({
  text: z.string(),
  /** Length before it was cut, bytes; null if it is complete. */
  cutFromBytes: z.int().nullable(),
})

/** A request sent by hand, and its outcome. It belongs to no run and no file. */
export const scratchExchangeSchema = z.object({
  /** Identifies it for {@link scratchCallbackSchema}; it cannot be guessed. */
  id: z.string(),
  sentAt: z.string(),
  /** As sent; the key is masked. */
  request: z.object({
    method: z.enum(['POST', 'GET']),
    url: z.string(),
    headers: z.array(headerSchema),
    body: z.string().nullable(),
  }),
  /** Milliseconds, named as in docs/performance.md. */
  timings: z.object({
    /** First byte sent to last byte received. */
    durationMs: z.number(),
    /** Last byte sent to first byte received. */
    waitingMs: z.number().nullable(),
    connectMs: z.number().nullable(),
    tlsMs: z.number().nullable(),
  }),
  /** Null if there was no answer, or no complete one. */
  answer: z.object({ status: z.int(), headers: z.array(headerSchema), body: bodySchema }).nullable(),
  verdict: scratchVerdictSchema,
  /** Whether its callback will arrive here. */
  awaitsCallback: z.boolean(),
})

export type ScratchExchange = z.infer<typeof scratchExchangeSchema>

/** The callback of a single request. */
export const scratchCallbackSchema = z.object({
  receivedAt: z.string(),
  /** From the request being sent to its callback being received. */
  latencyMs: z.number(),
  body: bodySchema,
  /** Null if it cannot be read as a result. */
  verdict: scratchVerdictSchema.nullable(),
})

export type ScratchCallback = z.infer<typeof scratchCallbackSchema>

/** A problem that the checks of rows find in the text of a single request. */
export const scratchProblemSchema = problemSchema.extend({
  /** Path in the text, as keys and positions. */
  path: z.array(z.union([z.string(), z.int()])),
})

export type ScratchProblem = z.infer<typeof scratchProblemSchema>
