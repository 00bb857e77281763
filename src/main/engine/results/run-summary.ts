import { LatencyMeter } from '../../../shared/load/latency-meter.ts'
import { isTrend, mapTrends } from '../../../shared/load/metrics.ts'
import {
  isOfAnyOutcome,
  readExpression,
  type ThresholdResult,
  toNeededRequests,
} from '../../../shared/load/thresholds.ts'
import type { LedgerEffect } from '../../../shared/lookback/ledger.ts'
import { describeMapping } from '../../../shared/mapping/describe-mapping.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { isAbout, isAsync, OPERATIONS, targetOf } from '../../../shared/operations/operations.ts'
import {
  toCallbackCounts,
  toCorrectedCounts,
  toErrorGroups,
  toRequestCounts,
  toRowCounts,
  toRunWarnings,
  warnOfMissingModels,
  warnOfNoResult,
  warnOfSharedTasks,
} from '../../../shared/run/counts.ts'
import type { Outcome } from '../../../shared/run/item-state.ts'
import { toSourceRead } from '../../../shared/run/read-as.ts'
import {
  FAILED_TERMS_MAX,
  type RequestCounts,
  type RowCounts,
  type RunSession,
  type RunState,
  type RunSummary,
  type RunWarning,
  type TermCounts,
  type TriggeredRule,
} from '../../../shared/run/run.ts'
import { toSentBefore } from '../../../shared/run/sent-before.ts'
import { readRecoveredLoad, toLostGroups } from '../journal/load-record.ts'
import { findTakersOf, type RunFamily, type RunView, toFamily } from '../journal/run-family.ts'
import { readLatency, readSendingMs } from '../journal/seconds.ts'
import { readSessions } from '../journal/sessions.ts'
import { parseCells } from '../journal/stored-cells.ts'
import { toLoadSummary } from '../load/load-results.ts'
import { createRowMapper } from '../mapping/row-mapper.ts'
import { toInvalidGroups, toRowWarnings } from '../run/journal/stored-problems.ts'
import {
  type Counts,
  countRulesOfUnsuccessful,
  countToRepeat,
  countUnaccounted,
  pickRows,
  readFacetCounts,
  readFamilyCounts,
  readRequests,
  summarizeFamilyCounts,
} from '../run/results/family-counts.ts'
import { createNumberReader } from '../run/results/row-places.ts'
import { ECHO_MISMATCH_CODE } from '../service/echoes.ts'
import { findAnnotations } from '../workspace/run-annotations.ts'
import { type DatabaseSync, readNumber, readRows, readVersion } from '../workspace/sqlite.ts'

