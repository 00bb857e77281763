import { type ItemState, nextItemState, type RowAnswer } from '../../../../shared/run/item-state.ts'
import { wasClockSet } from '../../../../shared/unix-clock.ts'
import { countError, type ErrorCause, uncountError } from '../../journal/counters.ts'
import type { Journal } from '../../journal/journal.ts'
import { CREATE_TASK_INDEX } from '../../journal/migrations.ts'
import { readRunRecord, updateRunRecord } from '../../journal/run-record.ts'
import {
  createReplacedReader,
  isSentSince,
  type ReplacedContent,
  selectReplacedTries,
} from '../../journal/sent-as.ts'
import { LongBodies, packBody, readStoredBody } from '../../journal/stored-bodies.ts'
import { parseCells } from '../../journal/stored-cells.ts'
import { createRowMapper, type MapRow } from '../../mapping/row-mapper.ts'
import type { InboxCallback } from '../../receiver/inbox.ts'
import { rankCallback } from '../../service/callback-rank.ts'
import { ECHO_MISMATCH_CODE, type EchoFinding } from '../../service/echoes.ts'
import { cutMessage } from '../../service/judgement.ts'
import { type StatementSync, toNumber, toText } from '../../workspace/sqlite.ts'
import { describeDifference, describeUnreadable, isSameCallback } from '../callback-text.ts'
import type { AttemptRecord, OutcomeWriter } from '../recorder.ts'
import type { ItemClaims } from './item-claims.ts'

/**
 * A callback's content; null if unreadable. `foreign`: it names another post or item than its address.
 * `inconclusive`: it does not tell the outcome.
 */
type CallbackContent = OwnContent | { kind: 'foreign'; note: string } | { kind: 'inconclusive'; note: string }

/** What a callback says about its item. */
interface OwnContent
  extends Pick<
    AttemptRecord,
    'taskId' | 'customIndexItemId' | 'errorCode' | 'message' | 'answer' | 'rules' | 'classes' | 'names'
  > {
  kind: 'own'
  outcome: 'succeeded' | 'rejected'
  echo: EchoFinding
  fromCache: boolean
  /**
   * The contents of its row that it fits, by what it repeats: sessions of {@link ReplacedContent}, null for
   * the present one. Absent if the row had no other content.
   */
  fits?: readonly (number | null)[]
}

export interface SettledItem {
  item: number
  /** Its state before. */
  from: ItemState
  receivedAtUs: number
  /** Whether it came before the request had ended, and so before any acknowledgement was read. */
  isEarly: boolean
  /** Whether it answers the request in flight, whose end will determine its latency. */
  isOfTryInFlight: boolean
  /** From sending the request it answers, microseconds; null if that is in flight or unknown. */
  latencyUs: number | null
}

/** States in which nothing was awaited any more. */
const LATE_FROM: ReadonlySet<ItemState> = new Set(['overdue', 'unknown'])

/** The place of this run in a chain of runs that share callback addresses. */
interface CallbackScope {
  /** Whether it has only some of its parent's rows; callbacks of the others are the parent's. */
  isChild: boolean
  /** States of rows that its child has taken over. */
  takenOver: ReadonlySet<ItemState>
}

const WHOLE: CallbackScope = { isChild: false, takenOver: new Set() }

interface StoredResult extends ErrorCause {
  attempts: number
  answer: RowAnswer | null
  taskId: string | null
}

/** What a callback is about: a content replaced by a correction, or the present one, perhaps in doubt. */
interface Addressee {
  replaced: ReplacedContent | null
  /** Whether its row now has other content, which has not been sent. */
  isUnsent: boolean
  /** Whether it may be about another content; `in_flight` if the request under way will tell. */
  doubt: 'none' | 'in_flight' | 'stays'
}

const OF_PRESENT: Addressee = { replaced: null, isUnsent: false, doubt: 'none' }

/** What is wrong with a row's result itself, and so outweighs what is odd about its callbacks. */
const OF_RESULT: ReadonlySet<RowAnswer> = new Set(['callback_in_doubt', 'no_result', 'missing_models'])

/** What a row notes about its callbacks. */
interface Mark {
  answer: RowAnswer
  note: string
}

