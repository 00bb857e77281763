import type { PlanConnection } from '../../../shared/connection.ts'
import { toErrorGroups } from '../../../shared/error-groups.ts'
import type { LatencyMeter } from '../../../shared/latency-meter.ts'
import type { Operation } from '../../../shared/operation.ts'
import { toRequestCounts, toRowCounts } from '../../../shared/row-counts.ts'
import type { RowCounts, RunState, RunSummary, TriggeredRule } from '../../../shared/run.ts'
import { toRunWarnings } from '../../../shared/run-warnings.ts'
import { readLatency } from '../journal/run-latency.ts'
import type { RunRecord } from '../journal/run-record.ts'
import type { DatabaseSync } from '../journal/sqlite-types.ts'
import { toAnswerCounts } from './answer-counts.ts'
import { readToldLoad, toLostGroups } from './load-state.ts'
import { toLoadSummary } from './load-summary.ts'
import type { RunView } from './run-view.ts'

/** Sums a run up, in the words of design §4. */
export function summarizeRun(view: RunView): RunSummary {
  const { db, record, isHeld } = view
  const facets = readFacetCounts(db)
  const { rows, rules } = summarizeCounts(view, facets)
  const told = readToldLoad(view)
  const requests = toRequestCounts(facets.get('request') ?? new Map(), told.lost)
  const latency = readLatency(db)
  const durationS = toDurationS(db, record, isHeld)
  const { operation } = record.plan
  const generator = readGenerator(db, latency, facets.get('waited')?.get('') ?? 0)
  return {
    run_id: record.runId,
    name: record.name,
    operation: operation.kind,
    ...toTarget(operation),
    mode: 'mode' in operation ? operation.mode : 'sync',
    api: 'api' in operation ? operation.api : 'v1',
    state: toRunState(record, isHeld),
    stop_reason: record.stopReason,
    source: record.plan.source.path,
    base_url: record.plan.connection.baseUrl,
    ...toTaskBaseUrl(record.plan.connection),
    created_at: toIso(record.createdAtMs),
    started_at: record.startedAtMs === null ? null : toIso(record.startedAtMs),
    ended_at: record.endedAtMs === null || isHeld ? null : toIso(record.endedAtMs),
    parent_run_id: record.parentRunId,
    rows,
    requests,
    throughput: {
      duration_s: durationS,
      attempted_per_s: toRate(requests.sent, durationS),
      // A request of a watchlist carries many rows.
      succeeded_per_s: toRate('watchlist' in operation ? rows.succeeded : requests.succeeded, durationS),
    },
    latency_ms: { ...told.state?.percentiles, ...toLatency(latency) },
    triggered_rules: rules,
    errors: [
      ...toInvalidGroups(facets.get('problem')),
      ...toErrorGroups(facets.get('error') ?? new Map()),
      ...toLostGroups(told.lost),
    ],
    warnings: toRunWarnings(facets.get('reuse_ended')),
    retry_after: {
      answers: facets.get('retry_after_answers')?.get('') ?? 0,
      waited_s: (facets.get('retry_after_ms')?.get('') ?? 0) / 1000,
    },
    ...toThrottling(facets),
    ...toAnswerCounts(db, record, facets, rows),
    from_cache: { rows: facets.get('from_cache')?.get('') ?? 0 },
    result_lost: { rows: facets.get('result_lost')?.get('') ?? 0 },
    ...toRepeated(facets.get('state')?.get('pending') ?? 0),
    generator,
    ...toLoadSummary(view, told, generator),
  }
}

function toThrottling(
  facets: ReadonlyMap<string, ReadonlyMap<string, number>>,
): Pick<RunSummary, 'throttling'> {
  const read = (kind: string) => facets.get(kind)?.get('') ?? 0
  const answers = read('throttled_answers')
  if (answers === 0) return {}
  const limit = read('limit_per_1000_s')
  return {
    throttling: {
      answers,
      throttled_s: read('throttled_ms') / 1000,
      limit_per_s: limit === 0 ? null : limit / 1000,
    },
  }
}

/** Only what was tried before has a result that is pending. */
function toRepeated(rows: number): Pick<RunSummary, 'to_repeat'> {
  return rows === 0 ? {} : { to_repeat: { rows } }
}

/** A run's rows by state, and its triggered rules, most rows first. */
export function summarizeCounts(
  view: RunView,
  counts: ReadonlyMap<string, ReadonlyMap<string, number>>,
): { rows: RowCounts; rules: TriggeredRule[] } {
  const states = counts.get('state') ?? new Map<string, number>()
  const rows = toRowCounts(states, view.record.rowsRead, view.isCutOff ? countUnaccounted(view, states) : 0)
  return { rows, rules: toTriggeredRules(view.db, counts.get('rule')) }
}

