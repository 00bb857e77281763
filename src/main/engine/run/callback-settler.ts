import { toRowCounts } from '../../../shared/run/counts.ts'
import type { ItemState } from '../../../shared/run/item-state.ts'
import { toUnixMsAgo } from '../../../shared/unix-clock.ts'
import type { Journal } from '../journal/journal.ts'
import { findHeldCorrection, findTakenOver, type RunFamily, type RunView } from '../journal/run-family.ts'
import { type RunRecord, readRunRecord, updateRunRecord } from '../journal/run-record.ts'
import { readLatency, writeLatency } from '../journal/seconds.ts'
import { createReplacedReader, isSentSince } from '../journal/sent-as.ts'
import { parseCells } from '../journal/stored-cells.ts'
import type { InboxCallback } from '../receiver/inbox.ts'
import { InboxReader } from '../receiver/inbox.ts'
import { createItemRequests } from '../sending/item-requests.ts'
import type { EchoFinding } from '../service/echoes.ts'
import type { Judgement } from '../service/judgement.ts'
import type { DatabaseSync } from '../workspace/sqlite.ts'
import { CallbackWriter, type SettledItem, toCallbackLatency } from './journal/callback-writer.ts'
import { ItemClaims } from './journal/item-claims.ts'
import { rebuildSeconds } from './journal/recovery.ts'
import { createRowSearch } from './other-rows.ts'
import { OutcomeWriter } from './recorder.ts'

/** Most callbacks processed at once, and most items that become overdue at once. */
const BATCH_MAX = 2_000

interface CallbackSource {
  /** Callbacks after a position of the inbox, in order of arrival. */
  readAfter(afterId: number, limit: number): InboxCallback[]
  close(): void
}

/** What a callback says and, if a correction has replaced contents of its row, which of them it fits. */
interface JudgedCallback extends Judgement {
  fits?: readonly (number | null)[]
}

export interface CallbackSettlerOptions {
  journal: Journal
  record: RunRecord
  claims: ItemClaims
  inbox: CallbackSource
  /** States of rows that a child run has taken over (default: none). */
  takenOver?: ReadonlySet<ItemState>
  /** Null if the callback cannot be read. */
  judge: (body: string, item: number) => JudgedCallback | null
  /** A time that is so many milliseconds ago, Unix milliseconds; see `toUnixMsAgo`. */
  toMsAgo: (ms: number) => number
  /** The latency of a callback, microseconds, and when it came, Unix microseconds. */
  onLatency: (latencyUs: number, receivedAtUs: number) => void
}

/**
 * Takes the run's callbacks out of the inbox and marks overdue items. It writes in the sender's transaction,
 * so that an item's outcome and its callback never miss each other.
 */
export class CallbackSettler {
  readonly #options: CallbackSettlerOptions
  readonly #outcomes: OutcomeWriter
  readonly #writer: CallbackWriter
  readonly #timeoutMs: number
  #inboxRead: number
  #batch: InboxCallback[] = []
  #settled: SettledItem[] = []
  /** Arrival of callbacks for items in flight, Unix microseconds; null if they may answer an earlier try. */
  readonly #early = new Map<number, number | null>()
  #latencies: { item: number; latencyUs: number; receivedAtUs: number }[] = []
  #lastLossMs: number | null = null
  /** From callbacks since {@link takeEchoes}. */
  #echoes: EchoFinding[] = []