/** For a row whose callback may be about earlier content. */
const IN_DOUBT: Mark = {
  answer: 'callback_in_doubt',
  note: 'it may answer what was sent before a correction',
}

/** A callback's effect: `differing` contradicts the one that settled its item, `other_post` names another. */
type Effect = 'settled' | 'settled_before' | 'doubled' | 'differing' | 'unreadable' | 'other_post'

/** Callbacks of an item that a further one is compared with. */
const COMPARED_MAX = 20

/** States in which an item may be resent, which rewrites its row. */
const RESENDABLE: ReadonlySet<ItemState> = new Set(['pending', 'sending', 'unknown'])

/** Processes callbacks: each settles its item at most once. The caller has a transaction open. */
export class CallbackWriter {
  readonly #journal: Journal
  readonly #claims: ItemClaims
  readonly #outcomes: OutcomeWriter
  readonly #scope: CallbackScope
  readonly #onForeign: () => void
  readonly #result: StatementSync
  readonly #isRow: StatementSync
  readonly #kinds: StatementSync
  readonly #acknowledged: StatementSync
  readonly #settledBy: StatementSync
  readonly #said: StatementSync
  readonly #useless: StatementSync
  readonly #setEffect: StatementSync
  readonly #note: StatementSync
  readonly #lose: StatementSync
  readonly #lastTry: StatementSync
  readonly #firstUnknownTry: StatementSync
  readonly #write: StatementSync
  readonly #callback: StatementSync
  readonly #longCallbacks: LongBodies
  readonly #latency: StatementSync
  readonly #callbackLatency: StatementSync
  readonly #overdue: StatementSync
  readonly #setOverdue: StatementSync
  readonly #earlier: StatementSync
  readonly #readReplaced: ReturnType<typeof createReplacedReader>
  readonly #ownEarlierTask: StatementSync
  readonly #lostTry: StatementSync
  readonly #firstTry: StatementSync
  readonly #setEarlier: StatementSync
  readonly #saidBefore: StatementSync
  readonly #byTask: StatementSync
  #mapRow: MapRow | null = null

