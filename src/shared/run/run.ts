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

/** `interrupted`: the run's process died, or a person stopped it; it can be resumed. */
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

/** Percentiles in milliseconds without delays of the sending machine. */
export type WithoutOwnDelays = z.infer<typeof withoutOwnDelaysSchema>

/** One bar of a latency distribution: the number of latencies above `fromMs` and up to `upToMs`. */
export const latencyBarSchema = z.object({ fromMs: z.number(), upToMs: z.number(), count: z.int() })

export type LatencyBar = z.infer<typeof latencyBarSchema>

export const latencyBarsSchema = z.partialRecord(trendMetricSchema, z.array(latencyBarSchema))

/** Every row of the source is in exactly one of the counts after `read`. */
export const rowCountsSchema = z.object({ read: z.int(), ...countsShape })

export type RowCounts = z.infer<typeof rowCountsSchema>

/** Attempts by outcome; `retried` counts those after the first of an item. */
export const requestCountsSchema = z.object({ ...requestsShape, retried: z.int() })

/** Attempts of a run by outcome. */
export type RequestCounts = z.infer<typeof requestCountsSchema>

export const triggeredRuleSchema = z.object({
  rule_id: z.string(),
  rule_name: z.string(),
  rows: z.int(),
  /** Of these, rows without success, if any: the service answered with the rule and an error. */
  without_success: z.int().optional(),
})

export type TriggeredRule = z.infer<typeof triggeredRuleSchema>

/** The succeeded rows of a rule, from which shares are computed. */
export function countSucceededOf({ rows, without_success: without = 0 }: TriggeredRule): number {
  return rows - without
}

/** Explains, if necessary, why a share is less than the rows beside it suggest. */
export function noteUnsuccessful(rules: readonly TriggeredRule[]): string[] {
  if (!rules.some(({ without_success: without }) => without !== undefined)) return []
  return [
    'Some of these rows were answered with an error in addition to the rules. They are not in the shares.',
  ]
}

/** Rows with the same outcome. */
export const errorGroupSchema = z.object({
  outcome: z.enum(['invalid', ...UNSUCCESSFUL_STATES]),
  /** HTTP status, or null if there was no answer. */
  status: z.int().nullable(),
  error_code: z.string().nullable(),
  message: z.string(),
  rows: z.int(),
})

export type ErrorGroup = z.infer<typeof errorGroupSchema>

/**
 * Groups with the same cause; `message` is that of most of its rows, `messages` how many different ones there
 * are.
 */
export const errorCauseSchema = errorGroupSchema.extend({ messages: z.int() })

export type ErrorCause = z.infer<typeof errorCauseSchema>

/** What a person should know about the sending of a run; `code` is stable. */
export const runWarningSchema = z.object({
  code: z.string(),
  message: z.string(),
  /** For a warning about rows: how many have it, and the command that lists them. */
  rows: z.int().exactOptional(),
  list_with: z.string().exactOptional(),
})

export type RunWarning = z.infer<typeof runWarningSchema>

export type RowWarning = Required<RunWarning>

/** A run's warnings about rows, most rows first. */
export function listRowWarnings(warnings: readonly RunWarning[]): RowWarning[] {
  return warnings.filter((warning): warning is RowWarning => warning.rows !== undefined)
}

/** A run's warnings about the run as a whole. */
export function listRunWarnings(warnings: readonly RunWarning[]): string[] {
  return warnings.filter(({ rows }) => rows === undefined).map(({ message }) => message)
}

const termsSchema = z.object({
  added: z.int(),
  pre_existing: z.int(),
  /** Pre-existing after a try without an answer, which may have added them; absent if there are none. */
  added_or_pre_existing: z.int().exactOptional(),
  updated: z.int(),
  non_existent: z.int(),
  /** Terms that the service did not process, at most {@link FAILED_TERMS_MAX}. */
  failed: z.array(z.object({ term: z.string(), notes: z.string().nullable(), ...rowAndRecordShape })),
})

