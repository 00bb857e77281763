import { LatencyMeter } from '../../../shared/load/latency-meter.ts'
import { TREND_METRICS } from '../../../shared/load/metrics.ts'
import type { PlanConnection } from '../../../shared/plan/connection.ts'
import type { Operation } from '../../../shared/plan/operation.ts'
import { toErrorGroups } from '../../../shared/run/error-groups.ts'
import { toRequestCounts, toRowCounts } from '../../../shared/run/row-counts.ts'
import type { RunState, RunSummary } from '../../../shared/run/run.ts'
import { toRunWarnings } from '../../../shared/run/run-warnings.ts'
import { readRecoveredLoad, toLostGroups } from '../journal/load-state.ts'
import { findTakersOf, type RunFamily, toFamily } from '../journal/run-family.ts'
import { readLatency } from '../journal/run-latency.ts'
import type { RunView } from '../journal/run-view.ts'
import { toLoadSummary } from '../load/load-results.ts'
import { toAnswerCounts } from '../run/results/answer-counts.ts'
import {
  type Counts,
  countToRepeat,
  countUnaccounted,
  readFacetCounts,
  readFamilyCounts,
  summarizeFamilyCounts,
} from '../run/results/family-counts.ts'

/** Sums a run up together with its retries. */
export function summarizeRun(family: RunFamily): RunSummary {
  const { record, members } = family
  const counts = readFamilyCounts(family)
  const { rows, rules } = summarizeFamilyCounts(family, counts)
  const told = readRecoveredLoad(family)
  const requests = toRequestCounts(counts.get('request') ?? new Map(), told.lost)
  const latency = readFamilyLatency(members)
  const durationS = members.reduce((sum, member) => sum + toDurationS(member), 0)
  const { operation } = record.plan
  const generator = readGenerator(members, latency, counts.get('waited')?.get('') ?? 0)
  const standing = findStanding(members)
  const last = members.at(-1) ?? family
  return {
    run_id: record.runId,
    name: record.name,
    operation: operation.kind,
    ...toTarget(operation),
    mode: 'mode' in operation ? operation.mode : 'sync',
    api: 'api' in operation ? operation.api : 'v1',
    state: toRunState(standing),
    stop_reason: standing.record.stopReason,
    source: record.plan.source.path,
    base_url: record.plan.connection.baseUrl,
    ...toTaskBaseUrl(record.plan.connection),
    created_at: toIso(record.createdAtMs),
    started_at: record.startedAtMs === null ? null : toIso(record.startedAtMs),
    ended_at: last.record.endedAtMs === null || standing.isHeld ? null : toIso(last.record.endedAtMs),
    parent_run_id: record.parentRunId,
    whole_run: toWholeRun(family),
    retries: members.slice(1).map(toRetry),
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
      ...toInvalidGroups(counts.get('problem')),
      ...toErrorGroups(counts.get('error') ?? new Map()),
      ...toLostGroups(told.lost),
    ],
    warnings: toRunWarnings(counts.get('reuse_ended')),
    retry_after: {
      answers: counts.get('retry_after_answers')?.get('') ?? 0,
      waited_s: (counts.get('retry_after_ms')?.get('') ?? 0) / 1000,
    },
    ...toThrottling(members, counts),
    ...toAnswerCounts(family, counts, rows),
    from_cache: { rows: counts.get('from_cache')?.get('') ?? 0 },
    result_lost: { rows: counts.get('result_lost')?.get('') ?? 0 },
    to_repeat: { rows: countToRepeat(family, counts) },
    generator,
    ...toLoadSummary(family, told, generator),
  }
}

function toThrottling(members: readonly RunView[], counts: Counts): Pick<RunSummary, 'throttling'> {
  const answers = counts.get('throttled_answers')?.get('') ?? 0
  if (answers === 0) return {}
  // A limit is not added up: the newest that was found holds.
  const limits = members.map(({ db }) => readFacetCounts(db).get('limit_per_1000_s')?.get('') ?? 0)
  const limit = limits.findLast((found) => found > 0)
  return {
    throttling: {
      answers,
      throttled_s: (counts.get('throttled_ms')?.get('') ?? 0) / 1000,
      limit_per_s: limit === undefined ? null : limit / 1000,
    },
  }
}