  constructor(options: CallbackSettlerOptions) {
    this.#options = options
    const { journal, claims, record } = options
    this.#outcomes = new OutcomeWriter(journal)
    this.#writer = new CallbackWriter(journal, claims, this.#outcomes, {
      scope: { isChild: record.parentRunId !== null, takenOver: options.takenOver ?? new Set() },
      onForeign: () => this.noteLoss(),
    })
    this.#timeoutMs = record.plan.callback.timeoutMs
    this.#inboxRead = record.inboxRead
  }

  /** Looks for callbacks and overdue items; returns whether {@link write} has anything to do. */
  look(): boolean {
    if (this.#batch.length === 0) this.#batch = this.#options.inbox.readAfter(this.#inboxRead, BATCH_MAX)
    return this.#batch.length > 0 || this.#latencies.length > 0 || this.#writer.isAnyOverdue(this.#overdueMs)
  }

  /**
   * Processes what {@link look} found; `isWaiting` tells whether an item is marked as sent but still in the
   * queue. The caller has a transaction open.
   */
  write(isWaiting?: (item: number) => boolean): void {
    const { judge } = this.#options
    this.#settled = []
    this.#echoes = []
    // Findings of the last time are gone if that transaction was undone.
    this.#outcomes.forget()
    for (const { item, latencyUs } of this.#latencies) this.#writer.writeLatency(item, latencyUs)
    let lastUs = this.#batch.at(-1)?.receivedAtUs
    for (const [at, callback] of this.#batch.entries()) {
      const judgement = judge(callback.body, callback.item)
      const content = toContent(judgement)
      // Callbacks are taken in order: the ones after it also wait until a request has ended.
      if (isWaiting !== undefined && this.#writer.isOpen(callback, content, isWaiting)) {
        lastUs = callback.receivedAtUs
        this.#batch.splice(at)
        break
      }
      if (judgement !== null) this.#echoes.push(judgement.echo)
      const settled = this.#writer.take(callback, content, isWaiting)
      if (settled !== null) this.#settled.push(settled)
    }
    const missing = `came within ${this.#timeoutMs / 1000} s of the acknowledgement; a late one still counts`
    // Callbacks after the last one read may have come in time.
    const readUntilMs = lastUs === undefined ? Number.POSITIVE_INFINITY : lastUs / 1_000 - this.#timeoutMs
    this.#writer.markOverdue(Math.min(this.#overdueMs, readUntilMs), missing, BATCH_MAX)
  }

  /** Confirms that {@link write} was committed; returns the items it settled. */
  committed(): SettledItem[] {
    const settled = this.#settled
    for (const { latencyUs, receivedAtUs } of [...this.#latencies, ...settled]) {
      if (latencyUs !== null) this.#options.onLatency(latencyUs, receivedAtUs)
    }
    this.#inboxRead = this.#batch.at(-1)?.id ?? this.#inboxRead
    this.#batch = []
    this.#settled = []
    this.#latencies = []
    return settled
  }

  /** Whether the callbacks processed by {@link write} prove whose they are. */
  takeEchoes(): EchoFinding[] {
    return this.#echoes.splice(0)
  }

  /** Notes a callback that settled an item in flight; the time is null if it may answer an earlier try. */
  noteEarly(item: number, receivedAtUs: number | null): void {
    this.#early.set(item, receivedAtUs)
  }

  /** Notes the end of a request sent at this Unix microsecond; whether a callback settled its item before. */
  noteEnd(item: number, sentAtUs: number): boolean {
    if (this.#early.size === 0) return false
    const receivedAtUs = this.#early.get(item)
    if (receivedAtUs === undefined) return false
    this.#early.delete(item)
    if (receivedAtUs === null) return true
    const latencyUs = toCallbackLatency(sentAtUs, receivedAtUs)
    if (latencyUs !== null) this.#latencies.push({ item, receivedAtUs, latencyUs: Math.round(latencyUs) })
    return true
  }

  /** Notes that an item's outcome has become unknown; its callback may still settle it. */
  noteLoss(): void {
    this.#lastLossMs = this.#options.toMsAgo(0)
  }

  /** Whether nothing is awaited: no acknowledged item, and no unknown one that a callback may settle. */
  get isOver(): boolean {
    const { counters } = this.#options.journal
    if (counters.get('state', 'acknowledged') > 0) return false
    if (this.#lastLossMs === null || counters.get('state', 'unknown') === 0) return true
    return this.#overdueMs > this.#lastLossMs
  }

  close(): void {
    this.#options.inbox.close()
  }

  get #overdueMs(): number {
    return this.#options.toMsAgo(this.#timeoutMs)
  }
}

function toContent(judgement: JudgedCallback | null): Parameters<CallbackWriter['take']>[1] {
  if (judgement === null) return null
  const { echo, message } = judgement
  if (echo.kind === 'mismatched') return { kind: 'foreign', note: message ?? '' }
  if (judgement.outcome === 'unknown') return { kind: 'inconclusive', note: message ?? '' }
  return { ...judgement, kind: 'own', outcome: judgement.outcome === 'succeeded' ? 'succeeded' : 'rejected' }
}

/** Opens a settler for a run's callbacks in the workspace's inbox; `redact` removes secrets from a body. */
export function openCallbackSettler(
  options: Pick<CallbackSettlerOptions, 'journal' | 'record' | 'claims' | 'onLatency'> & {
    workspace: string
    redact: (body: string) => string
  },
): CallbackSettler {
  const { workspace, journal, record, redact } = options
  const inbox = new InboxReader(workspace)
  return new CallbackSettler({
    ...options,
    inbox: {
      readAfter(afterId, limit) {
        const callbacks = inbox.readAfter(record.runToken, afterId, limit)
        for (const callback of callbacks) callback.body = redact(callback.body)
        return callbacks
      },
      close: () => inbox.close(),
    },
    takenOver: findTakenOver(record, workspace),
    judge: createCallbackJudge(journal.db, record, workspace),
    toMsAgo: toUnixMsAgo,
  })
}

/**
 * Judges callbacks by the content their item was or will be sent with, read from the cells of its row as the
 * sender does: the last content, and those before corrections.
 */
function createCallbackJudge(
  db: DatabaseSync,
  record: RunRecord,
  workspace: string,
): CallbackSettlerOptions['judge'] {
  const readRow = db.prepare(
    'SELECT cells, kinds, item, state, attempts FROM row LEFT JOIN result ON result.row = row.id WHERE id = ?',
  )
  const readReplaced = record.plan.earlierFixes === undefined ? () => [] : createReplacedReader(db)
  const { exchange, mapRow } = createItemRequests(record, workspace, [], (id) => hasRow(id))
  const hasRow = createRowSearch(db, record.plan.operation, mapRow)
  return (text, item) => {
    const row = readRow.get(item)
    if (row === undefined) return exchange.judgeCallback(text)
    const cells = parseCells(String(row['cells']))
    const judgeAs = (kinds: string | null) =>
      exchange.judgeCallback(text, exchange.toRowKeys([mapRow(item, cells, kinds).body]))
    const present = typeof row['kinds'] === 'string' ? row['kinds'] : null
    const replaced = readReplaced(item)
    if (replaced.length === 0) return judgeAs(present)
    const stored = {
      item: row['item'] === null ? null : Number(row['item']),
      attempts: Number(row['attempts'] ?? 0),
      state: row['state'] === null ? null : String(row['state']),
    }
    // A correction that requeued a row may not have sent it yet.
    const judged = [
      ...(isSentSince(replaced, stored) ? [{ session: null, judgement: judgeAs(present) }] : []),
      ...replaced.toReversed().map(({ session, kinds }) => ({ session, judgement: judgeAs(kinds) })),
    ]
    const fitting = judged.filter(({ judgement }) => judgement?.echo.kind !== 'mismatched')
    const judgement = (fitting[0] ?? judged[0])?.judgement ?? null
    return judgement === null ? null : { ...judgement, fits: fitting.map(({ session }) => session) }
  }
}

/**
 * Which of a run and its retries have unprocessed callbacks or rows that have become overdue; none while a
 * correction is being reviewed, after which the run gets its rows back and processes their callbacks itself.
 */
export function findLateRuns(family: RunFamily): string[] {
  const { members, whole } = family
  const correction = findHeldCorrection(family)
  const isOfCorrection = ({ record }: RunView) => record.runId === correction?.correctionId
  if (whole.some((run) => run.isHeld && isOfCorrection(run))) return []
  // A correction that a process left behind is given up, with the callbacks it would process.
  const runs = correction === null ? members : whole.filter((run) => !isOfCorrection(run))
  return runs.filter((run) => !run.isHeld && hasLateCallbacks(run)).map(({ record }) => record.runId)
}

/** A load test measures its own callbacks and processes no others. */
function hasLateCallbacks({ db, record, workspace }: RunView): boolean {
  if (record.callbackBase === null || record.plan.load !== undefined) return false
  const overdue = db
    .prepare("SELECT 1 FROM result WHERE state = 'acknowledged' AND acknowledged_at <= ? LIMIT 1")
    .get(toUnixMsAgo(record.plan.callback.timeoutMs))
  if (overdue !== undefined) return true
  const inbox = new InboxReader(workspace)
  try {
    return inbox.readAfter(record.runToken, record.inboxRead, 1).length > 0
  } finally {
    inbox.close()
  }
}

/**
 * Processes callbacks that came when nobody held the run; nothing is sent. A run stays as it ended, except
 * that one stopped while waiting for its last callbacks has then completed.
 */
export function settleCallbacks(workspace: string, journal: Journal): void {
  const record = readRunRecord(journal.db)
  if (record === null || record.callbackBase === null) return
  // The total written below must include the second in which a run was cut off.
  if (record.state === 'running') rebuildSeconds(journal)
  const latency = readLatency(journal.db)
  const settler = openCallbackSettler({
    workspace,
    journal,
    record,
    claims: new ItemClaims(journal, record),
    redact: (body) => body,
    onLatency: (latencyUs) => latency.record('callback_latency', latencyUs),
  })
  try {
    while (settler.look()) {
      journal.transact('process', () => settler.write())
      settler.committed()
    }
    journal.transact('process', () => {
      writeLatency(journal.db, latency)
      const rows = toRowCounts(journal.counters.entries('state'), record.rowsRead)
      const isOver = rows.not_sent === 0 && rows.awaiting === 0
      if (record.state === 'interrupted' && isOver) updateRunRecord(journal.db, { state: 'completed' })
    })
  } finally {
    settler.close()
  }
}
