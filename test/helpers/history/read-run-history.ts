import { existsSync } from 'node:fs'
import {
  ReaderPool,
  type RunView,
  readRunFamily,
  toFamily,
  toRetriedStates,
} from '../../../src/main/engine/journal/run-family.ts'
import { toReceiverSettingsFile } from '../../../src/main/engine/receiver/receiver-settings.ts'
import { summarizeRun } from '../../../src/main/engine/results/run-summary.ts'
import { createExchangeReader } from '../../../src/main/engine/run/journal/stored-bodies.ts'
import { createRowRequests } from '../../../src/main/engine/run/results/row-detail.ts'
import { isLeaseHeld } from '../../../src/main/engine/workspace/lease.ts'
import type { Outcome, RowState } from '../../../src/shared/run/item-state.ts'
import { findId, hashBody } from './recording.ts'
import type { AttemptHistory, ItemHistory, MemberHistory, RowHistory, RunHistory } from './run-history.ts'

/**
 * Reads the history of a run and its retries from their journals; `file` is the journal of any of them. Throws an `Error`
 * if there is no run, if it is a load test, or if it is still being sent.
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
    const held = family.whole.find(({ isHeld }) => isHeld)
    if (held !== undefined) throw new Error(`${held.file} is in use: wait until its run has ended`)
    const { rows, requests } = summarizeRun(toFamily(first, family.whole))
    return {
      runId: first.record.runId,
      operation: first.record.plan.operation.kind,
      members: family.whole.map(readMember),
      told: { rows, requestsSent: requests.sent },
    }
  } finally {
    pool.close()
  }
}

function readMember(view: RunView): MemberHistory {
  const { db, record, isCutOff } = view
  const { certain, unknown } = toRetriedStates(record)
  const items = readItems(view)
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
    rows: readRows(view),
    items,
    counters: toTable(db.prepare('SELECT kind, value, n FROM facet WHERE n <> 0').all()),
    tables: toTable(db.prepare(COUNTED).all()),
    seconds: readSeconds(view),
  }
}

/** What counters count, counted in the tables. */
const COUNTED = `
  SELECT 'state' AS kind, state AS value, count(*) AS n FROM result GROUP BY state
  UNION ALL SELECT 'state', 'invalid', count(*) FROM row WHERE item IS NULL
    AND NOT EXISTS (SELECT 1 FROM result WHERE result.row = row.id)
  UNION ALL SELECT 'answer', answer, count(*) FROM result WHERE answer IS NOT NULL GROUP BY answer
  UNION ALL SELECT 'request', outcome, count(*) FROM attempt GROUP BY outcome
  UNION ALL SELECT 'request', 'retried', count(*) FROM attempt WHERE number > 1
  UNION ALL SELECT 'request sent', outcome, count(*) FROM attempt WHERE sent_at_us IS NOT NULL GROUP BY outcome
  UNION ALL SELECT 'rule', rule_id, count(*) FROM row_rule JOIN rule ON rule.id = row_rule.rule GROUP BY rule.id
  UNION ALL SELECT 'callback', 'received', count(*) FROM callback
  UNION ALL SELECT 'callback', effect, count(*) FROM callback GROUP BY effect`

function toTable(counted: readonly Record<string, unknown>[]): Map<string, Map<string, number>> {
  const kinds = new Map<string, Map<string, number>>()
  for (const { kind, value, n } of counted) {
    if (Number(n) === 0) continue
    const values = kinds.get(String(kind)) ?? new Map<string, number>()
    kinds.set(String(kind), values.set(String(value), Number(n)))
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

function readItems(view: RunView): Map<number, ItemHistory> {
  const { db, record, workspace } = view
  const needsReceiver = record.callbackBase !== null || record.mediaBase !== null
  // Reading the settings would make new ones, and with them other addresses.
  const canRepeat = !needsReceiver || existsSync(toReceiverSettingsFile(workspace))
  const requests = canRepeat ? createRowRequests(view) : null
  const exchanges = createExchangeReader(db)
  const attempts = Map.groupBy(
    db.prepare('SELECT item, number, outcome, status FROM attempt ORDER BY item, number').all(),
    ({ item }) => Number(item),
  )
  const rows = Map.groupBy(
    db.prepare('SELECT id, item FROM row WHERE item IS NOT NULL ORDER BY id').all(),
    ({ item }) => Number(item),
  )
  const toItem = (item: number, carried: readonly Record<string, unknown>[]): ItemHistory => {
    const request = requests?.toRequest(item, item) ?? null
    const answer = exchanges.readAnswer(item)
    return {
      item,
      rows: carried.map(({ id }) => Number(id)),
      path: request === null ? '' : toPath(request.url),
      body: request === null ? null : hashBody(request.body ?? ''),
      attempts: (attempts.get(item) ?? []).map(toAttempt),
      answer: answer === null ? null : { text: answer.text, isCut: answer.cutFrom !== null },
      callbacks: exchanges.readCallbacks(item).map(({ effect, body, cutFrom }) => ({
        effect,
        body: { text: body, isCut: cutFrom !== null },
      })),
    }
  }
  return new Map([...rows].map(([item, carried]) => [item, toItem(item, carried)]))
}

function toAttempt({ number, outcome, status }: Record<string, unknown>): AttemptHistory {
  return {
    number: Number(number),
    outcome: outcome as Outcome,
    status: status === null ? null : Number(status),
  }
}

/** Path and query of an address, behind the path that its base has. */
function toPath(url: string): string {
  const { pathname, search } = new URL(url)
  return pathname + search
}

function readRows(view: RunView): RowHistory[] {
  const { db, record, isCutOff } = view
  const { mapRow } = createRowRequests(view)
  return db
    .prepare(
      `SELECT row.id, cells, kinds, item, state, custom_index_item_id AS given FROM row
       LEFT JOIN result ON result.row = row.id ORDER BY row.id`,
    )
    .all()
    .map(({ id, cells, kinds, item, state, given }) => {
      const row = Number(id)
      const ofItem = item === null ? null : Number(item)
      const stored = state === null ? null : (state as RowState)
      const shown = toShown(row, ofItem, stored, record.claimed)
      const mapped = mapRow(row, JSON.parse(String(cells)) as string[], kinds === null ? null : String(kinds))
      return {
        row,
        item: ofItem,
        state: isCutOff && shown === 'sending' ? 'unknown' : shown,
        stored,
        id: findId(mapped.body),
        customIndexItemId: given === null ? null : String(given),
      }
    })
}

function toShown(row: number, item: number | null, state: RowState | null, claimed: number): RowState {
  // A row that is never sent has no result, unless it was left out.
  if (item === null) return state ?? 'invalid'
  return state ?? (row <= claimed ? 'sending' : 'pending')
}
