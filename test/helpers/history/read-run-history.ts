import { existsSync } from 'node:fs'
import { selectSentItem } from '../../../src/main/engine/journal/item-rows.ts'
import {
  ReaderPool,
  type RunView,
  readRunFamily,
  toFamily,
  toRetriedStates,
} from '../../../src/main/engine/journal/run-family.ts'
import { createExchangeReader } from '../../../src/main/engine/journal/stored-bodies.ts'
import { toReceiverSettingsFile } from '../../../src/main/engine/receiver/receiver-settings.ts'
import { summarizeRun } from '../../../src/main/engine/results/run-summary.ts'
import { createItemRequests, type ItemRequests } from '../../../src/main/engine/sending/item-requests.ts'
import { isLeaseHeld } from '../../../src/main/engine/workspace/lease.ts'
import { toRowsPerItem } from '../../../src/shared/operations/operations.ts'
import type { Outcome, RowState } from '../../../src/shared/run/item-state.ts'
import { findId, hashBody } from './recording.ts'
import type {
  AttemptHistory,
  ItemHistory,
  MemberHistory,
  RowHistory,
  RunHistory,
  StoredText,
} from './run-history.ts'

/**
 * Reads the history of a run and its retries from their journals; `file` is any of these journals. Throws an
 * `Error` if there is no run, if it is a load test, or if it is still being sent.
 */
export function readRunHistory(file: string): RunHistory {
  if (!existsSync(file)) throw new Error(`${file} does not exist`)
  const pool = new ReaderPool()
  try {
    const family = readRunFamily(pool, file, (_, journal) => isLeaseHeld(journal))
    const first = family?.whole[0]
    if (family === null || first === undefined) throw new Error(`${file} has no run`)
    if (first.record.plan.load !== undefined) {
      throw new Error(`${file} is a load test, whose journal does not keep each request`)
    }
    // A retry that is still copying rows owns none of them yet.
    const whole = family.whole.filter(({ record }) => record === first.record || record.state !== 'intake')
    const held = whole.find(({ isHeld }) => isHeld)
    if (held !== undefined) throw new Error(`${held.file} is in use: wait until its run has ended`)
    const { rows, requests } = summarizeRun(toFamily(first, whole))
    return {
      runId: first.record.runId,
      operation: first.record.plan.operation.kind,
      members: whole.map(readMember),
      told: { rows, requestsSent: requests.sent },
    }
  } finally {
    pool.close()
  }
}

function readMember(view: RunView): MemberHistory {
  const { db, record, isCutOff } = view
  const { certain, unknown } = toRetriedStates(record)
  const requests = openRequests(view)
  const rows = readStoredRows(view)
  return {
    runId: record.runId,
    state: record.state,
    isCutOff,
    takenBy: {
      rest: record.supersededBy,
      unknown: record.unknownTakenBy,
      invalid: record.invalidTakenBy,
    },
    retried: { rest: certain, unknown },
    rowsRead: record.rowsRead,
    rows: rows.map((row) => toRowHistory(row, view, requests)),
    items: readItems(view, rows, requests),
    counters: toTable(db.prepare('SELECT kind, value, n FROM facet WHERE n <> 0').all()),
    tables: toTable(db.prepare(COUNTED).all()),
    seconds: readSeconds(view),
  }
}

/** The tables' counts of what counters count. */
const COUNTED = `
  SELECT 'state' AS kind, state AS value, count(*) AS n FROM result GROUP BY state
  UNION ALL SELECT 'state', 'invalid', count(*) FROM row WHERE item IS NULL
    AND NOT EXISTS (SELECT 1 FROM result WHERE result.row = row.id)
  UNION ALL SELECT 'answer', answer, count(*) FROM result WHERE answer IS NOT NULL GROUP BY answer
  UNION ALL SELECT 'request', outcome, count(*) FROM attempt GROUP BY outcome
  UNION ALL SELECT 'request', 'retried', count(*) FROM attempt WHERE number > 1
  UNION ALL SELECT 'request sent', outcome, count(*) FROM attempt WHERE sent_at_us IS NOT NULL GROUP BY outcome
  UNION ALL SELECT 'rule', rule_id, count(*) FROM found JOIN term ON term.kind = 'rules' AND term.id = found.rules
    JOIN json_each(term.value) AS own JOIN rule ON rule.id = own.value GROUP BY rule.id
  UNION ALL SELECT 'callback', 'received', count(*) FROM callback
  UNION ALL SELECT 'callback', replace(effect, 'settled_before', 'settled') AS counted, count(*) FROM callback
    GROUP BY counted`

