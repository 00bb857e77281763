import { z } from 'zod'
import { OPERATION_KINDS } from '../operations/operations.ts'
import { RUN_STATES, type RunSummary, WAITING_PHASES } from '../run/run.ts'

/** How runs can be ordered. Where order is by a figure, the largest comes first. */
export const RUN_ORDERS = ['newest', 'oldest', 'name', 'rows', 'p95', 'size'] as const

/** Bulk runs, or load tests. */
export const RUN_PRODUCTS = ['run', 'load'] as const

/**
 * What runs can be found by: their state, what they wait for, or how a load test failed. `completed` leaves out load
 * tests that failed, and `running` runs that wait; the other states leave out none.
 */
export const FOUND_STATES = [...RUN_STATES, ...WAITING_PHASES, 'threshold-failed', 'no-success'] as const

/** Runs of one page at most. */
export const RUN_PAGE_MAX = 1_000

/** Which runs of the workspace are wanted; a run and its retries count as one. A run must match every condition. */
export const runListQuerySchema = z.object({
  /**
   * Words that all have to occur, in whatever case, in the id, name, source's file name, tags, note, connection, or
   * watchlist or index of the run.
   */
  search: z.string().exactOptional(),
  product: z.enum(RUN_PRODUCTS).exactOptional(),
  operations: z.array(z.enum(OPERATION_KINDS)).exactOptional(),
  states: z.array(z.enum(FOUND_STATES)).exactOptional(),
  /** Only runs in which something went wrong (`hasFailed`), or only the others. */
  failed: z.boolean().exactOptional(),
  /** The name of a connection, or the address of its service. */
  connection: z.string().exactOptional(),
  /** The watchlist or custom index. */
  target: z.string().exactOptional(),
  /** Tags that the run has to have, all of them. */
  tags: z.array(z.string()).exactOptional(),
  /** The moment from which, and before which, the run was created, Unix milliseconds. */
  fromMs: z.number().exactOptional(),
  beforeMs: z.number().exactOptional(),
  order: z.enum(RUN_ORDERS).exactOptional(),
  offset: z.int().min(0).exactOptional(),
  /** Runs of the page at most (default: all). */
  limit: z.int().min(0).max(RUN_PAGE_MAX).exactOptional(),
})

export type RunListQuery = z.infer<typeof runListQuerySchema>

/** What lists show of a run next to its summary. */
export const runFiguresSchema = z.object({
  /** Size of the files of the run and its retries, bytes. */
  sizeBytes: z.number(),
  /** The p95 of http_req_duration in equal parts of the run, at most {@link COURSE_POINTS}, milliseconds; empty if unknown. */
  courseMs: z.array(z.number()),
})

type RunFigures = z.infer<typeof runFiguresSchema>

/** Most points of the course of a run. */
export const COURSE_POINTS = 30

/** What the runs of a workspace can be filtered by. */
export const runChoicesSchema = z.object({
  tags: z.array(z.string()),
  /** Names of connections; addresses of services whose runs have none. */
  connections: z.array(z.string()),
})

export type RunChoices = z.infer<typeof runChoicesSchema>

export interface RunPage {
  /** Each together with its retries. */
  runs: RunSummary[]
  /** Figures of each, in the same order. */
  figures: RunFigures[]
  choices: RunChoices
  /** Runs that were asked for, on all pages. */
  total: number
  all: number
  /**
   * Journals that are still to be read, so that their runs may be missing. None in an answer that waits for them; a page of
   * the newest is the same with and without.
   */
  unread: number
  /** Journals that cannot be read, newest first; none of their runs is in the list. */
  unreadable: UnreadableRun[]
}

/** A journal that cannot be read, and why. */
export const unreadableRunSchema = z.object({ runId: z.string(), message: z.string() })

export type UnreadableRun = z.infer<typeof unreadableRunSchema>

/** The runs that a person's reference means. */
export interface FoundRuns {
  /** Ids of runs and retries that fit, the first few. */
  ids: string[]
  /** How many fit. */
  matching: number
  /** Runs of the workspace, each with its retries. */
  all: number
  /** The newest run; null if there is none. */
  newest: string | null
  /** Runs and retries that cannot be read. */
  unreadable: number
}
