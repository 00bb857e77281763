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

/** The key as typed: kept in memory, only for this run and its address, and never returned. */
export const apiKeySchema = z.string().min(1)

/**
 * Where a page may have rows sent. It cannot name variables, files, proxies or certificates: only stored
 * connections have these.
 */
const destinationSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sandbox') }),
  z.object({ kind: z.literal('stored'), name: connectionNameSchema }),
  /** A typed address; its key must be typed as well. */
  z.object({
    kind: z.literal('service'),
    baseUrl: baseUrlSchema,
    taskBaseUrl: baseUrlSchema.exactOptional(),
  }),
])

const { mapping, filledBy, fixes, onlyNew, operation, callback, pace, load, retry } = planSchema.shape

/** How a page describes a run: a plan that names files, connections and listeners by what it was given. */
export const runRequestSchema = toStrict(
  z.object({
    destination: destinationSchema,
    /** How long to wait for an answer, milliseconds (default: the connection's own). */
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
 * Warnings of a source that a person accepted in the window. Rows with any other warning that needs
 * acceptance are not sent, except to production: the production question lists these, and confirming it
 * accepts them.
 */
export const acceptedSchema = z.array(acceptCodeSchema).exactOptional()

/** What starts a run: its description, and a typed key if there is one. */
export const startRunSchema = z.object({ request: runRequestSchema, apiKey: apiKeySchema.exactOptional() })

const takeUpSchema = ofRun({
  onUnknown: z.enum(['resend', 'skip']),
  /** Whether to resend index adds with an unknown outcome although that may add items twice. */
  resendIndexAdds: z.boolean().exactOptional(),
  /** Default: the key of the run's own connection. */
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
  /** Whether this process holds the run, so that it can be watched and controlled. */
  isHeld: z.boolean(),
  figures: runFiguresSchema,
  /** Names under which the run is a baseline; such a run cannot be deleted. */
  baselines: z.array(z.string()),
})

export type RunEntry = z.infer<typeof runEntrySchema>

export const RUNS_SHOWN = 50

const runEntriesSchema = z.object({
  entries: z.array(runEntrySchema),
  /** Runs that match, on all pages, and all runs of the workspace. */
  total: z.int(),
  all: z.int(),
  /** What the runs of the workspace can be filtered by. */
  choices: runChoicesSchema,
  /** Journals still to be read, whose runs may be missing; the window asks again. */
  unread: z.int(),
  /** Runs whose journals cannot be read; they are not among the entries. */
  unreadable: z.array(unreadableRunSchema),
})

export type RunEntries = z.infer<typeof runEntriesSchema>

const accessSchema = z.object({
  /** The stored connection it uses; null if none has that name. */
  connectionName: z.string().nullable(),
  /** The connection whose active key it sends; null if it follows none, as after a change of its address. */
  keyConnection: z.string().nullable(),
  /** Whether a person must confirm before anything is sent there. */
  isProduction: z.boolean(),
  /** Whether no key is available, so that one must be typed. */
  needsKey: z.boolean(),
  /** Whether its requests carry a key that a person may change. */
  canChangeKey: z.boolean(),
})

export type RunAccess = z.infer<typeof accessSchema>

const runEventSchema = z.object({ sequence: z.int(), snapshot: runSnapshotSchema })

const listEventSchema = z.object({
  sequence: z.int(),
  /** Grows with each run that begins, ends or is deleted; the list must then be read again. */
  revision: z.int(),
  /** The newest snapshot of each run that this process holds. */
  live: z.array(runSnapshotSchema),
  /** Crashes that were not dismissed yet. */
  crashes: z.array(crashSchema),
})

/** What `runs.watchAll` says. */
export type RunListEvent = z.infer<typeof listEventSchema>

/** Runs: start, control, follow, look back. */
export const runsContract = {
  /** A page of the runs that match the query (default: the newest {@link RUNS_SHOWN}). */
  list: base.input(toStrict(runListQuerySchema).default({ limit: RUNS_SHOWN })).output(runEntriesSchema),
  summarize: base.input(runIdSchema).output(runSummarySchema),
  readPlan: base.input(runIdSchema).output(planSchema),
  /**
   * Begins to read and check the source, and returns at once; nothing is sent before `begin`. Without
   * `apiKey`, the key is the sandbox's or the stored connection's.
   */
  start: base.input(toStrict(startRunSchema)).output(runIdSchema),
  /** Returns when the source is read and checked; fails with the error that ended that. */
  awaitReady: base.input(runIdSchema).output(doneSchema),
  /**
   * Starts a held run; with `limit`, sends that many items and holds it again. If it goes to production, a
   * person is asked first, in a place that the page cannot reach; fails with `NOT_CONFIRMED` if they decline.
   * Elsewhere it fails if a warning needs acceptance that is not in `accept`.
   */
  begin: base
    .input(ofRun({ limit: z.int().min(1).exactOptional(), accept: acceptedSchema }))
    .output(runIdSchema),
  /** Sends nothing new; requests in flight finish. */
  pause: base.input(runIdSchema).output(doneSchema),
  /**
   * Continues a paused run; `accept` is what it stopped for, and with `despiteErrors` it continues however
   * many rows do not succeed. A person is asked as by `begin`, unless `begin` already covered the whole run.
   */
  resume: base
    .input(ofRun({ accept: acceptedSchema, despiteErrors: z.boolean().exactOptional() }))
    .output(doneSchema),
  /** Lets requests in flight finish and ends the run as `interrupted`; it can be resumed. */
  stop: base.input(runIdSchema).output(doneSchema),
  setConcurrency: base.input(ofRun({ concurrency: z.int().min(1).max(IN_FLIGHT_MAX) })).output(doneSchema),
  /** Switches to another key, which is kept in memory for this run alone. */
  setApiKey: base.input(ofRun({ apiKey: apiKeySchema })).output(doneSchema),
  /** How the run reaches its service, as far as a person needs to know. */
  readAccess: base.input(runIdSchema).output(accessSchema),
  /** Whether a run or its retries were sent with each of these keys; null if that is unknown. */
  matchKeys: base
    .input(ofRun({ apiKeys: z.array(apiKeySchema) }))
    .output(z.object({ matches: z.array(z.boolean().nullable()) })),
  /** Resumes an interrupted run. A person is asked as by `begin`. */
  resumeRun: base.input(takeUpSchema).output(runIdSchema),
  /** Sends what did not succeed as a child run; returns the child's id. A person is asked as by `begin`. */
  retryRun: base.input(takeUpSchema).output(runIdSchema),
  /**
   * Creates a correcting retry and holds it: it has the rows that did not succeed and those never sent, all
   * checked again. Nothing is sent before `begin`, which asks a person if necessary.
   */
  correctRun: base.input(correctSchema).output(runIdSchema),
  /** Removes a run for good, unless it is a baseline. A held run that has sent nothing is ended first. */
  deleteRun: base.input(runIdSchema).output(doneSchema),
  /**
   * Ends a run that was held for a draft or dialog and has sent nothing or a trial; deletes it if it has sent
   * nothing. Leaves a run alone that was begun beyond a trial.
   */
  drop: base.input(runIdSchema).output(doneSchema),
  /**
   * Snapshots of a run that this process holds, the newest one at once, at most ten a second. Ends with the
   * run; fails with the error that ended it; empty if the run is not held. Use `followRun` of `follow.ts`.
   */
  watch: base.input(ofRun(streamIdSchema.shape)).output(eventIterator(runEventSchema)),
  /** Events about runs, one at once, then at most two a second. Use `followRuns` of `follow.ts`. */
  watchAll: base.input(streamIdSchema).output(eventIterator(listEventSchema)),
}

/** Acknowledges events of streams. */
export const eventsContract = {
  /** Names an event of a stream that has arrived, so the next may be sent. Unknown streams are ignored. */
  seen: base.input(toStrict(streamIdSchema.extend({ sequence: z.int() }))).output(doneSchema),
}