function toTable(counted: readonly Record<string, unknown>[]): Map<string, Map<string, number>> {
  const kinds = new Map<string, Map<string, number>>()
  for (const { kind, value, n } of counted) {
    if (Number(n) === 0) continue
    const values = kinds.get(String(kind)) ?? new Map<string, number>()
    kinds.set(String(kind), values.set(String(value), (values.get(String(value)) ?? 0) + Number(n)))
  }
  return kinds
}

function readSeconds({ db }: RunView): MemberHistory['seconds'] {
  const sums = db
    .prepare(
      `SELECT total(sent) AS sent, total(succeeded) AS succeeded, total(rejected) AS rejected, total(failed) AS failed,
       total(unknown) AS unknown FROM second`,
    )
    .get()
  const { sent, succeeded, rejected, failed, unknown } = sums ?? {}
  return {
    sent: Number(sent),
    succeeded: Number(succeeded),
    rejected: Number(rejected),
    failed: Number(failed),
    unknown: Number(unknown),
  }
}

/** What a row is made of. */
interface StoredRow {
  row: number
  item: number | null
  cells: string[]
  kinds: string | null
  stored: RowState | null
  answer: string | null
  attempts: number
  given: string | null
  /** See {@link RowHistory.sentItem}. */
  sentItem: number | null
  /** The kinds that it was sent with before corrections. */
  earlierKinds: (string | null)[]
}

function readStoredRows({ db }: RunView): StoredRow[] {
  const earlier = Map.groupBy(
    db.prepare('SELECT row, kinds, sent_item FROM earlier WHERE kinds IS NOT NULL ORDER BY session').all(),
    ({ row }) => Number(row),
  )
  return db
    .prepare(
      `SELECT row.id, item, cells, kinds, state, answer, attempts, custom_index_item_id AS given FROM row
       LEFT JOIN result ON result.row = row.id ORDER BY row.id`,
    )
    .all()
    .map(({ id, item, cells, kinds, state, answer, attempts, given }) => ({
      ...toSent(Number(id), item, Number(attempts ?? 0), earlier.get(Number(id)) ?? []),
      row: Number(id),
      item: item === null ? null : Number(item),
      cells: JSON.parse(String(cells)) as string[],
      kinds: kinds === null ? null : String(kinds),
      stored: state === null ? null : (state as RowState),
      answer: answer === null ? null : String(answer),
      attempts: Number(attempts ?? 0),
      given: given === null ? null : String(given),
    }))
}

/** The item of a sent row; a correction may since have made the row invalid, or left it out. */
function toSent(row: number, item: unknown, attempts: number, earlier: readonly Record<string, unknown>[]) {
  const former = earlier.findLast(({ sent_item }) => sent_item !== null)?.['sent_item'] ?? row
  const sentItem = item ?? (attempts > 0 ? former : null)
  return {
    sentItem: sentItem === null ? null : Number(sentItem),
    earlierKinds: earlier.map(({ kinds }) => String(kinds) || null),
  }
}

/** Creates the requests of rows; null while the source is read, since its columns are stored at the end. */
function openRequests({ record, workspace }: RunView): ItemRequests | null {
  return record.state === 'intake' ? null : createItemRequests(record, workspace)
}

function readItems(
  { db, record, workspace }: RunView,
  rows: readonly StoredRow[],
  requests: ItemRequests | null,
): Map<number, ItemHistory> {
  const needsReceiver = record.callbackBase !== null || record.mediaBase !== null
  // Reading missing settings would create new ones, and with them other addresses.
  const canRepeat = !needsReceiver || existsSync(toReceiverSettingsFile(workspace))
  const base = requests === null ? '' : new URL(requests.exchange.baseUrl).pathname.replace(/\/$/, '')
  const exchanges = createExchangeReader(db)
  const attempts = Map.groupBy(
    db.prepare('SELECT item, number, outcome, status FROM attempt ORDER BY item, number').all(),
    ({ item }) => Number(item),
  )
  const retriedAfter = readRetried(db, record)
  const items = new Map<number, ItemHistory>()
  for (const [item, carried] of Map.groupBy(rows, ({ sentItem }) => sentItem)) {
    if (item === null) continue
    const isAlone = toRowsPerItem(record.plan.operation) === 1
    // A body that did not end a row may have any length, and is not checked.
    const answered = carried.filter(({ stored }) => stored === 'succeeded' || stored === 'rejected')
    const answers = new Map<number, StoredText>()
    for (const { attempts: tries } of answered) {
      const answer = exchanges.readAnswer(item, isAlone ? undefined : tries)
      if (answer !== null) answers.set(tries, { text: answer.text, isCut: answer.cutFrom !== null })
    }
    const sent = [...new Set(carried.map(({ attempts: tries }) => tries))].map((tries) => {
      const together = carried.filter((row) => row.attempts >= tries)
      const request = canRepeat ? requests?.toRequest(item, together).request : undefined
      return { rows: together.map(({ row }) => row), request }
    })
    const path = sent[0]?.request?.path
    // It is not recorded which of several rows were corrected before a try.
    const isReplaced = !isAlone && carried.some(({ earlierKinds }) => earlierKinds.length > 0)
    for (const { row, cells, earlierKinds } of isAlone ? carried : []) {
      for (const kinds of earlierKinds)
        sent.push({
          rows: [row],
          request: canRepeat ? requests?.toRequest(item, [{ row, cells, kinds }]).request : undefined,
        })
    }
    items.set(item, {
      item,
      path: path === undefined ? '' : base + path,
      requests: sent.map(({ rows: together, request }) => ({
        rows: together,
        body: request === undefined || isReplaced ? null : hashBody(request.body ?? ''),
      })),
      attempts: (attempts.get(item) ?? []).map(toAttempt),
      retriedAfter: new Set(retriedAfter.get(item)),
      answers,
      callbacks: exchanges.readCallbacks(item).map(({ effect, body, cutFrom }) => ({
        effect,
        body: { text: body, isCut: cutFrom !== null },
      })),
    })
  }
  return items
}