/** Counts by kind and value. */
export function readFacetCounts(db: DatabaseSync): Map<string, Map<string, number>> {
  const kinds = new Map<string, Map<string, number>>()
  for (const { kind, value, n } of db.prepare('SELECT kind, value, n FROM facet WHERE n <> 0').all()) {
    const values = kinds.get(String(kind)) ?? new Map<string, number>()
    kinds.set(String(kind), values.set(String(value), Number(n)))
  }
  return kinds
}

/** The watchlist or custom index that every row goes to. */
function toTaskBaseUrl({ taskBaseUrl }: PlanConnection): { task_base_url?: string } {
  return taskBaseUrl === undefined ? {} : { task_base_url: taskBaseUrl }
}

function toTarget(operation: Operation): { target?: string } {
  if ('watchlist' in operation) return { target: operation.watchlist }
  return 'indexId' in operation ? { target: operation.indexId } : {}
}

function toRunState({ state }: RunRecord, isHeld: boolean): RunState {
  if (state === 'completed' || state === 'stopped') return state
  return isHeld ? 'running' : 'interrupted'
}

/** Rows that the watermark covers and that have no outcome, where nobody is sending them any more. */
function countUnaccounted(view: RunView, states: ReadonlyMap<string, number>): number {
  const { record } = view
  let accounted = 0
  for (const [state, n] of states) if (state !== 'invalid') accounted += n
  // A load test marks no rows, and sends them in their order: what was lost was of rows that
  // no request before had, as far as there are such.
  if (record.plan.load !== undefined) {
    const unsent = record.rowsRead - (states.get('invalid') ?? 0) - accounted
    return Math.min(unsent, readToldLoad(view).lost)
  }
  // Marks of retries stand as `sending`; they have no outcome either.
  return record.claimedRows - accounted + (states.get('sending') ?? 0)
}

function toDurationS(db: DatabaseSync, record: RunRecord, isHeld: boolean): number {
  if (record.state !== 'running') return record.sendingMs / 1000
  // A session that goes on, or was cut off, has not written its time yet; its seconds tell.
  const seconds = Number(db.prepare('SELECT count(*) AS n FROM second WHERE sent > 0').get()?.['n'] ?? 0)
  return Math.max(seconds, record.sendingMs / 1000, isHeld ? 0.001 : 0)
}

function toLatency(latency: LatencyMeter): RunSummary['latency_ms'] {
  const result: RunSummary['latency_ms'] = {}
  for (const series of [
    'http_req_duration',
    'http_req_waiting',
    'http_req_connecting',
    'http_req_tls_handshaking',
    'response_time',
    'start_lag',
    'callback_latency',
  ] as const) {
    const percentiles = latency.percentiles(series)
    if (percentiles !== null) result[series] = percentiles
  }
  return result
}

function toTriggeredRules(
  db: DatabaseSync,
  counts: ReadonlyMap<string, number> | undefined,
): TriggeredRule[] {
  const names = new Map(
    db
      .prepare('SELECT rule_id, rule_name FROM rule')
      .all()
      .map((row) => [String(row['rule_id']), String(row['rule_name'])]),
  )
  return [...(counts ?? [])]
    .map(([ruleId, rows]) => ({ rule_id: ruleId, rule_name: names.get(ruleId) ?? ruleId, rows }))
    .sort((a, b) => b.rows - a.rows || (a.rule_id < b.rule_id ? -1 : 1))
}

function toInvalidGroups(problems: ReadonlyMap<string, number> | undefined): RunSummary['errors'] {
  return [...(problems ?? [])]
    .map(([cause, rows]) => {
      const [severity, code, field, message] = JSON.parse(cause) as [string, string, string | null, string]
      return { severity, rows, code, message: field === null ? message : `${field}: ${message}` }
    })
    .filter(({ severity }) => severity === 'error')
    .map(({ rows, code, message }) => ({
      outcome: 'invalid' as const,
      status: null,
      error_code: code,
      message,
      rows,
    }))
    .sort((a, b) => b.rows - a.rows)
}

function readGenerator(db: DatabaseSync, latency: LatencyMeter, waited: number): RunSummary['generator'] {
  const worst = db
    .prepare('SELECT max(event_loop_max_us) AS us, max(generator_limited) AS limited FROM second')
    .get()
  const eventLoopMaxUs = worst?.['us'] ?? null
  return {
    limited: Number(worst?.['limited'] ?? 0) === 1,
    dropped: 0,
    waited,
    start_lag_p99_ms: latency.percentiles('start_lag')?.p99 ?? null,
    event_loop_max_ms: eventLoopMaxUs === null ? null : Number(eventLoopMaxUs) / 1000,
  }
}

function toRate(n: number, durationS: number): number {
  return durationS > 0 ? Math.round((n / durationS) * 10) / 10 : 0
}

function toIso(ms: number): string {
  return new Date(ms).toISOString()
}