/** Most failed terms in a summary; the results have all. */
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
  /** Of those, before the acknowledgement arrived. */
  early: z.int(),
  /** Of those, when the item was already overdue or unknown. */
  late: z.int(),
  /** Repeated another callback of the item. */
  doubled: z.int(),
  /** Differed from the callback that settled their item; a result wins over an error, else the first wins. */
  differing: z.int(),
  /** Named another post or item than the row of their address; in earlier versions they still settled it. */
  other_post: z.int(),
  /** Do not follow the interface; their item is unchanged. */
  unreadable: z.int(),
  /** Of those that settled their item, may answer what was sent before a correction; absent if none may. */
  in_doubt: z.int().exactOptional(),
  /** In load tests: belong to a request that was refused; absent if none do. */
  of_refused: z.int().exactOptional(),
})

export type CallbackCounts = z.infer<typeof callbackCountsSchema>

/**
 * Rows, or requests of a load test, by whether the answer proves which one it belongs to (docs/results.md).
 * The first and the third succeeded.
 */
const echoCountsSchema = z.object({
  /** The answer or the callback repeats the sent id. */
  verified: z.int(),
  /** Of those, with other white space, another case or another Unicode normal form. */
  alike: z.int(),
  /** Nothing in the answer identifies the row. */
  not_verifiable: z.int(),
  /** The answer names another id, so the outcome is unknown. */
  mismatched: z.int(),
})

