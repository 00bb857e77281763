import { z } from 'zod'
import { metricValuesSchema, trendMetricSchema } from '../load/metrics.ts'
import { thresholdResultSchema } from '../load/thresholds.ts'
import { formatCounted } from '../messages/figure-text.ts'
import { rowAndRecordShape } from '../plan/source-place.ts'
import {
  countLeftOut,
  countRows,
  countsShape,
  outcomeSchema,
  requestsShape,
  UNSUCCESSFUL_STATES,
} from './item-state.ts'
import { sourceReadSchema } from './read-as.ts'
import { sentBeforeSchema } from './sent-before.ts'
import { usedMappingSchema } from './used-mapping.ts'

/** `interrupted`: the process that held the run is gone, or the person stopped it; it can be resumed. */
export const runStateSchema = z.enum(['running', 'completed', 'stopped', 'interrupted'])

export const RUN_STATES = runStateSchema.options

export type RunState = z.infer<typeof runStateSchema>

/** Milliseconds; `count` is the number of samples. */
export const percentilesSchema = z.object({
  count: z.int(),
  min: z.number(),
  mean: z.number(),
  p50: z.number(),
  p90: z.number(),
  p95: z.number(),
  p99: z.number(),
  p99_9: z.number(),
  max: z.number(),
})

/** Percentiles of one latency series, in milliseconds. */
export type Percentiles = z.infer<typeof percentilesSchema>

const withoutOwnDelaysSchema = z.partialRecord(
  z.enum(['http_req_duration', 'response_time']),
  percentilesSchema,
)

/** Percentiles in milliseconds as they would be without delays of the machine that sent. */
export type WithoutOwnDelays = z.infer<typeof withoutOwnDelaysSchema>

/** One bar of a latency distribution: how many latencies lie above `fromMs` and up to `upToMs`. */
export const latencyBarSchema = z.object({ fromMs: z.number(), upToMs: z.number(), count: z.int() })

export type LatencyBar = z.infer<typeof latencyBarSchema>

/** Distributions as bars, by what was measured. */
export const latencyBarsSchema = z.partialRecord(trendMetricSchema, z.array(latencyBarSchema))

/** Every row of the source is in exactly one of the counts after `read`. */
export const rowCountsSchema = z.object({ read: z.int(), ...countsShape })

/** Rows of a source by outcome. */
export type RowCounts = z.infer<typeof rowCountsSchema>

/** Attempts by how they ended; `retried` are those that followed another of the same item. */
export const requestCountsSchema = z.object({ ...requestsShape, retried: z.int() })

/** Attempts of a run by outcome. */
export type RequestCounts = z.infer<typeof requestCountsSchema>

export const triggeredRuleSchema = z.object({
  rule_id: z.string(),
  rule_name: z.string(),
  rows: z.int(),
  /** Those of the rows that did not succeed, if any: the service answered an error beside the rule. */
  without_success: z.int().optional(),
})

export type TriggeredRule = z.infer<typeof triggeredRuleSchema>

/** The rows of a rule that succeeded, of which shares are. */
export function countSucceededOf({ rows, without_success: without = 0 }: TriggeredRule): number {
  return rows - without
}

/** Says why a share is less than the rows beside it, if it is. */
export function noteUnsuccessful(rules: readonly TriggeredRule[]): string[] {
  if (!rules.some(({ without_success: without }) => without !== undefined)) return []
  return [
    'Some of these rows were answered with an error in addition to the rules. They are not in the shares.',
  ]
}

/** Rows that ended alike, and how. */
export const errorGroupSchema = z.object({
  outcome: z.enum(['invalid', ...UNSUCCESSFUL_STATES]),
  /** HTTP status, or null if there was no answer. */
  status: z.int().nullable(),
  error_code: z.string().nullable(),
  message: z.string(),
  rows: z.int(),
})

export type ErrorGroup = z.infer<typeof errorGroupSchema>

/** What a person should know about how a run is sent; `code` is stable. */
export const runWarningSchema = z.object({
  code: z.string(),
  message: z.string(),
  /** Of a warning about rows: how many have it, and the command that lists them. */
  rows: z.int().exactOptional(),
  list_with: z.string().exactOptional(),
})

export type RunWarning = z.infer<typeof runWarningSchema>

export type RowWarning = Required<RunWarning>

/** The warnings of a run that are about its rows, most rows first. */
export function listRowWarnings(warnings: readonly RunWarning[]): RowWarning[] {
  return warnings.filter((warning): warning is RowWarning => warning.rows !== undefined)
}

