import {
  countSettled,
  toCallbackCounts,
  toErrorCauses,
  toErrorGroups,
  toRequestCounts,
  toRowCounts,
  toRunWarnings,
} from '../../../shared/run/counts.ts'
import { countRows } from '../../../shared/run/item-state.ts'
import type { RowCounts, TriggeredRule } from '../../../shared/run/run.ts'
import { LIVE_MAX, type RunSnapshot, type Slowdown } from '../../../shared/run/snapshot.ts'
import type { Journal } from '../journal/journal.ts'
import type { SecondMeter } from '../sending/second-meter.ts'
import type { StatementSync } from '../workspace/sqlite.ts'
import { toInvalidGroups } from './journal/stored-problems.ts'

/** Parts of a snapshot that the journal's counters do not have. */
interface SnapshotState
  extends Pick<
    RunSnapshot,
    'runId' | 'phase' | 'bytes' | 'problems' | 'inFlight' | 'notice' | 'slowdown' | 'load'
  > {
  rowsRead: number
  /** Time spent sending, all sessions, milliseconds. */
  elapsedMs: number
  /** Time spent sending since the last hold, milliseconds. */
  stretchMs: number
  meter: SecondMeter | null
}

/** Whether nothing gets through, so that the end of a run cannot be estimated. */
function isStalled(slowdown: Slowdown | null): boolean {
  if (slowdown === null || slowdown.kind === 'waiting') return false
  return slowdown.kind === 'unreachable' || slowdown.pacePerS === null
}

/** Builds snapshots from counters that the journal keeps anyway. */
export class SnapshotBuilder {
  readonly #journal: Journal
  readonly #ruleName: StatementSync
  #settledBefore = 0
  #rowsToSend = Number.POSITIVE_INFINITY
  #isAsync = false

  constructor(journal: Journal) {
    this.#journal = journal
    this.#ruleName = journal.db.prepare('SELECT rule_name FROM rule WHERE rule_id = ?')
  }

  set isAsync(isAsync: boolean) {
    this.#isAsync = isAsync
  }

  /**
   * Starts the stretch from which the remaining time is estimated, with the rows that a trial may still send.
   */
  beginStretch(trialRows: number | null): void {
    this.#settledBefore = this.#countSettled()
    this.#rowsToSend = trialRows ?? Number.POSITIVE_INFINITY
  }

  create(state: SnapshotState): RunSnapshot {
    const { counters } = this.#journal
    const rows = toRowCounts(counters.entries('state'), state.rowsRead)
    const requests = toRequestCounts(counters.entries('request'))
    return {
      runId: state.runId,
      phase: state.phase,
      bytes: state.bytes,
      problems: state.problems,
      rows,
      toRepeat: counters.get('state', 'pending'),
      requests,
      inFlight: state.inFlight,
      ratePerSecond: {
        current: state.phase === 'running' ? (state.meter?.ratePerSecond ?? 0) : 0,
        mean: state.elapsedMs > 0 ? (requests.sent * 1000) / state.elapsedMs : 0,
      },
      // A load test ends when its time is over, whatever the state of its rows.
      etaMs:
        state.phase === 'running' && state.load === null && !isStalled(state.slowdown)
          ? this.#toEtaMs(rows, state)
          : null,
      elapsedMs: state.elapsedMs,
      latencyMs: state.meter?.total.percentiles('http_req_duration') ?? null,
      triggeredRules: this.#toTopRules(),
      // The service's errors come first: many causes of invalid rows must not push them out.
      errors: toErrorCauses([
        ...toErrorGroups(counters.entries('error')),
        ...toInvalidGroups(counters.entries('problem')),
      ]).slice(0, LIVE_MAX),
      warnings: toRunWarnings({
        reuseEnded: counters.entries('reuse_ended'),
        redacted: counters.entries('redacted'),
        texts: counters.entries('answer_text'),
        rows: counters.entries('answer'),
        ruleNames: counters.entries('rule_name'),
      }),
      retryAfter: {
        answers: counters.get('retry_after_answers'),
        waitedMs: counters.get('retry_after_ms'),
      },
      slowdown: state.slowdown,
      answers: Object.fromEntries(counters.entries('answer')),
      callbacks: this.#isAsync
        ? toCallbackCounts(counters.entries('callback'), counters.entries('answer'))
        : null,
      load: state.load,
      notice: state.notice,
    }
  }

  #toEtaMs(rows: RowCounts, { stretchMs, slowdown }: SnapshotState): number | null {
    // Rows settled so far tell nothing about the length of a wait.
    if (slowdown?.kind === 'waiting') return Math.max(0, slowdown.untilMs - Date.now())
    const settled = this.#countSettled() - this.#settledBefore
    if (settled <= 0) return null
    const left = Math.min(countRows(rows, 'open'), Math.max(0, this.#rowsToSend - settled))
    return (left * stretchMs) / settled
  }

  #countSettled(): number {
    return countSettled(toRowCounts(this.#journal.counters.entries('state'), 0))
  }

  #toTopRules(): TriggeredRule[] {
    return [...this.#journal.counters.entries('rule')]
      .sort(([, a], [, b]) => b - a)
      .slice(0, LIVE_MAX)
      .map(([ruleId, rows]) => ({ rule_id: ruleId, rule_name: this.#toRuleName(ruleId), rows }))
  }

  #toRuleName(ruleId: string): string {
    return String(this.#ruleName.get(ruleId)?.['rule_name'] ?? ruleId)
  }
}
