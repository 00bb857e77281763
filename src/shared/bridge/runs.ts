import { eventIterator } from '@orpc/contract'
import { z } from 'zod'
import { IN_FLIGHT_MAX } from '../load/load-pace.ts'
import {
  runChoicesSchema,
  runFiguresSchema,
  runListQuerySchema,
  unreadableRunSchema,
} from '../lookback/run-list.ts'
import { timeoutMsSchema } from '../plan/connection.ts'
import { fixesSchema } from '../plan/fixes.ts'
import { planSchema } from '../plan/plan.ts'
import { baseUrlSchema, connectionNameSchema } from '../plan/stored-connection.ts'
import { acceptCodeSchema } from '../run/accept-code.ts'
import { runSummarySchema } from '../run/run.ts'
import { runSnapshotSchema } from '../run/snapshot.ts'
import { crashSchema } from './crashes.ts'
import { base, doneSchema, ofRun, runIdSchema, streamIdSchema, toStrict } from './procedure.ts'
import { sourceReadingSchema } from './source.ts'

/** The key as typed into the window: kept in memory, for this run and its address alone, and never given back. */
export const apiKeySchema = z.string().min(1)

/** Where a page may have rows sent. It names no variable, file, proxy or certificate: those are a stored connection's. */
const destinationSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sandbox') }),
  z.object({ kind: z.literal('stored'), name: connectionNameSchema }),
  /** An address as typed; the key has to be typed as well. */
  z.object({
    kind: z.literal('service'),
    baseUrl: baseUrlSchema,
    taskBaseUrl: baseUrlSchema.exactOptional(),
  }),
])

const { mapping, filledBy, fixes, onlyNew, operation, callback, pace, load, retry } = planSchema.shape

/** What a page says of a run: a plan in which files, connections and listeners are named by what it was given. */
export const runRequestSchema = toStrict(
  z.object({
    destination: destinationSchema,
    /** How long an answer is awaited, milliseconds (default: the connection's own). */
    timeoutMs: timeoutMsSchema.exactOptional(),
    source: sourceReadingSchema,
    mapping,
    filledBy,
    fixes,
    onlyNew,
    operation,
    /** The workspace decides where the receiver listens. */
    callback: callback.unwrap().pick({ url: true, timeoutMs: true }).exactOptional(),
    pace,
    load,
    retry,
  }),
)

/** See {@link runRequestSchema}, with every default filled in. */
export type RunRequest = z.infer<typeof runRequestSchema>

/** See {@link runRequestSchema}, as a page writes it. */
export type RunRequestInput = z.input<typeof runRequestSchema>

/**
 * Warnings of a source that a person has accepted in the window. Whatever else has to be accepted keeps the rows from
 * being sent, unless they go to production: the question about that lists it, and its yes accepts it.
 */
export const acceptedSchema = z.array(acceptCodeSchema).exactOptional()

/** What begins a run: what it is, and the key if one was typed for it. */
export const startRunSchema = z.object({ request: runRequestSchema, apiKey: apiKeySchema.exactOptional() })

const takeUpSchema = ofRun({
  /** Whether rows of unknown outcome are sent again. */
  onUnknown: z.enum(['resend', 'skip']),
  /** Index adds of unknown outcome may be sent again although that may add items twice. */
  resendIndexAdds: z.boolean().exactOptional(),
  /** Without it, the key is that of the run's own connection. */
  apiKey: apiKeySchema.exactOptional(),
  accept: acceptedSchema,
  /** Wait for `begin` before anything is sent. */
  hold: z.boolean().exactOptional(),
})

const correctSchema = toStrict(
  takeUpSchema.omit({ hold: true }).extend({
    /** All fixes of the retry's plan. */
    fixes: fixesSchema,
  }),
)

const runEntrySchema = z.object({
  summary: runSummarySchema,
  /** Whether this process holds the run, so that it can be watched and steered. */
  isHeld: z.boolean(),
  figures: runFiguresSchema,
  /** Names of the baselines that it is; such a run cannot be deleted. */
  baselines: z.array(z.string()),
})

export type RunEntry = z.infer<typeof runEntrySchema>

export const RUNS_SHOWN = 50

const runEntriesSchema = z.object({
  entries: z.array(runEntrySchema),
  /** Runs that were asked for, on all pages, and runs of the workspace. */
  total: z.int(),
  all: z.int(),
  /** What the runs of the workspace can be filtered by. */
  choices: runChoicesSchema,
  /** Journals that are still to be read, so that runs may be missing; whoever shows the page asks again. */
  unread: z.int(),
  /** Runs whose journals cannot be read; they are not among the entries. */
  unreadable: z.array(unreadableRunSchema),
})

/** A page of the list of runs. */
export type RunEntries = z.infer<typeof runEntriesSchema>