export function summarizeRun(family: RunFamily): RunSummary {
  const { record, members } = family
  const counts = readFamilyCounts(family)
  const { rows, rules } = summarizeFamilyCounts(family, counts)
  const recovered = readRecoveredLoad(family)
  const requests = toRequestCounts(counts.get('request') ?? new Map(), recovered.lost)
  const latency = readFamilyLatency(members)
  const durationS = members.reduce((sum, member) => sum + toDurationS(member), 0)
  const { operation } = record.plan
  const { batch } = OPERATIONS[operation.kind]
  const target = targetOf(operation)
  const generator = readGenerator(members, latency, counts)
  const standing = findStanding(members)
  const last = members.at(-1) ?? family
  return {
    run_id: record.runId,
    ...toNamed(family),
    operation: operation.kind,
    ...(target !== null && { target }),
    mode: OPERATIONS[operation.kind].modeOf?.(operation) ?? 'sync',
    api: isAbout(operation, 'content') ? operation.api : 'v1',
    state: toRunState(standing),
    ...toPhase(standing, rows),
    stop_reason: standing.record.stopReason,
    stop_advice: standing.record.stopAdvice,
    source: record.plan.source.path,
    ...(record.plan.source.more !== undefined && { more_sources: record.plan.source.more }),
    ...(record.readAs !== null && {
      source_read: toSourceRead(record.readAs),
      mapping: describeMapping(record.plan, record.columns),
    }),
    ...(record.plan.connection.name !== undefined && { connection: record.plan.connection.name }),
    base_url: record.plan.connection.baseUrl,
    ...(record.plan.connection.taskBaseUrl === undefined
      ? {}
      : { task_base_url: record.plan.connection.taskBaseUrl }),
    created_at: toIso(record.createdAtMs),
    started_at: record.startedAtMs === null ? null : toIso(record.startedAtMs),
    ended_at: last.record.endedAtMs === null || standing.isHeld ? null : toIso(last.record.endedAtMs),
    parent_run_id: record.parentRunId,
    whole_run: toWholeRun(family),
    retries: members.slice(1).map(toRetry),
    sessions: members.flatMap(toSessions),
    rows,
    requests,
    throughput: {
      duration_s: durationS,
      attempted_per_s: toRate(requests.sent - (counts.get('request')?.get('cut_off') ?? 0), durationS),
      // A request may carry many rows.
      succeeded_per_s: toRate(batch === undefined ? requests.succeeded : rows.succeeded, durationS),
    },
    latency_ms: { ...recovered.state?.percentiles, ...mapTrends((metric) => latency.percentiles(metric)) },
    triggered_rules: toRules(family, rules),
    errors: [
      ...toInvalidGroups(counts.get('problem') ?? new Map()),
      ...toErrorGroups(counts.get('error') ?? new Map()),
      ...toLostGroups(recovered.lost),
    ],
    ...toCorrected(family),
    ...toSent(family, counts),
    warnings: [
      ...toRunWarnings({
        reuseEnded: counts.get('reuse_ended'),
        redacted: counts.get('redacted'),
        texts: counts.get('answer_text'),
        rows: counts.get('answer'),
        ruleNames: counts.get('rule_name'),
      }),
      ...toUnreadWarnings(family),
      ...toCutOffWarnings(family, rows),
      ...(standing.isHeld ? [] : toSharedItemWarnings(family)),
      ...warnOfNoResult(recovered.state?.noResult ?? 0, 'request'),
      ...warnOfMissingModels(recovered.state?.missingModels ?? 0, 'request'),
      ...warnOfSharedTasks(recovered.state?.sharedTasks ?? 0, 'request'),
      ...toFailureWarnings(family, requests, recovered.state?.thresholds),
      ...toFewWarnings(family, requests, latency, recovered.state?.thresholds),
      ...toRowWarnings(counts.get('problem') ?? new Map(), record.runId),
    ],
    retry_after: {
      answers: counts.get('retry_after_answers')?.get('') ?? 0,
      waited_s: (counts.get('retry_after_ms')?.get('') ?? 0) / 1000,
    },
    ...toThrottling(members, counts),
    ...toAnswerCounts(family, counts, rows),
    from_cache: { rows: counts.get('from_cache')?.get('') ?? 0 },
    ...toEchoes(counts),
    result_lost: { rows: counts.get('result_lost')?.get('') ?? 0 },
    to_repeat: { rows: countToRepeat(family, counts) },
    generator,
    ...toLoadSummary(family, recovered, generator),
  }
}

function toRules(family: RunFamily, rules: readonly TriggeredRule[]): TriggeredRule[] {
  if (rules.length === 0 || family.record.plan.load !== undefined) return [...rules]
  const unsuccessful = countRulesOfUnsuccessful(family)
  return rules.map((rule) => {
    const rows = unsuccessful.get(rule.rule_id)
    return rows === undefined ? rule : { ...rule, without_success: rows }
  })
}

/** The name of a run, and the tags and note for it and its retries. */
function toNamed({ record, whole, workspace }: RunFamily): Pick<RunSummary, 'name' | 'tags' | 'note'> {
  const { name, tags, note } = findAnnotations(workspace, whole[0]?.record.runId ?? record.runId)
  return {
    name: name ?? record.name,
    ...(tags.length > 0 && { tags }),
    ...(note !== null && { note }),
  }
}

/** Warns that the counts do not cover the whole source. */
function toUnreadWarnings({ record }: RunFamily): RunWarning[] {
  if (record.state !== 'intake' || record.parentRunId !== null) return []
  const message =
    'The source has not been read to its end: it may have more rows than these. Nothing is sent until then.'
  return [{ code: 'SOURCE_UNREAD', message }]
}

/** Warns that a process ended unexpectedly, and of what is not measured before its run is recovered. */
function toCutOffWarnings({ members, record }: RunFamily, { unknown }: RowCounts): RunWarning[] {
  if (record.plan.load !== undefined || !members.some(({ isCutOff }) => isCutOff)) return []
  const rows =
    unknown === 0 ? '' : ` ${formatCounted(unknown, 'row')} had no usable answer by then: see Errors.`
  const message = `The process that sent this run was cut off.${rows} Rates and latencies leave out its last seconds until the run is resumed.`
  return [{ code: 'CUT_OFF', message }]
}

