import type { Arrival, PostedCallback, RecordedEvent } from './recording.ts'
import type { AttemptHistory, ItemHistory, MemberHistory, RowHistory, RunHistory } from './run-history.ts'

/** A row of a run and its retries, as in the newest journal that has it. */
export interface JudgedRow {
  operation: RunHistory['operation']
  member: MemberHistory
  row: RowHistory
  /** Every request that carried it, or would have, oldest first. */
  items: readonly ItemHistory[]
  /** Every try of it, oldest first. */
  tries: readonly AttemptHistory[]
}

/** Everything with the same id at the service. Rows may share it, such as the address of an index item. */
export interface RowGroup {
  id: string
  rows: JudgedRow[]
  arrivals: Arrival[]
  callbacks: PostedCallback[]
}

/** Groups rows and events by id. `strangers` are arrivals whose ids belong to no row. */
export function createGroups(
  runs: readonly RunHistory[],
  events: readonly RecordedEvent[],
): { groups: RowGroup[]; strangers: Arrival[] } {
  const groups = new Map<string, RowGroup>()
  const former = new Map<string, RowGroup>()
  for (const judged of runs.flatMap(listRows)) {
    const { id, row } = judged.row
    const key = id ?? `${judged.member.runId} ${row}`
    const group = groups.get(key) ?? { id: key, rows: [], arrivals: [], callbacks: [] }
    group.rows.push(judged)
    groups.set(key, group)
    for (const before of judged.row.formerIds) former.set(before, group)
  }
  const strangers: Arrival[] = []
  for (const event of events.toSorted((a, b) => a.atUs - b.atUs)) {
    const found = event.ids.map((id) => groups.get(id) ?? former.get(id))
    if (event.kind === 'arrival' && (found.length === 0 || found.includes(undefined))) strangers.push(event)
    for (const group of new Set(found)) {
      if (event.kind === 'arrival') group?.arrivals.push(event)
      else group?.callbacks.push(event)
    }
  }
  return { groups: [...groups.values()], strangers }
}

/** The rows of a run and its retries, each once. */
export function listRows({ members, operation }: RunHistory): JudgedRow[] {
  const rows = new Map<number, JudgedRow>()
  for (const member of members) {
    const isAlone = !operation.startsWith('watchlist')
    const triesOf = createTriesReader(member, !isAlone)
    for (const row of member.rows) {
      const before = rows.get(row.row)
      const whole = row.sentItem === null ? undefined : member.items.get(row.sentItem)
      const item = whole === undefined || isAlone ? whole : toItemOf(row, whole)
      rows.set(row.row, {
        operation,
        member,
        row,
        items: [...(before?.items ?? []), ...(item === undefined ? [] : [item])],
        tries: [...(before?.tries ?? []), ...triesOf(row, item)],
      })
    }
  }
  return [...rows.values()]
}

/** The part of an item's tries that included the row: a retry may have sent only other rows of it. */
function toItemOf({ attempts: tries, triesWithout }: RowHistory, item: ItemHistory): ItemHistory {
  const isOfRow = ({ number }: AttemptHistory) => number <= tries && !triesWithout.has(number)
  return { ...item, attempts: item.attempts.filter(isOfRow) }
}

const LOST: Omit<AttemptHistory, 'number'> = { outcome: 'unknown', status: null }

function createTriesReader(
  member: MemberHistory,
  splits: boolean,
): (row: RowHistory, item: ItemHistory | undefined) => AttemptHistory[] {
  const numbers = [...member.items.keys()].sort((a, b) => b - a)
  const isCorrectedRun = member.rows.some(({ formerIds }) => formerIds.length > 0)
  /** A try of the item that this one was split from. */
  const findBefore = (item: number, number: number): AttemptHistory => {
    for (const other of numbers) {
      // Corrections also split items, and do not record which item it was.
      if (other >= item || isCorrectedRun) continue
      const found = member.items.get(other)?.attempts.find((attempt) => attempt.number === number)
      if (found !== undefined) return found
    }
    return { number, ...LOST }
  }
  return (row, item) => {
    if (item === undefined) return []
    const [first] = item.attempts
    // Only an item with several rows can be split; its parts may not have been sent yet.
    const splitFrom = splits ? Math.max(0, (first?.number ?? row.attempts + 1) - 1) : 0
    const before = Array.from({ length: splitFrom }, (_, index) => findBefore(item.item, index + 1))
    const tries = [...before, ...item.attempts]
    // Its process died, so it may have been sent once more than recorded.
    const isUnaccounted = row.state === 'unknown' && row.stored !== 'unknown'
    const isLost = member.isCutOff && (isUnaccounted || row.attempts > tries.length)
    return isLost ? [...tries, { number: tries.length + 1, ...LOST }] : tries
  }
}

/** Whether the row was also sent with other content. */
export function isCorrected({ items }: JudgedRow): boolean {
  return new Set(items.flatMap(({ requests }) => requests.map(({ body }) => body))).size > 1
}

/** Whether the service answered the row. */
export function isOk({ row: { state } }: JudgedRow): boolean {
  return state === 'succeeded' || state === 'rejected'
}

/** Whether the journals say that the service did not accept the row. */
export function isFail({ row: { state }, tries }: JudgedRow): boolean {
  return (
    state === 'failed' ||
    state === 'invalid' ||
    state === 'left_out' ||
    (state === 'pending' && tries.length === 0)
  )
}