const loadSummarySchema = z.object({
  /** As scheduled; null at a closed pace. */
  scheduled_per_s: z.number().nullable(),
  /** First tries, as scheduled; `requests.sent` also counts retries. */
  iterations: z.int(),
  iterations_per_s: z.number(),
  /** Answers within the measured time, of any kind. */
  answered_per_s: z.number(),
  /** Answers by status, most first; null for no answer. */
  statuses: z.array(
    z.object({ status: z.int().nullable(), error_code: z.string().nullable(), requests: z.int() }),
  ),
  /** Answers with status 429, answers with a Retry-After, and the sum of its seconds. */
  throttling: z.object({ answers: z.int(), retry_after_answers: z.int(), asked_s: z.number() }),
  connections: z.object({ opened: z.int(), reused: z.int() }),
  /**
   * The longest time with requests in flight and no answer; absent unless it is at least 1 s and ten times
   * the p99 of succeeded requests.
   */
  silence: z
    .object({
      /** Seconds since measuring began. */
      from_s: z.number(),
      duration_s: z.number(),
      /** Requests that ended during it without an answer. */
      requests: z.int(),
      message: z.string(),
    })
    .exactOptional(),
  /** Metrics that are not latencies, by k6's names and aggregations; absent in earlier versions. */
  metrics: metricValuesSchema.exactOptional(),
  /** Requests by stage in which they were due or, with a concurrency, sent; absent if the pace has none. */
  stages: z
    .array(
      z.object({
        /** From 0, as in the threshold tag `stage`. */
        number: z.int(),
        name: z.string().nullable(),
        /** Levels: requests a second, or requests in flight. */
        from: z.number(),
        to: z.number(),
        /** How long it was measured. */
        duration_s: z.number(),
        /** Requests due in it; null at a closed pace. */
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
  /** Row 1, which was sent before everything else and is in no other figure; absent if there was none. */
  first_request: z
    .object({
      outcome: outcomeSchema,
      status: z.int().nullable(),
      error_code: z.string().nullable(),
      message: z.string().nullable(),
      duration_ms: z.number(),
      /** The traceparent header that it was sent with; absent if it had none. */
      traceparent: z.string().exactOptional(),
    })
    .exactOptional(),
  /** Answers during the warm-up, which are in no other figure; absent without one. */
  warmup_answered: z.int().exactOptional(),
  /**
   * For async load tests: callbacks that reported an error, did not come in time, or were awaited at the end.
   */
  callbacks: z.object({ rejected: z.int(), overdue: z.int(), outstanding: z.int() }).optional(),
})

/** Cells that the plan's fixes changed. */
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

/** What a held run waits for: the first confirmation, another one, or the callbacks of everything sent. */
const waitingPhaseSchema = z.enum(['ready', 'paused', 'awaiting'])

export const WAITING_PHASES = waitingPhaseSchema.options

const retrySchema = z.object({
  run_id: z.string(),
  parent_run_id: z.string().nullable(),
  state: runStateSchema,
  phase: waitingPhaseSchema.exactOptional(),
  created_at: z.string(),
  rows: rowCountsSchema,
})

/**
 * A period in which a process worked on the run: `start` read the source, `resume` continued, `retry` resent
 * unsuccessful rows, `correction` resent them corrected, `import` stored another tool's measurements.
 */
const sessionSchema = z.object({
  number: z.int(),
  kind: z.enum(['start', 'resume', 'retry', 'correction', 'import']),
  /** The run itself, or a retry that is a run of its own. */
  run_id: z.string(),
  started_at: z.string(),
  /** When it stopped sending; null if it still runs, or its process died. */
  ended_at: z.string().nullable(),
  app_version: z.string(),
  /** Rows that a retry put back into the queue. */
  rows_taken: z.int(),
  /** It used a key that no earlier session of the run had; absent otherwise, and if unknown. */
  other_key: z.literal(true).exactOptional(),
  /** With how many rows of the run sent it was to end as a trial; absent otherwise. */
  trial_rows: z.int().exactOptional(),
  requests: z.object(requestsShape),
  duration_s: z.number(),
})

export type RunSession = z.infer<typeof sessionSchema>

export type SessionKind = RunSession['kind']

/** What `show --json` and every sending command print: the whole run. */
export const runSummarySchema = z.object({
  run_id: z.string(),
  /** The name that a person gave, else the plan's. */
  name: z.string(),
  /** A person's notes about the run; absent if there are none. */
  tags: z.array(z.string()).exactOptional(),
  note: z.string().exactOptional(),
  operation: z.string(),
  /** The operation's watchlist or custom index. */
  target: z.string().optional(),
  mode: z.enum(['sync', 'async']),
  api: z.enum(['v1', 'v2']),
  state: runStateSchema,
  /** What a `running` run that sends nothing waits for. */
  phase: waitingPhaseSchema.exactOptional(),
  /** Why the run stopped by itself, without a full stop, and what to do, in sentences. */
  stop_reason: z.string().nullable(),
  stop_advice: z.string().nullable(),
  source: z.string(),
  /** Further files and folders of the source, if it names several. */
  more_sources: z.array(z.string()).exactOptional(),
  /** What earlier runs of the workspace sent of the source to the same service; absent if nothing. */
  sent_before: sentBeforeSchema.exactOptional(),
  /** Whether only rows outside of these were to be sent. */
  only_new: z.literal(true).exactOptional(),
  /** How the source was read; absent before, and if an earlier version read it. */
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
  /** For a retry: the run whose rows it resends. */
  parent_run_id: z.string().nullable(),
  /** For a retry: the first run of the whole, and the rows of the whole with all retries; else null. */
  whole_run: z.object({ run_id: z.string(), rows: rowCountsSchema }).nullable(),
  /** Retries of this run and theirs, oldest first, with their rows; all other figures include them. */
  retries: z.array(retrySchema),
  /** The sessions of the run and its retries, oldest first. For an earlier version, one session per run. */
  sessions: z.array(sessionSchema),
  /** Rows by their newest answer, from whichever retry. */
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
  /** For watchlist runs. */
  terms: termsSchema.optional(),
  /** For custom index runs. */
  items: z.object({ added: z.int(), removed: z.int() }).optional(),
  /** For appeal runs. */
  appeals: appealsSchema.optional(),
  /** For async runs. */
  callbacks: callbackCountsSchema.optional(),
  /** What the plan's fixes changed; absent if nothing. */
  corrected: correctedSchema.exactOptional(),
  /** Problems on the way to the service, then doubts about rows, by cause. */
  warnings: z.array(runWarningSchema),
  /** Answers that asked to wait, and the waits of rows put off by them; not those longer than a run waits. */
  retry_after: z.object({ answers: z.int(), waited_s: z.number() }),
  /**
   * For runs with 429s: how many, how long they limited the pace, seconds, and the last measured limit,
   * requests per second.
   */
  throttling: z
    .object({ answers: z.int(), throttled_s: z.number(), limit_per_s: z.number().nullable() })
    .optional(),
  from_cache: z.object({ rows: z.int() }),
  /** For runs that compared answers with their requests. */
  echoes: echoCountsSchema.exactOptional(),
  /** Rows that count as succeeded because the service already had them; it does not return their result. */
  result_lost: z.object({ rows: z.int() }),
  /** Rows of `not_sent` that were tried before and will be tried again. */
  to_repeat: z.object({ rows: z.int() }),
  /** For load tests: the schedule and the answers, request by request. */
  load: loadSummarySchema.optional(),
  /** For load tests: each threshold's state, now or at the end. */
  thresholds: z.array(thresholdResultSchema).optional(),
  generator: z.object({
    /** Whether the generator, and not only the service, shaped any figure (docs/load-tests.md §1). */
    limited: z.boolean(),
    /** Why, a sentence each. */
    reasons: z.array(z.string()).optional(),
    dropped: z.int(),
    waited: z.int(),
    /** Of these, those held back by the service: it was unreachable, or limited the rate. Absent if none. */
    held_by_service: z.int().exactOptional(),
    start_lag_p99_ms: z.number().nullable(),
    /** For load tests: the longest start lag not caused by the limit in flight; 0 for a closed pace. */
    own_start_lag_max_ms: z.number().exactOptional(),
    /**
     * For load tests: failed requests that bursts after stalls of this machine may explain; absent in earlier
     * versions.
     */
    may_be_own_failures: z.int().exactOptional(),
    /** For load tests: latencies without all possible delays of this machine; absent in earlier versions. */
    without_own_delays_ms: withoutOwnDelaysSchema.exactOptional(),
    event_loop_max_ms: z.number().nullable(),
  }),
})

export type RunSummary = z.infer<typeof runSummarySchema>

/** The host of a run's requests: the second one for tasks of v2, if there is one. */
export function toServiceUrl({
  api,
  base_url,
  task_base_url,
}: Pick<RunSummary, 'api' | 'base_url' | 'task_base_url'>): string {
  return api === 'v2' ? (task_base_url ?? base_url) : base_url
}

/** Sessions that resent unsuccessful rows, inside the run or as runs of their own; oldest first. */
export function listRetries({ sessions }: Pick<RunSummary, 'sessions'>): RunSession[] {
  return sessions.slice(1).filter(({ kind }) => kind === 'retry' || kind === 'correction')
}

export function isLoadRun({ thresholds }: Pick<RunSummary, 'thresholds'>): boolean {
  return thresholds !== undefined
}

/** The outcome of a load test: its requests and, if async, their callbacks. */
interface LoadOutcome {
  requests: Pick<RequestCounts, 'sent' | 'succeeded'>
  callbacks:
    | (Record<'received' | 'rejected' | 'outstanding', number> &
        Partial<Record<'otherPost' | 'unreadable' | 'ofRefused', number>>)
    | null
}

type SummaryOfLoad = Pick<RunSummary, 'requests' | 'callbacks' | 'load'>

/**
 * Says, without a full stop, that nothing in a load test succeeded: it then fails whatever its thresholds
 * say. Null if anything succeeded.
 */
export function sayNoSuccess({ requests, callbacks }: LoadOutcome): string | null {
  const { sent, succeeded } = requests
  if (sent === 0) return null
  if (succeeded === 0)
    return sent === 1 ? 'The request did not succeed' : `None of ${formatCounted(sent, 'request')} succeeded`
  if (callbacks === null || callbacks.outstanding > 0) return null
  const { received, rejected, otherPost = 0, unreadable = 0, ofRefused = 0 } = callbacks
  if (received > rejected + otherPost + unreadable + ofRefused) return null
  return succeeded === 1
    ? 'The request was acknowledged, but no callback brought its result'
    : `None of ${formatCounted(succeeded, 'acknowledged request')} got a callback with a result`
}

export function toLoadOutcome({ requests, callbacks, load }: SummaryOfLoad): LoadOutcome {
  const ended = load?.callbacks
  return {
    requests,
    callbacks:
      ended && callbacks
        ? {
            ...ended,
            received: callbacks.received,
            otherPost: callbacks.other_post,
            unreadable: callbacks.unreadable,
            ofRefused: callbacks.of_refused ?? 0,
          }
        : null,
  }
}

export function hasNoSuccess(summary: SummaryOfLoad): boolean {
  return sayNoSuccess(toLoadOutcome(summary)) !== null
}

/** Why an ended load test failed; null if it did not fail, and for other runs. */
export function findLoadFailure(
  summary: SummaryOfLoad & Pick<RunSummary, 'state' | 'thresholds'>,
): 'threshold failed' | 'no success' | null {
  const { state, thresholds } = summary
  if (thresholds === undefined || state === 'running') return null
  if (thresholds.some(({ ok }) => !ok)) return 'threshold failed'
  return hasNoSuccess(summary) ? 'no success' : null
}

type EndedEarly = Exclude<RunState, 'running' | 'completed'>

/** The state of a run in window and terminal, as far as its journal tells. */
export type ShownState =
  | RunState
  | (typeof WAITING_PHASES)[number]
  | 'threshold failed'
  | 'no success'
  | `${EndedEarly}, threshold failed`

/** The state of a run in lists, including what a running one waits for, and that a load test failed. */
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
 * Whether something went wrong: a run stopped by itself, rows did not succeed, or a load test crossed a
 * threshold or had no success.
 */
export function hasFailed(
  summary: SummaryOfLoad & Pick<RunSummary, 'state' | 'thresholds' | 'rows'>,
): boolean {
  if (summary.state === 'stopped') return true
  return isLoadRun(summary) ? findLoadFailure(summary) !== null : countUnsuccessful(summary.rows) > 0
}

/** Rows that ended without success; rows left out or not sent yet do not count. */
export function countUnsuccessful(rows: RunSummary['rows']): number {
  return countRows(rows, 'unsuccessful', 'unsent') - countLeftOut(rows)
}

/** Rows that are or were sent: those to be sent, except rows still waiting for that. */
export function countTried(rows: RowCounts): number {
  return rows.read - countRows(rows, 'unsent') - rows.not_sent
}

/**
 * How many rows a run sent if it was a trial of its first rows: it completed without sending the others. Null
 * for other runs.
 */
export function countTrial({
  state,
  thresholds,
  rows,
}: Pick<RunSummary, 'state' | 'thresholds' | 'rows'>): number | null {
  if (state !== 'completed' || thresholds !== undefined || rows.not_sent === 0) return null
  return countTried(rows)
}

/**
 * How many rows an interrupted trial has left to send, of those that it was started for; null for other runs.
 */
export function countTrialLeft({
  state,
  sessions,
  rows,
}: Pick<RunSummary, 'state' | 'rows'> & {
  sessions: readonly Pick<RunSession, 'trial_rows'>[]
}): number | null {
  const trialRows = sessions.at(-1)?.trial_rows
  if (trialRows === undefined || (state !== 'interrupted' && state !== 'stopped')) return null
  return Math.min(rows.not_sent, Math.max(0, trialRows - countTried(rows)))
}

/**
 * Whether a run was interrupted while it read its source: resuming it reads that again, and sends its rows.
 */
export function isSourceUnread({ state, warnings }: Pick<RunSummary, 'state' | 'warnings'>): boolean {
  return state === 'interrupted' && warnings.some(({ code }) => code === 'SOURCE_UNREAD')
}

/** Whether a run was interrupted when nothing was left to be sent, and only callbacks were awaited. */
export function isStoppedWaiting({
  state,
  thresholds,
  rows,
}: Pick<RunSummary, 'state' | 'thresholds' | 'rows'>): boolean {
  return state === 'interrupted' && thresholds === undefined && rows.not_sent === 0 && rows.awaiting > 0
}

/** Whether a run has ended with rows that resuming can send. */
export function canResume(summary: Pick<RunSummary, 'state' | 'thresholds' | 'rows'>): boolean {
  const { state, rows } = summary
  return state === 'interrupted' || (state === 'stopped' && rows.not_sent > 0) || countTrial(summary) !== null
}