/** What is warned of that is about the run as a whole. */
export function listRunWarnings(warnings: readonly RunWarning[]): string[] {
  return warnings.filter(({ rows }) => rows === undefined).map(({ message }) => message)
}

const termsSchema = z.object({
  added: z.int(),
  pre_existing: z.int(),
  /** Pre-existing after a try whose answer was lost, which may have added them; left out if there are none. */
  added_or_pre_existing: z.int().exactOptional(),
  updated: z.int(),
  non_existent: z.int(),
  /** Terms that the service did not process, the first {@link FAILED_TERMS_MAX} of them. */
  failed: z.array(z.object({ term: z.string(), notes: z.string().nullable(), ...rowAndRecordShape })),
})

/** Failed terms that a summary lists at most; all of them are in the results. */
export const FAILED_TERMS_MAX = 1_000

/** The outcome of a watchlist's terms, by row. */
export type TermCounts = z.infer<typeof termsSchema>

const appealsSchema = z.object({
  in_review: z.int(),
  reviewed: z.int(),
  overturned: z.int(),
  upheld: z.int(),
  other_status: z.int(),
})

export const callbackCountsSchema = z.object({
  received: z.int(),
  /** Settled their item. */
  settled: z.int(),
  /** Of those, before the acknowledgement came. */
  early: z.int(),
  /** Of those, when the item was overdue or unknown already. */
  late: z.int(),
  /** Said again what another callback of the item had said. */
  doubled: z.int(),
  /** Said something else than the one that settled their item; a result counts more than an error, else the first. */
  differing: z.int(),
  /** Named another post or item than the row of their address; by earlier versions they settled it all the same. */
  other_post: z.int(),
  /** Not of the interface; their item stays as it is. */
  unreadable: z.int(),
  /** Of those that settled their item, may answer what was sent before a correction; absent if there are none. */
  in_doubt: z.int().exactOptional(),
})

export type CallbackCounts = z.infer<typeof callbackCountsSchema>

/**
 * Rows, or requests of a load test, by whether the answer proves whose it is (docs/results.md). The first and the third
 * succeeded.
 */
const echoCountsSchema = z.object({
  /** The answer or the callback repeats the id that was sent. */
  verified: z.int(),
  /** Of those, with other white space, in another case or Unicode normal form. */
  alike: z.int(),
  /** Nothing of it tells rows apart. */
  not_verifiable: z.int(),
  /** It names another id: how the row ended is unknown. */
  mismatched: z.int(),
})

const loadSummarySchema = z.object({
  /** What the schedule asked for; null at a closed pace. */
  scheduled_per_s: z.number().nullable(),
  /** First tries, as the schedule has them; `requests.sent` counts retries, too. */
  iterations: z.int(),
  iterations_per_s: z.number(),
  /** What was answered within the measured time, whatever the answer. */
  answered_per_s: z.number(),
  /** Answers by status, most first; null is no answer. */
  statuses: z.array(
    z.object({ status: z.int().nullable(), error_code: z.string().nullable(), requests: z.int() }),
  ),
  /** Answers of 429, answers with a Retry-After, and the seconds they asked for, added up. */
  throttling: z.object({ answers: z.int(), retry_after_answers: z.int(), asked_s: z.number() }),
  connections: z.object({ opened: z.int(), reused: z.int() }),
  /**
   * The longest time without any answer while requests were in flight; absent unless it is at least 1 s and ten times
   * the p99 of what succeeded.
   */
  silence: z
    .object({
      /** Since measuring began. */
      from_s: z.number(),
      duration_s: z.number(),
      /** Requests that ended in it without an answer. */
      requests: z.int(),
      message: z.string(),
    })
    .exactOptional(),
  /** Metrics that are no latencies, by k6's names and aggregations; absent of earlier versions. */
  metrics: metricValuesSchema.exactOptional(),
  /** Requests by the stage in which they were due, with a concurrency sent; absent if the pace has none. */
  stages: z
    .array(
      z.object({
        /** From 0, as the tag `stage` of thresholds has it. */
        number: z.int(),
        name: z.string().nullable(),
        /** Levels: requests a second, or requests in flight. */
        from: z.number(),
        to: z.number(),
        /** How long it was measured. */
        duration_s: z.number(),
        /** Requests that were due in it; null at a closed pace. */
        scheduled: z.int().nullable(),
        requests: z.int(),
        /** Those of them that did not succeed. */
        failed: z.int(),
        requests_per_s: z.number(),
        latency_ms: z.partialRecord(trendMetricSchema, percentilesSchema),
      }),
    )
    .exactOptional(),
  /** Which rows requests sent, unless in the order of the source. */
  order: z
    .object({ order: z.enum(['shuffled', 'random']), seed: z.int(), weight: z.string().nullable() })
    .exactOptional(),
  /** Row 1, which went out before everything else and is in no other figure; absent if there was none. */
  first_request: z
    .object({
      outcome: outcomeSchema,
      status: z.int().nullable(),
      error_code: z.string().nullable(),
      message: z.string().nullable(),
      duration_ms: z.number(),
      /** The traceparent header that it went out with; absent if it had none. */
      traceparent: z.string().exactOptional(),
    })
    .exactOptional(),
  /** Of async load tests: callbacks that said error, did not come in time, or were awaited still at the end. */
  callbacks: z.object({ rejected: z.int(), overdue: z.int(), outstanding: z.int() }).optional(),
})