  /** `onForeign`: a row that waited for its callback got that of another item, and waits for its own. */
  constructor(
    journal: Journal,
    claims: ItemClaims,
    outcomes: OutcomeWriter,
    { scope = WHOLE, onForeign = () => {} }: { scope?: CallbackScope; onForeign?: () => void } = {},
  ) {
    this.#scope = scope
    this.#onForeign = onForeign
    this.#journal = journal
    this.#claims = claims
    this.#outcomes = outcomes
    const { db } = journal
    this.#result = db.prepare(
      'SELECT state, attempts, status, error_code, message, answer, task_id FROM result WHERE row = ?',
    )
    this.#earlier = db.prepare('SELECT 1 FROM earlier WHERE row = ? LIMIT 1')
    this.#readReplaced = createReplacedReader(db)
    // An overdue try with a known task is not lost.
    this.#lostTry = db.prepare(
      `SELECT 1 FROM attempt WHERE item = ?1 AND outcome = 'unknown' AND number > ?2
       UNION ALL SELECT 1 FROM earlier WHERE row = ?1 AND state = 'overdue' AND task_id IS NULL AND attempts > ?2 LIMIT 1`,
    )
    this.#ownEarlierTask = db.prepare(
      'SELECT 1 FROM earlier WHERE row = ? AND attempts > ? AND task_id = ? LIMIT 1',
    )
    this.#firstTry = db.prepare(
      'SELECT sent_at_us FROM attempt WHERE item = ? AND number > ? ORDER BY number LIMIT 1',
    )
    this.#setEarlier = db.prepare(
      `UPDATE earlier SET state = ?, error_code = ?, message = ?, task_id = coalesce(task_id, ?),
       status = CASE WHEN status BETWEEN 200 AND 299 THEN status END
       WHERE row = ? AND session = ?`,
    )
    this.#acknowledged = db.prepare(
      "SELECT task_id FROM result WHERE row = ? AND state IN ('acknowledged', 'overdue')",
    )
    this.#isRow = db.prepare('SELECT 1 FROM row WHERE id = ? AND item IS NOT NULL')
    this.#byTask = db.prepare('SELECT 1 FROM result WHERE task_id = ? LIMIT 1')
    this.#kinds = db.prepare('SELECT kinds FROM row WHERE id = ?')
    const said = `SELECT callback.id, effect, body, content, bytes FROM callback
      LEFT JOIN long_callback ON long_callback.id = callback.id WHERE item = ?`
    this.#settledBy = db.prepare("SELECT id FROM callback WHERE item = ? AND effect = 'settled'")
    this.#said = db.prepare(
      `${said} AND effect IN ('settled', 'differing') ORDER BY effect DESC, callback.id LIMIT ${COMPARED_MAX}`,
    )
    this.#saidBefore = db.prepare(
      `${said} AND effect = 'settled_before' ORDER BY callback.id DESC LIMIT ${COMPARED_MAX}`,
    )
    this.#useless = db.prepare(
      `${said} AND effect IN ('unreadable', 'other_post') ORDER BY callback.id DESC LIMIT 1`,
    )
    this.#setEffect = db.prepare('UPDATE callback SET effect = ? WHERE id = ?')
    this.#note = db.prepare('UPDATE result SET message = ?, answer = ? WHERE row = ?')
    this.#lose = db.prepare(
      'UPDATE result SET state = ?, error_code = ?, message = ?, answer = ? WHERE row = ?',
    )
    this.#lastTry = db.prepare(
      'SELECT sent_at_us, sent_at_us + duration_us AS ended_at_us FROM attempt WHERE item = ? ORDER BY number DESC LIMIT 1',
    )
    this.#firstUnknownTry = db.prepare(
      `SELECT sent_at_us FROM attempt WHERE item = ?1 AND outcome = 'unknown' AND number > ${selectReplacedTries('?1')}
       ORDER BY number LIMIT 1`,
    )
    this.#write = db.prepare(
      `INSERT INTO result (row, state, attempts, status, error_code, message, task_id, custom_index_item_id, callback_us, answer)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (row) DO UPDATE SET state = excluded.state,
       attempts = excluded.attempts, status = excluded.status, error_code = excluded.error_code, message = excluded.message,
       task_id = coalesce(excluded.task_id, task_id), callback_us = excluded.callback_us,
       custom_index_item_id = coalesce(excluded.custom_index_item_id, custom_index_item_id),
       answer = coalesce(excluded.answer, answer)`,
    )
    this.#callback = db.prepare(
      'INSERT INTO callback (id, item, received_at_us, latency_us, effect, body) VALUES (?, ?, ?, ?, ?, ?)',
    )
    this.#longCallbacks = new LongBodies(db, 'long_callback')
    this.#latency = db.prepare('UPDATE result SET callback_us = ? WHERE row = ?')
    this.#callbackLatency = db.prepare(
      "UPDATE callback SET latency_us = ? WHERE item = ? AND effect = 'settled'",
    )
    this.#overdue = db.prepare(
      "SELECT row FROM result WHERE state = 'acknowledged' AND acknowledged_at <= ? ORDER BY acknowledged_at LIMIT ?",
    )
    this.#setOverdue = db.prepare(
      "UPDATE result SET state = 'overdue', message = ?, answer = ? WHERE row = ?",
    )
  }

  /**
   * Processes one callback, whose content is null if it cannot be read; returns the item it settled, or null.
   * An item marked as sent counts one more try, unless it is waiting.
   */
  take(
    callback: InboxCallback,
    received: CallbackContent | null,
    isWaiting: (item: number) => boolean = () => false,
  ): SettledItem | null {
    const { id, item, receivedAtUs, body } = callback
    const { counters } = this.#journal
    if (!this.#isOwn(item)) {
      updateRunRecord(this.#journal.db, { inbox_read: id })
      return null
    }
    const content = this.#checkTask(item, received)
    const isOwn = content?.kind === 'own'
    const addressee = isOwn ? this.#findAddressee(callback, content, isWaiting) : OF_PRESENT
    const { replaced, isUnsent } = addressee
    // A correction is not sent if the earlier content turns out to have been accepted.
    const isTaken = isUnsent && isOwn && content.outcome === 'succeeded'
    const isOfBefore = isOwn && replaced !== null && !(isTaken && this.#isRow.get(item) !== undefined)
    const settled = isOwn && !isOfBefore ? this.#settle(callback, content, isWaiting, addressee) : null
    const toOther = () =>
      isOfBefore ? this.#settleReplaced(callback, content, replaced) : this.#noteOther(callback, content)
    const effect = settled === null ? toOther() : 'settled'
    counters.add('callback', 'received', 1)
    if (callback.isDamaged) counters.add('answer_text', 'damaged', 1)
    counters.add('callback', effect === 'settled_before' ? 'settled' : effect, 1)
    if (settled?.isEarly) counters.add('callback', 'early', 1)
    if (settled !== null && !settled.isEarly && LATE_FROM.has(settled.from)) {
      counters.add('callback', 'late', 1)
    }
    const text = this.#longCallbacks.write(id, packBody(body)) ?? ''
    this.#callback.run(id, item, receivedAtUs, settled?.latencyUs ?? null, effect, text)
    updateRunRecord(this.#journal.db, { inbox_read: id })
    return settled
  }

  /** Whether a callback must wait for the end of a request in flight, which will tell what it is about. */
  isOpen(
    callback: InboxCallback,
    content: CallbackContent | null,
    isWaiting: (item: number) => boolean,
  ): boolean {
    if (content === null || !this.#isOwn(callback.item)) return false
    if (content.kind === 'foreign') return false
    if (content.kind === 'inconclusive') return this.#isInFlight(callback.item, isWaiting)
    if (this.#findAddressee(callback, content, isWaiting).doubt === 'in_flight') return true
    return this.#isInFlight(callback.item, isWaiting) && this.#isTaskOfOther(callback.item, content)
  }

  /** Whether a request is under way whose answer will name the task of its item. */
  #isInFlight(item: number, isWaiting: (item: number) => boolean): boolean {
    return this.#toState(item, this.#readResult(item)) === 'sending' && !isWaiting(item)
  }

  #toState(item: number, stored: StoredResult | null): ItemState {
    return stored?.state ?? (this.#claims.isClaimed(item) ? 'sending' : 'pending')
  }

  /** Writes the latency of a callback that came while its item was in flight. */
  writeLatency(item: number, latencyUs: number): void {
    this.#latency.run(latencyUs, item)
    this.#callbackLatency.run(latencyUs, item)
  }

  /** Whether any item acknowledged at or before this time, Unix milliseconds, still awaits its callback. */
  isAnyOverdue(acknowledgedBeforeMs: number): boolean {
    return this.#overdue.get(acknowledgedBeforeMs, 1) !== undefined
  }

  /**
   * Makes items overdue that were acknowledged at or before this time, at most `limit`; `missing` are words
   * that follow "no callback".
   */
  markOverdue(acknowledgedBeforeMs: number, missing: string, limit: number): void {
    const { counters } = this.#journal
    for (const { row } of this.#overdue.all(acknowledgedBeforeMs, limit)) {
      const item = Number(row)
      const useless = this.#useless.get(item)
      const mark = useless === undefined ? null : toUselessMark(useless)
      const message = mark === null ? `no callback ${missing}` : `${mark.note}; no other ${missing}`
      const stored = this.#readResult(item) as StoredResult
      const answer = stored.answer ?? mark?.answer ?? null
      if (answer !== null && stored.answer === null) counters.add('answer', answer, 1)
      this.#setOverdue.run(message, answer, item)
      counters.add('state', 'acknowledged', -1)
      counters.add('state', 'overdue', 1)
      countError(counters, { ...stored, state: 'overdue', message }, 1)
    }
  }

  /** Handles a callback that settled nothing; returns its effect, and notes it on its row. */
  #noteOther({ item, body }: InboxCallback, content: CallbackContent | null): Effect {
    if (content === null) {
      this.#noteRow(item, { answer: 'unreadable_callback', note: sayUnreadable(body) })
      return 'unreadable'
    }
    if (content.kind === 'foreign') {
      const mark: Mark = { answer: 'callback_of_other_post', note: content.note }
      if (this.#loseRow(item, mark, ECHO_MISMATCH_CODE)) this.#onForeign()
      return 'other_post'
    }
    if (content.kind === 'inconclusive') {
      this.#loseRow(item, { answer: 'unreadable_callback', note: content.note }, null)
      return 'unreadable'
    }
    const said = this.#said.all(item).map(toBody)
    const [counting] = said
    const stored = this.#readResult(item)
    const isRefused = content.outcome === 'rejected'
    const differ = (note: string): Effect => {
      this.#noteRow(item, { answer: 'differing_callbacks', note: cutMessage(note) })
      return 'differing'
    }
    if (counting === undefined) {
      // The answer to the request settled the row.
      const isSame = !isRefused || stored === null || stored.errorCode === content.errorCode
      if (isSame) return 'doubled'
      return differ(`a callback came that says ${sayError(content)}; the answer counts`)
    }
    if (said.some((one) => isSameCallback(one, body))) return 'doubled'
    const isError = isRefused && stored?.state === 'succeeded'
    const difference = isError ? `says ${sayError(content)}` : describeDifference(counting, body)
    const which = isError ? 'the result counts' : 'the first one counts'
    return differ(`another callback came that ${difference}; ${which}`)
  }

  /** A result replaces the callback that had settled its item, which is kept as a differing one. */
  #supersede(before: Record<string, unknown>, stored: StoredResult | null): Mark {
    const { counters } = this.#journal
    this.#setEffect.run('differing', Number(before['id']))
    counters.add('callback', 'settled', -1)
    counters.add('callback', 'differing', 1)
    const lacked = stored?.answer === 'missing_models' ? 'lacked a model' : 'had no result'
    const said = stored?.state === 'rejected' ? `said ${sayError(stored)}` : lacked
    return { answer: 'differing_callbacks', note: `an earlier callback ${said}; the result counts` }
  }

  /**
   * Whether a callback that tells the outcome ever comes is unknown after one of another item, or one that
   * does not tell it. A row that awaits it becomes unknown, which its own callback can still settle; any
   * other row notes the callback. Returns whether it became unknown.
   */
  #loseRow(item: number, mark: Mark, errorCode: string | null): boolean {
    const stored = this.#readResult(item)
    const state = stored === null ? null : nextItemState(stored.state, 'callback_inconclusive')
    if (stored === null || state === null) {
      this.#noteRow(item, mark)
      return false
    }
    const { counters } = this.#journal
    counters.add('state', stored.state, -1)
    counters.add('state', state, 1)
    this.#countAnswer(stored.answer, mark.answer)
    countError(counters, { ...stored, state, errorCode, message: mark.note }, 1)
    this.#lose.run(state, errorCode, mark.note, mark.answer, item)
    return true
  }

  /** Notes something about a row's callbacks, each note once, unless the row may be resent. */
  #noteRow(row: number, { answer, note }: Mark): void {
    const stored = this.#readResult(row)
    if (stored === null || RESENDABLE.has(stored.state)) return
    if (stored.answer === answer || stored.message?.includes(note)) return
    const { counters } = this.#journal
    const message = stored.message === null ? note : `${stored.message}; ${note}`
    uncountError(counters, stored, 1)
    countError(counters, { ...stored, message }, 1)
    // What is wrong with the result itself takes precedence.
    const noted = stored.answer !== null && OF_RESULT.has(stored.answer) ? stored.answer : answer
    this.#countAnswer(stored.answer, noted)
    this.#note.run(message, noted, row)
  }

  #countAnswer(before: RowAnswer | null, answer: RowAnswer): void {
    if (before !== null) this.#journal.counters.add('answer', before, -1)
    this.#journal.counters.add('answer', answer, 1)
  }

  /** Whether a callback is for this run rather than its parent or child. */
  #isOwn(item: number): boolean {
    const { isChild, takenOver } = this.#scope
    if (isChild && this.#isRow.get(item) === undefined) return false
    return takenOver.size === 0 || !takenOver.has(this.#readResult(item)?.state ?? 'pending')
  }

  /** Whether a retry sent an item, so that a callback may answer an earlier try. */
  #isOfRetry(item: number): boolean {
    return this.#scope.isChild || this.#earlier.get(item) !== undefined
  }

  /** A callback that repeats nothing of its request and names the task of another row is foreign. */
  #checkTask(item: number, content: CallbackContent | null): CallbackContent | null {
    if (content?.kind !== 'own' || !this.#isTaskOfOther(item, content)) return content
    const own = this.#readResult(item)?.taskId ?? null
    const named =
      own === null ? 'no acknowledgement of this row is known' : `its acknowledgement named "${own}"`
    const note = `the callback names task_id "${content.taskId}", which is that of another row of this run; ${named}`
    return { kind: 'foreign', note: cutMessage(note) }
  }

  #isTaskOfOther(item: number, { taskId, echo, fromCache }: OwnContent): boolean {
    if (taskId === null || echo.kind !== 'unverifiable' || fromCache) return false
    if (this.#readResult(item)?.taskId === taskId) return false
    // Most runs need no index of tasks, which takes time for each result. One that was rolled back is made
    // again.
    this.#journal.db.exec(CREATE_TASK_INDEX)
    return this.#byTask.get(taskId) !== undefined
  }

  /**
   * A callback belongs to the row of its address, whatever it names; if it names another task than the
   * acknowledged one, the row keeps its own and notes that. Not if an earlier try, in this run or in its
   * parent, may have been accepted as a task of its own.
   */
  #withOwnTask(item: number, content: OwnContent): OwnContent {
    const { taskId, message } = content
    if (taskId === null || this.#isOfRetry(item)) return content
    const acknowledged = this.#acknowledged.get(item)?.['task_id'] ?? null
    if (acknowledged === null || acknowledged === taskId) return content
    if (this.#claims.countUnknownTries(item) > 0) return content
    const note = `its callback names task ${taskId}, its acknowledgement ${acknowledged}`
    return { ...content, taskId: null, message: message === null ? note : `${message}; ${note}` }
  }

  /**
   * When the request answered by a callback was sent, Unix microseconds: the acknowledged try if both name
   * the same task, else the first that may have been accepted. Null if that is in flight, was cut off, or was
   * sent before a retry.
   */
  #findSentAtUs(item: number, taskId: string | null, lastTryUs: number | null): number | null {
    const acknowledged = this.#acknowledged.get(item)?.['task_id'] ?? null
    if (acknowledged !== null && acknowledged === taskId) return lastTryUs
    if (acknowledged !== null && taskId !== null && this.#earlier.get(item) !== undefined) return null
    if (this.#claims.countUnknownTries(item) === 0) return lastTryUs
    if (this.#claims.hasLostTry(item)) return null
    return toNumber(this.#firstUnknownTry.get(item)?.['sent_at_us'])
  }

  /** What a readable callback is about: by its task, else by what it repeats, else by what is unanswered. */
  #findAddressee(
    { item, receivedAtUs }: InboxCallback,
    { taskId, fits }: OwnContent,
    isWaiting: (item: number) => boolean,
  ): Addressee {
    const contents = this.#readReplaced(item)
    const last = contents.at(-1)
    if (last === undefined) return OF_PRESENT
    const stored = this.#readResult(item)
    const attempts = stored?.attempts ?? 0
    const state = this.#toState(item, stored)
    const isFirstTry = state === 'sending' && attempts === last.attempts
    const isSendable = this.#isRow.get(item) !== undefined
    const isSent =
      isSentSince(contents, { item: isSendable ? item : null, state, attempts }) &&
      !(isFirstTry && isWaiting(item))
    const sentAtUs = toNumber(this.#firstTry.get(item, last.attempts)?.['sent_at_us'])
    const isBefore = sentAtUs !== null && receivedAtUs < sentAtUs
    const hasPresent = isSent && !isBefore && (fits?.includes(null) ?? true)
    const older = contents.filter(({ session }) => fits?.includes(session) ?? true).reverse()
    const ownTask = attempts > last.attempts ? (stored?.taskId ?? null) : null
    // A content that a callback has shown to be accepted is the row's content again.
    const isRestored = attempts === last.attempts && this.#settledBy.get(item) !== undefined
    const restored = isRestored
      ? contents.findLast(({ kinds }) => kinds === this.#readKinds(item))
      : undefined
    const of = (replaced: ReplacedContent | null | undefined): Addressee => ({
      replaced: replaced === restored ? null : (replaced ?? null),
      isUnsent: !isSent,
      doubt: 'none',
    })
    const named = taskId === null ? undefined : older.find(({ taskIds }) => taskIds.includes(taskId))
    const isOwnTask =
      taskId === ownTask || this.#ownEarlierTask.get(item, last.attempts, taskId) !== undefined
    if (hasPresent && taskId !== null && isOwnTask) return of(null)
    if (named !== undefined) return of(named)
    const lost = older.find(({ mayBeTaken }) => mayBeTaken)
    if (!hasPresent) return of(lost ?? older[0])
    if (lost === undefined) return of(null)
    // The service has refused the present content in every try.
    const hasOwnLost = this.#lostTry.get(item, last.attempts) !== undefined
    if (state === 'rejected' && !hasOwnLost && this.#settledBy.get(item) === undefined) return of(lost)
    if (ownTask === null && state === 'sending') return { ...of(null), doubt: 'in_flight' }
    const isOfOtherTask = taskId !== null && ownTask !== null
    if (isOfOtherTask && !hasOwnLost) return of(lost)
    // What it repeats may fit the present content alone.
    const isCertain = fits !== undefined && !fits.includes(lost.session)
    return { ...of(null), doubt: isCertain ? 'none' : 'stays' }
  }

  /** Notes the outcome of a content that a correction has replaced; its row stays unchanged. */
  #settleReplaced({ item, body }: InboxCallback, content: OwnContent, replaced: ReplacedContent): Effect {
    const { outcome, errorCode, message, taskId } = content
    const state = nextItemState(replaced.state, `callback_${outcome}`)
    if (state === null) {
      const isSame = this.#saidBefore.all(item).some((said) => isSameCallback(toBody(said), body))
      return isSame ? 'doubled' : 'differing'
    }
    this.#setEarlier.run(state, errorCode, message, taskId, item, replaced.session)
    return 'settled_before'
  }

  /** A replaced content becomes the row's again, since it was accepted. */
  #settle(
    { item, receivedAtUs }: InboxCallback,
    received: OwnContent,
    isWaiting: (item: number) => boolean,
    { replaced, doubt }: Addressee,
  ): SettledItem | null {
    if (this.#isRow.get(item) === undefined) return null
    const stored = this.#readResult(item)
    const before = this.#settledBy.get(item)
    const rank = rankCallback(received.outcome === 'rejected', received.answer)
    const rankBefore = rankCallback(stored?.state === 'rejected', stored?.answer ?? null)
    if (before !== undefined && rank <= rankBefore) return null
    const content = this.#withOwnTask(item, received)
    const from = this.#toState(item, stored)
    const state = before === undefined ? nextItemState(from, `callback_${content.outcome}`) : 'succeeded'
    if (state === null) return null
    const { counters } = this.#journal
    if (stored === null) {
      // A first try in flight is not counted yet; an unsent item is not under the watermark.
      if (from === 'pending') this.#claims.noteSettledUnsent()
    } else {
      counters.add('state', from, -1)
      uncountError(counters, stored, 1)
    }
    counters.add('state', state, 1)
    const { errorCode } = content
    const marks = [
      ...(doubt === 'none' ? [] : [IN_DOUBT]),
      ...(before === undefined ? [] : [this.#supersede(before, stored)]),
    ]
    // What is wrong with the result itself takes precedence.
    const answer = content.answer ?? marks[0]?.answer ?? null
    const notes = [content.message, ...marks.map(({ note }) => note)]
    const message = notes.filter((part) => part !== null).join('; ') || null
    if (answer !== null && stored?.answer !== answer) this.#countAnswer(stored?.answer ?? null, answer)
    const status = toAcknowledged(stored?.status ?? null)
    countError(counters, { state, status, errorCode, message }, 1)
    if (replaced !== null) this.#restoreSent(item, replaced)
    if (content.outcome === 'succeeded' && from !== 'succeeded') counters.add('echo', content.echo.kind, 1)
    const attempts = (stored?.attempts ?? 0) + (from === 'sending' && !isWaiting(item) ? 1 : 0)
    const lastTry = from === 'sending' ? undefined : this.#lastTry.get(item)
    const sentAtUs = this.#findSentAtUs(item, received.taskId, toNumber(lastTry?.['sent_at_us']))
    const latencyUs = sentAtUs === null ? null : toCallbackLatency(sentAtUs, receivedAtUs)
    const endedAtUs = Number(lastTry?.['ended_at_us'] ?? 0)
    const isBeforeEnd = receivedAtUs < endedAtUs && !wasClockSet(receivedAtUs / 1_000, endedAtUs / 1_000)
    const { taskId, customIndexItemId } = content
    const found = [taskId, customIndexItemId, latencyUs, answer]
    this.#write.run(item, state, attempts, status, errorCode, message, ...found)
    this.#outcomes.replaceFound(item, content)
    const isOfTryInFlight = from === 'sending' && this.#claims.countUnknownTries(item) === 0
    const isEarly = from === 'sending' || isBeforeEnd
    // A row has one latency: that of the first callback that settled it.
    const measuredUs = before === undefined ? latencyUs : null
    return { item, from, receivedAtUs, latencyUs: measuredUs, isOfTryInFlight, isEarly }
  }

  /**
   * A callback showed that the content from before a correction was accepted, so the fixes have corrected
   * nothing of the row.
   */
  #restoreSent(row: number, { kinds: sentKinds }: ReplacedContent): void {
    const { db, counters } = this.#journal
    const record = readRunRecord(db)
    const stored = db.prepare('SELECT cells, kinds FROM row WHERE id = ?').get(row)
    if (record === null || stored === undefined) return
    this.#mapRow ??= createRowMapper(record.plan, record.columns, record.runToken)
    const cells = parseCells(String(stored['cells']))
    const count = (kinds: string | null, n: number) => {
      const { corrections } = this.#mapRow?.(row, cells, kinds) ?? {}
      if (corrections === undefined) return
      counters.add('corrected', 'rows', n)
      for (const { field } of corrections) counters.add('corrected', `cell ${field}`, n)
    }
    count(stored['kinds'] === null ? null : String(stored['kinds']), -1)
    count(sentKinds, 1)
    db.prepare('UPDATE row SET kinds = ? WHERE id = ?').run(sentKinds, row)
  }

  #readKinds(row: number): string | null {
    return toText(this.#kinds.get(row)?.['kinds'])
  }

  #readResult(row: number): StoredResult | null {
    const stored = this.#result.get(row)
    if (stored === undefined) return null
    return {
      state: stored['state'] as ItemState,
      attempts: Number(stored['attempts']),
      status: stored['status'] === null ? null : Number(stored['status']),
      errorCode: stored['error_code'] === null ? null : String(stored['error_code']),
      message: stored['message'] === null ? null : String(stored['message']),
      answer: (stored['answer'] ?? null) as RowAnswer | null,
      taskId: stored['task_id'] === null ? null : String(stored['task_id']),
    }
  }
}

/** From sending a request to receiving its callback, microseconds; null if the clock was set in between. */
export function toCallbackLatency(sentAtUs: number, receivedAtUs: number): number | null {
  return wasClockSet(sentAtUs / 1_000, receivedAtUs / 1_000) ? null : Math.max(0, receivedAtUs - sentAtUs)
}

/** A status that refused the item, or failed, belongs to another try than the callback. */
function toAcknowledged(status: number | null): number | null {
  return status !== null && status >= 200 && status <= 299 ? status : null
}

function toBody(row: Record<string, unknown>): string {
  return readStoredBody(row['body'], row['content'], row['bytes'])?.text ?? ''
}

/** The note for a callback that settled nothing; its row may have had no result yet when it came. */
function toUselessMark(callback: Record<string, unknown>): Mark {
  return callback['effect'] === 'other_post'
    ? { answer: 'callback_of_other_post', note: 'a callback came that names another id' }
    : { answer: 'unreadable_callback', note: sayUnreadable(toBody(callback)) }
}

function sayUnreadable(body: string): string {
  return `a callback came but is not readable: ${describeUnreadable(body)}`
}

function sayError({ errorCode, message }: Pick<ErrorCause, 'errorCode' | 'message'>): string {
  return [errorCode, message].filter((part) => part !== null).join(': ') || 'error'
}