/** Warns that answers gave several rows one item: its id is all that tells what was added. */
function toSharedItemWarnings({ members, record }: RunFamily): RunWarning[] {
  if (OPERATIONS[record.plan.operation.kind].ledger?.effect !== 'adds') return []
  const rows = members.reduce((sum, { db }) => sum + countSharedItems(db), 0)
  if (rows === 0) return []
  const message = `${formatCounted(rows, 'row')} share their custom_index_item_id with another row: the index keeps equal media as one item, or answers were swapped. Removing such an item removes it for all of its rows, and the ledger has it once. The export has the ids.`
  return [{ code: 'SHARED_ITEMS', message }]
}

/** Rows that share an item, by reader, at a version of its journal: counting takes 0.8 µs a row. */
const sharedItems = new WeakMap<DatabaseSync, { version: number; rows: number }>()

function countSharedItems(db: DatabaseSync): number {
  const version = readVersion(db)
  const known = sharedItems.get(db)
  if (known?.version === version) return known.rows
  const rows = readNumber(db, SHARED_ITEM_ROWS)
  sharedItems.set(db, { version, rows })
  return rows
}

const SHARED_ITEM_ROWS = `SELECT sum(n) FROM (SELECT count(*) AS n FROM result
  WHERE state = 'succeeded' AND custom_index_item_id IS NOT NULL GROUP BY custom_index_item_id HAVING n > 1)`

/** Warns that a latency threshold of a load test judges failures, if most of its requests did not succeed. */
function toFailureWarnings(
  { record }: RunFamily,
  { sent, succeeded }: RequestCounts,
  results: readonly ThresholdResult[] = [],
): RunWarning[] {
  for (const { expression } of record.plan.load?.thresholds ?? []) {
    if (!isOfAnyOutcome(expression)) continue
    const { requests, failed = 0 } = results.find((result) => result.expression === expression) ?? {}
    const [all, without, which] =
      requests === undefined ? [sent, sent - succeeded, ''] : [requests, failed, ' with its tags']
    if (without * 2 <= all) continue
    const message = `${formatCount(without)} of ${formatCounted(all, 'request')}${which} did not succeed, so the threshold ${expression} is mostly about failures. To judge what succeeded, add the tag expected_response:true, as in http_req_duration{expected_response:true}:p(99)<500.`
    return [{ code: 'LATENCY_OF_FAILURES', message }]
  }
  return []
}

/** Warns of thresholds of a load test that so few requests met that they say little of more. */
function toFewWarnings(
  { record }: RunFamily,
  { sent }: RequestCounts,
  latency: LatencyMeter,
  results: readonly ThresholdResult[] = [],
): RunWarning[] {
  if (record.endedAtMs === null) return []
  return (record.plan.load?.thresholds ?? []).flatMap(({ expression }) => {
    const result = results.find((one) => one.expression === expression)
    if (result === undefined || result.value === null || result.unanswered) return []
    const { metric } = readExpression(expression)
    const measured = isTrend(metric) ? latency.histogram(metric)?.totalCount : undefined
    const requests = result.requests ?? measured ?? sent
    const needed = toNeededRequests(result)
    if (requests >= needed) return []
    const message = `The threshold ${expression} was judged on ${formatCounted(requests, 'request')} but needs at least ${formatCount(needed)}. Measure longer.`
    return [{ code: 'FEW_REQUESTS', message }]
  })
}

/** What this run alone corrected of its source: a retry corrects its own rows. */
function toCorrected({ db }: RunFamily): Pick<RunSummary, 'corrected'> {
  const corrected = toCorrectedCounts(readFacetCounts(db).get('corrected') ?? new Map())
  return corrected === null ? {} : { corrected }
}

/** Rows sent before, and whether they are skipped. */
function toSent({ record }: RunFamily, counts: Counts): Pick<RunSummary, 'sent_before' | 'only_new'> {
  const sentBefore = toSentBefore(counts.get('sent_before'))
  return {
    ...(sentBefore !== null && { sent_before: sentBefore }),
    ...(record.plan.onlyNew !== undefined && { only_new: true as const }),
  }
}