/** Cells that fixes of a plan changed. */
export const correctedSchema = z.object({
  /** Rows with at least one corrected cell. */
  rows: z.int(),
  cells: z.int(),
  /** Cells by field, most first. */
  fields: z.array(z.object({ field: z.string(), cells: z.int() })),
  /** Records that were split in two rows. */
  split: z.int(),
})

/** How much of a source a run's fixes changed. */
export type CorrectedCounts = z.infer<typeof correctedSchema>

const retrySchema = z.object({
  run_id: z.string(),
  parent_run_id: z.string().nullable(),
  state: runStateSchema,
  created_at: z.string(),
  rows: rowCountsSchema,
})

/**
 * A time that a process took the run up: `start` read the source, `resume` went on, `retry` sent unsuccessful rows again,
 * `correction` corrected them before, `import` stored what another tool had measured.
 */
const sessionSchema = z.object({
  number: z.int(),
  kind: z.enum(['start', 'resume', 'retry', 'correction', 'import']),
  /** The run itself, or the retry that has a run of its own. */
  run_id: z.string(),
  started_at: z.string(),
  /** When it stopped sending; null if it goes on, or its process died. */
  ended_at: z.string().nullable(),
  app_version: z.string(),
  /** Rows that a retry put back into the queue. */
  rows_taken: z.int(),
  /** It sent with a key that no session of the run had before it; left out otherwise, and where that is not known. */
  other_key: z.literal(true).exactOptional(),
  requests: z.object(requestsShape),
  duration_s: z.number(),
})

export type RunSession = z.infer<typeof sessionSchema>

export type SessionKind = RunSession['kind']

/** What a run that a process holds waits for: the first yes, another one, or callbacks of all that was sent. */
const waitingPhaseSchema = z.enum(['ready', 'paused', 'awaiting'])

export const WAITING_PHASES = waitingPhaseSchema.options