/** The first run of a retry's whole, and how that stands; null of a first run. */
function toWholeRun({ record, whole }: RunFamily): RunSummary['whole_run'] {
  const [first] = whole
  if (first === undefined || first.record.runId === record.runId) return null
  const family = toFamily(first, whole)
  const { rows } = summarizeFamilyCounts(family, readFamilyCounts(family))
  return { run_id: first.record.runId, rows }
}

/** How one retry stands, its own rows alone. */
function toRetry(member: RunView): RunSummary['retries'][number] {
  const states = readFacetCounts(member.db).get('state') ?? new Map<string, number>()
  return {
    run_id: member.record.runId,
    parent_run_id: member.record.parentRunId,
    state: toRunState(member),
    created_at: toIso(member.record.createdAtMs),
    rows: toRowCounts(states, member.record.rowsRead, member.isCutOff ? countUnaccounted(member) : 0),
  }
}

/** The member by which a run and its retries are running, interrupted, stopped or completed. */
export function findStanding(members: readonly RunView[]): RunView {
  // What a member had not sent when it ended is its retry's to send.
  const open = members.filter(
    (member) =>
      member.isHeld || member.record.supersededBy === null || findTakersOf(member, members).length === 0,
  )
  const order: readonly RunState[] = ['running', 'interrupted', 'stopped', 'completed']
  const [first] = open.sort((a, b) => order.indexOf(toRunState(a)) - order.indexOf(toRunState(b)))
  const standing = first ?? members[0]
  if (standing === undefined) throw new Error('a run has at least itself')
  return standing
}

/** The watchlist or custom index that every row goes to. */
function toTaskBaseUrl({ taskBaseUrl }: PlanConnection): { task_base_url?: string } {
  return taskBaseUrl === undefined ? {} : { task_base_url: taskBaseUrl }
}

function toTarget(operation: Operation): { target?: string } {
  if ('watchlist' in operation) return { target: operation.watchlist }
  return 'indexId' in operation ? { target: operation.indexId } : {}
}

function toRunState({ record: { state }, isHeld }: RunView): RunState {
  if (state === 'completed' || state === 'stopped') return state
  return isHeld ? 'running' : 'interrupted'
}

function readFamilyLatency(members: readonly RunView[]): LatencyMeter {
  const latency = new LatencyMeter()
  for (const { db } of members) latency.addAll(readLatency(db))
  return latency
}

function toDurationS({ db, record, isHeld }: RunView): number {
  if (record.state !== 'running') return record.sendingMs / 1000
  // A session that goes on, or was cut off, has not written its time yet; its seconds tell.
  const seconds = Number(db.prepare('SELECT count(*) AS n FROM second WHERE sent > 0').get()?.['n'] ?? 0)
  return Math.max(seconds, record.sendingMs / 1000, isHeld ? 0.001 : 0)
}

function toLatency(latency: LatencyMeter): RunSummary['latency_ms'] {
  const result: RunSummary['latency_ms'] = {}
  for (const series of TREND_METRICS) {
    const percentiles = latency.percentiles(series)
    if (percentiles !== null) result[series] = percentiles
  }
  return result
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

function readGenerator(
  members: readonly RunView[],
  latency: LatencyMeter,
  waited: number,
): RunSummary['generator'] {
  const seconds = members.map(({ db }) =>
    db.prepare('SELECT max(event_loop_max_us) AS us, max(generator_limited) AS limited FROM second').get(),
  )
  const longestUs = seconds.flatMap((second) => (second?.['us'] == null ? [] : [Number(second['us'])]))
  return {
    limited: seconds.some((second) => Number(second?.['limited'] ?? 0) === 1),
    dropped: 0,
    waited,
    start_lag_p99_ms: latency.percentiles('start_lag')?.p99 ?? null,
    event_loop_max_ms: longestUs.length === 0 ? null : Math.max(...longestUs) / 1000,
  }
}

function toRate(n: number, durationS: number): number {
  return durationS > 0 ? Math.round((n / durationS) * 10) / 10 : 0
}

function toIso(ms: number): string {
  return new Date(ms).toISOString()
}