const accessSchema = z.object({
  /** The stored connection it uses; null if none has that name. */
  connectionName: z.string().nullable(),
  /** The stored connection whose active key it sends; null if it follows none, as after that got another address. */
  keyConnection: z.string().nullable(),
  /** Whether a person is asked once more before anything is sent there. */
  isProduction: z.boolean(),
  /** Whether no key is at hand, so that one has to be typed. */
  needsKey: z.boolean(),
  /** Whether its requests carry a key that a person may change. */
  canChangeKey: z.boolean(),
})

export type RunAccess = z.infer<typeof accessSchema>

const runEventSchema = z.object({ sequence: z.int(), snapshot: runSnapshotSchema })

const listEventSchema = z.object({
  sequence: z.int(),
  /** Grows with each run that begins, ends or is deleted: then the list has to be read again. */
  revision: z.int(),
  /** The newest picture of each run that this process holds. */
  live: z.array(runSnapshotSchema),
  /** What crashed and was not put away yet. */
  crashes: z.array(crashSchema),
})

/** What `runs.watchAll` says. */
export type RunListEvent = z.infer<typeof listEventSchema>

/** Runs: start, steer, follow, look back. */
export const runsContract = {
  /** A page of the runs that are asked for (default: the newest {@link RUNS_SHOWN}). */
  list: base.input(toStrict(runListQuerySchema).default({ limit: RUNS_SHOWN })).output(runEntriesSchema),
  summarize: base.input(runIdSchema).output(runSummarySchema),
  readPlan: base.input(runIdSchema).output(planSchema),
  /**
   * Begins to read and check the source, and answers at once; nothing is sent before `begin`. Without `apiKey` the key
   * is the sandbox's own or that of the stored connection.
   */
  start: base.input(toStrict(startRunSchema)).output(runIdSchema),
  /** Answers when the source is read and checked; fails with what ended that. */
  awaitReady: base.input(runIdSchema).output(doneSchema),
  /**
   * Starts a held run; with `limit`, sends that many items and holds again. If it goes to production, a person is
   * asked first, in a place that the page cannot reach; fails with `NOT_CONFIRMED` if the answer is no, and elsewhere
   * if a warning has to be accepted that is not among `accept`.
   */
  begin: base
    .input(ofRun({ limit: z.int().min(1).exactOptional(), accept: acceptedSchema }))
    .output(runIdSchema),
  /** Sends nothing new; what is in flight ends. */
  pause: base.input(runIdSchema).output(doneSchema),
  /**
   * Goes on with a paused run; `accept` is what it stopped for, and with `despiteErrors` it goes on however many rows do
   * not succeed. A person is asked as by `begin`, unless that was for all of the run.
   */
  resume: base
    .input(ofRun({ accept: acceptedSchema, despiteErrors: z.boolean().exactOptional() }))
    .output(doneSchema),
  /** Drains what is in flight and ends the run as `interrupted`; it can be resumed. */
  stop: base.input(runIdSchema).output(doneSchema),
  setConcurrency: base.input(ofRun({ concurrency: z.int().min(1).max(IN_FLIGHT_MAX) })).output(doneSchema),
  /** Sends with another key from now on; it is kept in memory, for this run alone. */
  setApiKey: base.input(ofRun({ apiKey: apiKeySchema })).output(doneSchema),
  /** How the run reaches its service, as far as a person needs to know. */
  readAccess: base.input(runIdSchema).output(accessSchema),
  /** Whether a run or its retries were sent with each of these keys; null if nobody knows. */
  matchKeys: base
    .input(ofRun({ apiKeys: z.array(apiKeySchema) }))
    .output(z.object({ matches: z.array(z.boolean().nullable()) })),
  /** Takes an interrupted run up again. A person is asked as by `begin`. */
  resumeRun: base.input(takeUpSchema).output(runIdSchema),
  /** Sends what did not succeed as a child run; answers with the child's id. A person is asked as by `begin`. */
  retryRun: base.input(takeUpSchema).output(runIdSchema),
  /**
   * Makes a retry that corrects, and holds it: it has the rows that did not succeed and those that were never sent, all
   * checked again. Nothing is sent before `begin`, which asks a person if it has to.
   */
  correctRun: base.input(correctSchema).output(runIdSchema),
  /** Removes a run for good, unless it is a baseline. A run that is held and has sent nothing is ended first. */
  deleteRun: base.input(runIdSchema).output(doneSchema),
  /**
   * Snapshots of a run that this process holds, the newest one at once, at most ten a second. Ends with the run; fails
   * with what ended it; empty if the run is not held. Use `followRun` of `follow.ts`.
   */
  watch: base.input(ofRun(streamIdSchema.shape)).output(eventIterator(runEventSchema)),
  /** What happens to runs, one event at once, then at most two a second. Use `followRuns` of `follow.ts`. */
  watchAll: base.input(streamIdSchema).output(eventIterator(listEventSchema)),
}

/** The back channel of the event streams. */
export const eventsContract = {
  /** Says which event of a stream has arrived, so that the next may come. Unknown streams are ignored. */
  seen: base.input(toStrict(streamIdSchema.extend({ sequence: z.int() }))).output(doneSchema),
}