/** What `show --json` and every sending command print: the whole run. */
export const runSummarySchema = z.object({
  run_id: z.string(),
  /** As a person named it; otherwise as its plan does. */
  name: z.string(),
  /** What a person noted about the run; left out if there is nothing. */
  tags: z.array(z.string()).exactOptional(),
  note: z.string().exactOptional(),
  operation: z.string(),
  /** The watchlist or custom index of those operations. */
  target: z.string().optional(),
  mode: z.enum(['sync', 'async']),
  api: z.enum(['v1', 'v2']),
  state: runStateSchema,
  /** Of a run whose state is `running` and that sends nothing: what it waits for. */
  phase: waitingPhaseSchema.exactOptional(),
  /** Why it stopped, where it stopped on its own, without a full stop; and what to do, in sentences. */
  stop_reason: z.string().nullable(),
  stop_advice: z.string().nullable(),
  source: z.string(),
  /** Further files and folders of the source, if it names several. */
  more_sources: z.array(z.string()).exactOptional(),
  /** What of the source earlier runs of the workspace sent to the same service; absent if they sent none of it. */
  sent_before: sentBeforeSchema.exactOptional(),
  /** Whether only rows were to be sent that are not among these. */
  only_new: z.literal(true).exactOptional(),
  /** How the source was read; absent until it was, and where an earlier version read it. */
  source_read: sourceReadSchema.exactOptional(),
  /** What filled the fields of the requests; absent until the source was read. */
  mapping: usedMappingSchema.exactOptional(),
  /** The name of the connection, if the plan names one. */
  connection: z.string().exactOptional(),
  base_url: z.string(),
  /** The second host, if the connection has one; tasks of v2 go there (docs/interface.md §5.5). */
  task_base_url: z.string().optional(),
  created_at: z.string(),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
  /** Of a retry: the run whose rows it sends again. */
  parent_run_id: z.string().nullable(),
  /** Of a retry: the first run of the whole it belongs to, and how that stands with all its retries; else null. */
  whole_run: z.object({ run_id: z.string(), rows: rowCountsSchema }).nullable(),
  /** Retries of this run and theirs, oldest first, each with its own rows; they are in all other figures, too. */
  retries: z.array(retrySchema),
  /** The sessions of the run and of its retries, oldest first. Of an earlier version all that a run had are one. */
  sessions: z.array(sessionSchema),
  /** Of each row what its newest answer says, whichever retry brought it. */
  rows: rowCountsSchema,
  requests: requestCountsSchema,
  throughput: z.object({
    duration_s: z.number(),
    attempted_per_s: z.number(),
    succeeded_per_s: z.number(),
  }),
  latency_ms: z.partialRecord(trendMetricSchema, percentilesSchema),
  triggered_rules: z.array(triggeredRuleSchema),
  errors: z.array(errorGroupSchema),
  /** Of watchlist runs. */
  terms: termsSchema.optional(),
  /** Of custom index runs. */
  items: z.object({ added: z.int(), removed: z.int() }).optional(),
  /** Of appeal runs. */
  appeals: appealsSchema.optional(),
  /** Of async runs. */
  callbacks: callbackCountsSchema.optional(),
  /** Of a run whose plan has fixes that changed anything: what it sent otherwise than its source has it. */
  corrected: correctedSchema.exactOptional(),
  /** What is odd about the way to the service, then what is doubtful about rows, by cause. */
  warnings: z.array(runWarningSchema),
  retry_after: z.object({ answers: z.int(), waited_s: z.number() }),
  /**
   * Of runs that got 429s: how many, how long the run was held to a pace by them, seconds, and the limit that was
   * measured last, requests per second.
   */
  throttling: z
    .object({ answers: z.int(), throttled_s: z.number(), limit_per_s: z.number().nullable() })
    .optional(),
  from_cache: z.object({ rows: z.int() }),
  /** Of runs in which answers were compared with their requests. */
  echoes: echoCountsSchema.exactOptional(),
  /** Rows that count as succeeded since the service said it had them before; it does not give their result again. */
  result_lost: z.object({ rows: z.int() }),
  /** Rows of `not_sent` that were tried before and are to be tried again. */
  to_repeat: z.object({ rows: z.int() }),
  /** Of load tests: what their schedule asked for, and what was answered, request by request. */
  load: loadSummarySchema.optional(),
  /** Of load tests: how each threshold stands, or stood at the end. */
  thresholds: z.array(thresholdResultSchema).optional(),
  generator: z.object({
    /** Whether the generator, and not the service, shaped any of the figures (docs/load-tests.md §1). */
    limited: z.boolean(),
    /** Why, a sentence each. */
    reasons: z.array(z.string()).optional(),
    dropped: z.int(),
    waited: z.int(),
    /** Those of them that the service kept back: it could not be reached, or limited the rate. Absent for none. */
    held_by_service: z.int().exactOptional(),
    start_lag_p99_ms: z.number().nullable(),
    /** Of load tests: the longest start lag that the limit of requests in flight did not cause; 0 for a closed pace. */
    own_start_lag_max_ms: z.number().exactOptional(),
    /** Of load tests: what latencies would be without all that may be delays of this machine; absent of earlier versions. */
    without_own_delays_ms: withoutOwnDelaysSchema.exactOptional(),
    event_loop_max_ms: z.number().nullable(),
  }),
})

export type RunSummary = z.infer<typeof runSummarySchema>

/** The host that a run's requests go to: the second one for tasks of v2, if there is one. */
export function toServiceUrl({
  api,
  base_url,
  task_base_url,
}: Pick<RunSummary, 'api' | 'base_url' | 'task_base_url'>): string {
  return api === 'v2' ? (task_base_url ?? base_url) : base_url
}

/** The sessions in which a run sent unsuccessful rows again, in itself or as a run of its own; oldest first. */
export function listRetries({ sessions }: Pick<RunSummary, 'sessions'>): RunSession[] {
  return sessions.slice(1).filter(({ kind }) => kind === 'retry' || kind === 'correction')
}

export function isLoadRun({ thresholds }: Pick<RunSummary, 'thresholds'>): boolean {
  return thresholds !== undefined
}

/** What a load test came to: its requests, and in async the callbacks that came of them. */
interface LoadOutcome {
  requests: Pick<RequestCounts, 'sent' | 'succeeded'>
  callbacks: (Record<'received' | 'rejected' | 'outstanding', number> & { otherPost?: number }) | null
}

