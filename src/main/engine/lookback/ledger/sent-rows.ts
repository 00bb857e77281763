import { toRowsPerItem } from '../../../../shared/operations/operations.ts'
import { type RowAndRecord, toRowAndRecord } from '../../../../shared/plan/source-place.ts'
import type { ItemState, Outcome, RowAnswer } from '../../../../shared/run/item-state.ts'
import { selectSentItem } from '../../journal/item-rows.ts'
import { findDeletedStates, type RunView } from '../../journal/run-family.ts'
import { createSentAsReader } from '../../journal/sent-as.ts'
import { parseCells } from '../../journal/stored-cells.ts'
import { StretchStatement, toStretch } from '../../run/export/stretch.ts'
import { createPlaceReader } from '../../run/journal/intake-writer.ts'
import { createRowRequests } from '../../run/results/row-detail.ts'
import { isThere } from '../../workspace/is-there.ts'
import { toText } from '../../workspace/sqlite.ts'
import { toJournalFile } from '../../workspace/workspace-files.ts'

/** A row that one run may have sent, and what is known of it. Times are Unix microseconds. */
export interface SentRow {
  numbers: RowAndRecord
  item: number
  /** Number of its recorded tries. */
  attempts: number
  /** Its part of the request. */
  body: Readonly<Record<string, unknown>>
  /** As journaled; null while it is being sent, or if its run was cut off then. */
  state: ItemState | null
  errorCode: string | null
  answer: RowAnswer | null
  customIndexItemId: string | null
  /** Tries whose answer accepted the request, acknowledgements included. */
  takenTries: number
  /** When the last answer came; null if none came. */
  answeredAtUs: number | null
  /** Unanswered tries that may have been accepted, and when the last of them was sent. */
  lostTries: number
  lostAtUs: number
  /** Tries in all, and when the last of them ended or was sent. */
  tries: number
  triedAtUs: number
  /** Whether a correction later replaced the content it was sent with. */
  isReplaced: boolean
}

/** Rows that are read in one step. */
const STEP_ROWS = 1_000

/**
 * Reads every row that a run may have sent, in source order; retries are runs of their own. What the process
 * died before recording counts as an unanswered try, and so does what a since deleted retry sent. Such tries
 * come at the end of their run, since nobody recorded when they were sent. No read stays open afterwards.
 * With `splits`, a row comes once for each content it was sent with.
 */