function toEchoes(counts: Counts): Pick<RunSummary, 'echoes'> {
  const of = (finding: string) => counts.get('echo')?.get(finding) ?? 0
  const mismatched = toErrorGroups(counts.get('error') ?? new Map())
    .filter(({ error_code: code }) => code === ECHO_MISMATCH_CODE)
    .reduce((sum, { rows }) => sum + rows, 0)
  const alike = of('alike')
  const verified = of('verified') + alike
  const notVerifiable = of('unverifiable')
  if (verified + notVerifiable + mismatched === 0) return {}
  return { echoes: { verified, alike, not_verifiable: notVerifiable, mismatched } }
}

function toThrottling(members: readonly RunView[], counts: Counts): Pick<RunSummary, 'throttling'> {
  const answers = counts.get('throttled_answers')?.get('') ?? 0
  if (answers === 0) return {}
  // Limits are not added up: the newest one found counts.
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

/** The first run of a retry's whole and its state; null for a first run. */
function toWholeRun({ record, whole }: RunFamily): RunSummary['whole_run'] {
  const [first] = whole
  if (first === undefined || first.record.runId === record.runId) return null
  const family = toFamily(first, whole)
  const { rows } = summarizeFamilyCounts(family, readFamilyCounts(family))
  return { run_id: first.record.runId, rows }
}

/** The state of one retry, for its own rows only. */
function toRetry(member: RunView): RunSummary['retries'][number] {
  const states = readFacetCounts(member.db).get('state') ?? new Map<string, number>()
  const rows = toRowCounts(states, member.record.rowsRead, member.isCutOff ? countUnaccounted(member) : 0)
  return {
    run_id: member.record.runId,
    parent_run_id: member.record.parentRunId,
    state: toRunState(member),
    ...toPhase(member, rows),
    created_at: toIso(member.record.createdAtMs),
    rows,
  }
}

/** One run's sessions with what each sent: the run's counters at the next start less those at its own. */
function toSessions(member: RunView): RunSession[] {
  const { db, record } = member
  const sessions = readSessions(db)
  const now = {
    requests: readRequests(member),
    sendingMs: toDurationS(member) * 1_000,
  }
  return sessions.map((session, at) => {
    const end = sessions[at + 1] ?? now
    const count = (outcome: Outcome) =>
      (end.requests.get(outcome) ?? 0) - (session.requests.get(outcome) ?? 0)
    const [succeeded, rejected] = [count('succeeded'), count('rejected')]
    const [failed, unknown] = [count('failed'), count('unknown')]
    return {
      number: session.number,
      kind: session.kind,
      run_id: record.runId,
      started_at: toIso(session.startedAtMs),
      ended_at: session.endedAtMs === null ? null : toIso(session.endedAtMs),
      app_version: session.appVersion,
      rows_taken: session.taken,
      ...(session.isOtherKey && { other_key: true }),
      ...(session.trialRows !== null && { trial_rows: session.trialRows }),
      requests: { sent: succeeded + rejected + failed + unknown, succeeded, rejected, failed, unknown },
      duration_s: (end.sendingMs - session.sendingMs) / 1_000,
    }
  })
}

/** The member that decides whether a run and its retries are running, interrupted, stopped or completed. */
export function findStanding(members: readonly RunView[]): RunView {
  // Rows that a member left unsent are for its retry to send.
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

function toRunState({ record: { state }, isHeld }: RunView): RunState {
  if (state === 'completed' || state === 'stopped') return state
  return isHeld ? 'running' : 'interrupted'
}

function toPhase(standing: RunView, rows: RowCounts): Pick<RunSummary, 'phase'> {
  const { state, startedAtMs, plan } = standing.record
  if (toRunState(standing) !== 'running') return {}
  // A pause leaves a session `ready`, like one held before its first row.
  if (state === 'ready') return { phase: startedAtMs === null ? 'ready' : 'paused' }
  const isAllSent = plan.load === undefined && rows.awaiting > 0 && rows.not_sent === 0
  return state === 'running' && isAllSent ? { phase: 'awaiting' } : {}
}

export function readFamilyLatency(members: readonly RunView[]): LatencyMeter {
  const latency = new LatencyMeter()
  for (const { db } of members) latency.addAll(readLatency(db))
  return latency
}

function toDurationS({ db, record, isHeld }: RunView): number {
  const sendingMs = readSendingMs(db, record)
  return Math.max(sendingMs, record.state === 'running' && isHeld ? 1 : 0) / 1000
}

/** Share of requests in seconds shaped by the generator, above which the whole may be shaped by it. */
const LIMITED_SHARE = 0.01

function readGenerator(
  members: readonly RunView[],
  latency: LatencyMeter,
  counts: Counts,
): RunSummary['generator'] {
  const held = counts.get('held_by_service')?.get('') ?? 0
  const seconds = members.flatMap(({ db }) =>
    readRows<{ us: number | null; ended: number; limited: number }>(
      db,
      `SELECT max(event_loop_max_us) AS us, total(sent) AS ended, total(sent * generator_limited) AS limited FROM second`,
    ),
  )
  const sum = (name: 'ended' | 'limited') => seconds.reduce((total, second) => total + second[name], 0)
  const longestUs = seconds.flatMap(({ us }) => us ?? [])
  return {
    // A smaller share of requests does not affect the p99 of the whole.
    limited: sum('limited') > LIMITED_SHARE * sum('ended'),
    dropped: 0,
    waited: counts.get('waited')?.get('') ?? 0,
    ...(held > 0 && { held_by_service: held }),
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

/** What a run's operation counts besides success and error: terms, items, appeals, callbacks. */
function toAnswerCounts(
  family: RunFamily,
  counts: Counts,
  rows: RowCounts,
): Pick<RunSummary, 'terms' | 'items' | 'appeals' | 'callbacks'> {
  const { operation } = family.record.plan
  const answers = counts.get('answer')
  const of = (answer: string) => answers?.get(answer) ?? 0
  const callbacks = isAsync(operation)
    ? { callbacks: toCallbackCounts(counts.get('callback') ?? new Map(), counts.get('answer') ?? new Map()) }
    : {}
  const { subject, ledger } = OPERATIONS[operation.kind]
  switch (subject) {
    case 'content':
      return callbacks
    case 'item': {
      if (ledger === undefined) return callbacks
      const countIf = (effect: LedgerEffect) => (ledger.effect === effect ? rows.succeeded : 0)
      return { ...callbacks, items: { added: countIf('adds'), removed: countIf('removes') } }
    }
    case 'term': {
      const terms: TermCounts = {
        added: of('added'),
        pre_existing: of('pre_existing'),
        ...(of('added_or_pre_existing') > 0 && {
          added_or_pre_existing: of('added_or_pre_existing'),
        }),
        updated: of('updated'),
        non_existent: of('non_existent'),
        failed: of('failed') === 0 ? [] : readFailedTerms(family),
      }
      return { terms }
    }
    case 'appeal': {
      const appeals = {
        in_review: of('in_review'),
        reviewed: of('reviewed'),
        overturned: of('overturned'),
        upheld: of('upheld'),
        other_status: of('other_status'),
      }
      return { appeals }
    }
  }
}

function readFailedTerms(family: RunFamily): TermCounts['failed'] {
  const { record, members } = family
  const mapRow = createRowMapper(record.plan, record.columns, record.runToken)
  const failed = members
    .flatMap((member) => readFailedRows(member, findTakersOf(member, members)))
    .sort((a, b) => a.row - b.row)
    .slice(0, FAILED_TERMS_MAX)
  const toNumbers = createNumberReader(
    family,
    failed.map(({ row }) => row),
  )
  return failed.map(({ row, cells, kinds }) => {
    const { term, notes } = mapRow(row, cells, kinds).body
    return { term: String(term ?? ''), notes: typeof notes === 'string' ? notes : null, ...toNumbers(row) }
  })
}

interface FailedRow {
  row: number
  cells: string[]
  kinds: string | null
}

/** The first failed terms of one run that no retry has taken over. */
function readFailedRows({ db }: RunView, takers: readonly RunView[]): FailedRow[] {
  const page = db.prepare(
    `SELECT row.id, row.cells, row.kinds FROM result INDEXED BY result_by_answer CROSS JOIN row ON row.id = result.row
     WHERE answer = 'failed' AND result.row > ? ORDER BY result.row LIMIT ${FAILED_TERMS_MAX}`,
  )
  const failed: FailedRow[] = []
  for (let rows = page.all(0); rows.length > 0; rows = page.all(Number(rows.at(-1)?.['id']))) {
    const ids = rows.map(({ id }) => Number(id))
    const taken = new Set(takers.flatMap((taker) => pickRows(taker, ids)))
    for (const { id, cells, kinds } of rows) {
      if (taken.has(Number(id))) continue
      const own = kinds === null ? null : String(kinds)
      failed.push({ row: Number(id), cells: parseCells(String(cells)), kinds: own })
      if (failed.length === FAILED_TERMS_MAX) return failed
    }
  }
  return failed
}