type SummaryOfLoad = Pick<RunSummary, 'requests' | 'callbacks' | 'load'>

/** That nothing of a load test succeeded, which fails it whatever its thresholds say, without a full stop; null if anything did. */
export function sayNoSuccess({ requests, callbacks }: LoadOutcome): string | null {
  const { sent, succeeded } = requests
  if (sent === 0) return null
  if (succeeded === 0)
    return sent === 1 ? 'The request did not succeed' : `None of ${formatCounted(sent, 'request')} succeeded`
  if (callbacks === null || callbacks.outstanding > 0) return null
  const { received, rejected, otherPost = 0 } = callbacks
  if (received > rejected + otherPost) return null
  return succeeded === 1
    ? 'The request was acknowledged, but no callback brought its result'
    : `None of ${formatCounted(succeeded, 'acknowledged request')} got a callback with a result`
}

export function toLoadOutcome({ requests, callbacks, load }: SummaryOfLoad): LoadOutcome {
  const ended = load?.callbacks
  return {
    requests,
    callbacks:
      ended && callbacks ? { ...ended, received: callbacks.received, otherPost: callbacks.other_post } : null,
  }
}

/** Whether nothing of a load test succeeded. */
export function hasNoSuccess(summary: SummaryOfLoad): boolean {
  return sayNoSuccess(toLoadOutcome(summary)) !== null
}

/** Why a load test failed that ended; null if it did not, and of other runs. */
export function findLoadFailure(
  summary: SummaryOfLoad & Pick<RunSummary, 'state' | 'thresholds'>,
): 'threshold failed' | 'no success' | null {
  const { state, thresholds } = summary
  if (thresholds === undefined || state === 'running') return null
  if (thresholds.some(({ ok }) => !ok)) return 'threshold failed'
  return hasNoSuccess(summary) ? 'no success' : null
}

type EndedEarly = Exclude<RunState, 'running' | 'completed'>

/** The state that window and terminal show of a run, as far as its journal tells. */
export type ShownState =
  | RunState
  | (typeof WAITING_PHASES)[number]
  | 'threshold failed'
  | 'no success'
  | `${EndedEarly}, threshold failed`

/** The state that lists show of a run: what a running one waits for, and that a load test failed. */
export function toShownState(
  summary: SummaryOfLoad & Pick<RunSummary, 'state' | 'thresholds' | 'phase'>,
): ShownState {
  const { state } = summary
  if (state === 'running') return summary.phase ?? state
  const failure = findLoadFailure(summary)
  if (state === 'completed') return failure ?? state
  return failure === 'threshold failed' ? `${state}, ${failure}` : state
}

/**
 * Whether something went wrong: a run stopped by itself, rows did not succeed, or a threshold or all requests of a load
 * test failed.
 */
export function hasFailed(
  summary: SummaryOfLoad & Pick<RunSummary, 'state' | 'thresholds' | 'rows'>,
): boolean {
  if (summary.state === 'stopped') return true
  return isLoadRun(summary) ? findLoadFailure(summary) !== null : countUnsuccessful(summary.rows) > 0
}

/** Rows that ended in anything but success; those that were left out, or not sent yet, are not among them. */
export function countUnsuccessful(rows: RunSummary['rows']): number {
  return countRows(rows, 'unsuccessful', 'unsent') - countLeftOut(rows)
}

/**
 * How many rows a run sent if it was a trial of its first rows: it completed, and the others were never asked for.
 * Null for other runs.
 */
export function countTrial({
  state,
  thresholds,
  rows,
}: Pick<RunSummary, 'state' | 'thresholds' | 'rows'>): number | null {
  if (state !== 'completed' || thresholds !== undefined || rows.not_sent === 0) return null
  return rows.read - countRows(rows, 'unsent') - rows.not_sent
}

/** Whether a run was interrupted when nothing was left to be sent, and only callbacks were awaited. */
export function isStoppedWaiting({
  state,
  thresholds,
  rows,
}: Pick<RunSummary, 'state' | 'thresholds' | 'rows'>): boolean {
  return state === 'interrupted' && thresholds === undefined && rows.not_sent === 0 && rows.awaiting > 0
}

/** Whether a run has ended with rows that it can go on to send. */
export function canResume(summary: Pick<RunSummary, 'state' | 'thresholds' | 'rows'>): boolean {
  const { state, rows } = summary
  return state === 'interrupted' || (state === 'stopped' && rows.not_sent > 0) || countTrial(summary) !== null
}