/** After how many tries retries of the run may have put rows of each item back into the queue. */
function readRetried(db: RunView['db'], record: RunView['record']): Map<number, number[]> {
  const { certain, unknown } = toRetriedStates(record)
  const taken = new Map<number, number[]>()
  const rows = db
    .prepare(
      `SELECT ${selectSentItem('row')} AS item, state, attempts, options ->> '$.onUnknown' AS on_unknown,
       EXISTS (SELECT 1 FROM callback WHERE callback.item = earlier.row AND effect = 'settled_before') AS is_settled
       FROM earlier JOIN session ON session.number = earlier.session JOIN row ON row.id = earlier.row`,
    )
    .all()
  for (const { item, state, attempts, on_unknown: onUnknown, is_settled: isSettled } of rows) {
    const states: readonly RowState[] = onUnknown === 'resend' ? [...certain, ...unknown] : certain
    // A callback after the retry may have changed the recorded outcome from before it.
    if (isSettled === 1 || states.includes(state as RowState))
      taken.set(Number(item), [...(taken.get(Number(item)) ?? []), Number(attempts)])
  }
  return taken
}

function toAttempt({ number, outcome, status }: Record<string, unknown>): AttemptHistory {
  return {
    number: Number(number),
    outcome: outcome as Outcome,
    status: status === null ? null : Number(status),
  }
}

function toRowHistory(
  { row, item, sentItem, cells, kinds, earlierKinds, stored, answer, attempts, given }: StoredRow,
  { db, record, isCutOff }: RunView,
  requests: ItemRequests | null,
): RowHistory {
  const toId = (of: string | null) =>
    requests === null ? null : findId(requests.mapRow(row, cells, of).body)
  const shown = toShown(row, item, stored, record.claimed)
  return {
    row,
    item,
    sentItem,
    state: isCutOff && shown === 'sending' ? 'unknown' : shown,
    stored,
    answer,
    attempts,
    id: toId(kinds),
    formerIds: earlierKinds.map(toId).filter((id) => id !== null),
    triesWithout: new Set(
      earlierKinds.length > 1 && sentItem !== null ? readTriesWithout(db, row, sentItem) : [],
    ),
    customIndexItemId: given,
  }
}

/**
 * Tries of the item that were sent without the row, from each correction that held the row back to the one
 * that included it again.
 */
function readTriesWithout(db: RunView['db'], row: number, item: number): number[] {
  return db
    .prepare(
      `SELECT attempt.number FROM attempt JOIN earlier ON earlier.row = ?1 AND earlier.state IN ('invalid', 'left_out')
       JOIN session ON session.number = earlier.session WHERE item = ?2 AND attempt.number > earlier.attempts
       AND coalesce(sent_at_us, (SELECT min(sent_at_us) FROM attempt AS later
         WHERE later.item = ?2 AND later.number > attempt.number)) < started_at * 1000`,
    )
    .all(row, item)
    .map(({ number }) => Number(number))
}

function toShown(row: number, item: number | null, state: RowState | null, claimed: number): RowState {
  // A row that is never sent has no result, unless it was left out.
  if (item === null) return state ?? 'invalid'
  return state ?? (row <= claimed ? 'sending' : 'pending')
}