export function* readSentRows(
  view: RunView,
  { splits }: { splits: boolean },
): Generator<SentRow, void, undefined> {
  const { db, record, isHeld } = view
  // It ended before it read its source: it sent nothing, and without columns no request can be built.
  if (record.columns.length === 0) return
  const deleted = findDeletedStates(record)
  const lastAtUs = isHeld ? Date.now() * 1_000 : readLastAtUs(view)
  const { mapRow } = createRowRequests(view)
  const toPlace = createPlaceReader(db)
  const rows = db.prepare(
    `SELECT row.id, ${selectSentItem('row')} AS item, row.item IS NULL AS is_unsendable, row.cells, row.kinds,
     result.state, result.error_code, result.answer, result.custom_index_item_id, result.attempts
     FROM row LEFT JOIN result ON result.row = row.id
     WHERE row.id > ? AND (row.item IS NOT NULL OR attempts > 0) AND (row.id <= ? OR result.row IS NOT NULL)
     ORDER BY row.id LIMIT ${STEP_ROWS}`,
  )
  const attempts = new StretchStatement(
    db,
    'item',
    (condition) =>
      `SELECT item, number, outcome, sent_at_us + duration_us AS ended_at_us FROM attempt WHERE ${condition}
       ORDER BY item, number`,
  )
  // Rows never sent before are above the watermark; a deleted retry may have sent them.
  const last = deleted.has('pending') ? Number.MAX_SAFE_INTEGER : record.claimed
  const isLostBefore = createLostBefore(view)
  const readSentAs = createSentAsReader(db)
  const isAlone = toRowsPerItem(record.plan.operation) === 1
  const isSplit = record.plan.earlierFixes !== undefined && splits
  const corrected = db.prepare(
    'SELECT DISTINCT attempts FROM earlier WHERE row = ? AND kinds IS NOT NULL ORDER BY attempts',
  )
  const listCorrected = (row: number) => corrected.all(row).map(({ attempts }) => Number(attempts))
  for (let after = 0; ; ) {
    const step = rows.all(after, last)
    const [first, end] = [step[0], step.at(-1)]
    if (first === undefined || end === undefined) return
    const items = toStretch([...new Set(step.map(({ item }) => Number(item)))])
    const triesOf = Map.groupBy(attempts.readTuples<TryTuple>(items), ([item]) => item)
    for (const found of step) {
      const row = Number(found['id'])
      const item = Number(found['item'])
      const tried = Number(found['attempts'] ?? 0)
      const stored = found['state'] === null ? null : (found['state'] as ItemState)
      const isClaimed = row <= record.claimed
      const ofItem = triesOf.get(item) ?? []
      const corrected = isSplit ? listCorrected(row) : []
      const ends = corrected.map((to) => ({ to, wasCorrected: true }))
      const isSentSince = tried > (corrected.at(-1) ?? 0) || stored === 'sending'
      if (ends.length === 0 || isSentSince) ends.push({ to: tried, wasCorrected: false })
      let from = 0
      for (const { to, wasCorrected } of ends) {
        const sentAs = wasCorrected || found['is_unsendable'] === 1 ? readSentAs(row, to) : null
        const state = sentAs?.state ?? stored
        const kinds = sentAs?.kinds == null ? toText(found['kinds']) : sentAs.kinds || null
        // A retry may have sent only other rows of the item.
        const tries =
          isAlone && !isSplit ? ofItem : ofItem.filter(([, number]) => number > from && number <= to)
        const lost = tries.filter(([, , outcome]) => outcome === 'unknown')
        const answered = tries.filter(([, , outcome]) => outcome === 'succeeded' || outcome === 'rejected')
        // Marked as sent, without a recorded result.
        const isOpen = state === 'sending' || (state === null && isClaimed)
        const isDeleted = deleted.has(state ?? 'pending') && !(state === null && isClaimed)
        const wasLostBefore = from === 0 && isLostBefore(item)
        // The item it was split from was sent before its own first try.
        const wasSplit = wasLostBefore && record.parentRunId === null
        const further =
          (isOpen && !wasCorrected ? 1 : 0) +
          (isDeleted && !wasCorrected ? 1 : 0) +
          (wasLostBefore && !wasSplit ? 1 : 0)
        const lostAt = lost.at(-1)?.[3] ?? (wasSplit ? tries[0]?.[3] : null) ?? null
        yield {
          numbers: toRowAndRecord(row, toPlace(row, toText(found['kinds']))),
          item,
          attempts: to,
          body: mapRow(row, parseCells(String(found['cells'])), kinds).body,
          state: state === 'sending' ? null : state,
          errorCode: sentAs === null ? toText(found['error_code']) : sentAs.errorCode,
          answer: sentAs === null ? (toText(found['answer']) as RowAnswer | null) : sentAs.answer,
          customIndexItemId: toText(found['custom_index_item_id']),
          isReplaced: wasCorrected,
          takenTries: tries.filter(([, , outcome]) => outcome === 'succeeded').length,
          answeredAtUs: answered.at(-1)?.[3] ?? null,
          lostTries: lost.length + further + (wasSplit ? 1 : 0),
          lostAtUs: further > 0 || lostAt === null ? lastAtUs : lostAt,
          tries: tries.length + further + (wasSplit ? 1 : 0),
          triedAtUs: further > 0 ? lastAtUs : (tries.at(-1)?.[3] ?? lastAtUs),
        }
        from = to
      }
    }
    after = Number(end['id'])
  }
}

type TryTuple = [item: number, number: number, outcome: Outcome, endedAtUs: number | null]

/** The last moment recorded in the journal. */
function readLastAtUs({ db, record }: RunView): number {
  const ended = db.prepare('SELECT max(sent_at_us + duration_us) AS at_us FROM attempt').get()?.['at_us']
  const { createdAtMs, startedAtMs, endedAtMs } = record
  return Math.max(
    Number(ended ?? 0),
    ...[createdAtMs, startedAtMs ?? 0, endedAtMs ?? 0].map((ms) => ms * 1_000),
  )
}

/**
 * Whether an item was sent without an answer by an earlier run that no longer exists, or as part of the item
 * it was split from.
 */
function createLostBefore({ db, record, workspace }: RunView): (item: number) => boolean {
  const { parentRunId } = record
  if (parentRunId !== null && isThere(toJournalFile(workspace, parentRunId))) return () => false
  const lost = db.prepare('SELECT 1 FROM lost_try WHERE item = ?')
  return (item) => lost.get(item) !== undefined
}
