import { z } from 'zod'
import { OPERATION_KINDS } from '../operations/operations.ts'
import { RUN_STATES, type RunSummary, WAITING_PHASES } from '../run/run.ts'

/** Orders of runs. Orders by a figure begin with the largest. */
export const RUN_ORDERS = ['newest', 'oldest', 'name', 'rows', 'p95', 'size'] as const

/** Bulk runs, or load tests. */
export const RUN_PRODUCTS = ['run', 'load'] as const

/**
 * States to find runs by, including what they wait for and how load tests failed. `completed` excludes failed
 * load tests, and `running` excludes waiting runs; the other states exclude nothing.
 */
export const FOUND_STATES = [...RUN_STATES, ...WAITING_PHASES, 'threshold-failed', 'no-success'] as const

export const RUN_PAGE_MAX = 1_000

/** Selects runs of the workspace; a run and its retries count as one. A run must match every condition. */
export const runListQuerySchema = z.object({
  /**
   * Words that must all occur, ignoring case, in a run's id, name, source file name, tags, note, connection,
   * watchlist or index.
   */
  search: z.string().exactOptional(),
  product: z.enum(RUN_PRODUCTS).exactOptional(),
  operations: z.array(z.enum(OPERATION_KINDS)).exactOptional(),
  states: z.array(z.enum(FOUND_STATES)).exactOptional(),
  /** Only runs in which something went wrong (`hasFailed`), or only the others. */
  failed: z.boolean().exactOptional(),
  /** The name of a connection, or the address of its service. */
  connection: z.string().exactOptional(),
  /** Tags that the run must have, all of them. */
  target: z.string().exactOptional(),
  /** Runs created at or after `fromMs`, and before `beforeMs`, Unix milliseconds. */
  tags: z.array(z.string()).exactOptional(),
  /** The moment from which, and before which, the run was created, Unix milliseconds. */
  fromMs: z.number().exactOptional(),
  beforeMs: z.number().exactOptional(),
  order: z.enum(RUN_ORDERS).exactOptional(),
  offset: z.int().min(0).exactOptional(),
  /** Most runs on the page (default: all). */
  limit: z.int().min(0).max(RUN_PAGE_MAX).exactOptional(),
})

export type RunListQuery = z.infer<typeof runListQuerySchema>

/** Figures that lists show beside a run's summary. */
export const runFiguresSchema = z.object({
  /** Size of the files of the run and its retries, bytes. */
  sizeBytes: z.number(),
  /** The p95 of http_req_duration in at most {@link COURSE_POINTS} equal parts, ms; empty if unknown. */
  courseMs: z.array(z.number()),
})

type RunFigures = z.infer<typeof runFiguresSchema>

/** Most points of the course of a run. */
export const COURSE_POINTS = 30

export const runChoicesSchema = z.object({
  tags: z.array(z.string()),
  /** Names of connections; for services without one, their addresses. */
  connections: z.array(z.string()),
})

export type RunChoices = z.infer<typeof runChoicesSchema>

export interface RunPage {
  /** Each includes its retries. */
  runs: RunSummary[]
  /** Figures of each, in the same order. */
  figures: RunFigures[]
  choices: RunChoices
  /** Runs that match, on all pages. */
  total: number
  all: number
  /**
   * Journals still to be read, whose runs may be missing. 0 if the answer waited for them; a page of the
   * newest runs is the same either way.
   */
  unread: number
  /** Unreadable journals, newest first; their runs are not in the list. */
  unreadable: UnreadableRun[]
}

/** A journal that cannot be read, and why. */
export const unreadableRunSchema = z.object({ runId: z.string(), message: z.string() })

export type UnreadableRun = z.infer<typeof unreadableRunSchema>

/** The runs that a person's reference may mean. */
export interface FoundRuns {
  /** The first few ids of matching runs and retries. */
  ids: string[]
  /** How many match. */
  matching: number
  /** The newest run; null if there is none. */
  newest: string | null
  /** Runs and retries that cannot be read. */
  unreadable: number
}
