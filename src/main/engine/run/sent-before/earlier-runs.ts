import { toComparable, toWholeMapping } from '../../../../shared/mapping/match-columns.ts'
import { listColumnsOf, parseTemplate } from '../../../../shared/mapping/templates.ts'
import { findDiskTrouble } from '../../../../shared/messages/thrown.ts'
import { sendsKey, targetOf } from '../../../../shared/operations/operations.ts'
import type { Mapping, Plan } from '../../../../shared/plan/plan.ts'
import { identifiesTenant, listHeaderReferences } from '../../../../shared/plan/request-headers.ts'
import { sayRow } from '../../../../shared/plan/source-place.ts'
import type { StoredConnection } from '../../../../shared/plan/stored-connection.ts'
import type { ItemState } from '../../../../shared/run/item-state.ts'
import type { SentOutcome } from '../../../../shared/run/sent-before.ts'
import {
  compareAge,
  findDeletedStates,
  type ReaderPool,
  type RunView,
  readRunView,
} from '../../journal/run-family.ts'
import type { RunRecord } from '../../journal/run-record.ts'
import { createReplacedReader, isSentSince, type ReplacedContent } from '../../journal/sent-as.ts'
import { wasSentWith } from '../../journal/sent-with.ts'
import { parseCells } from '../../journal/stored-cells.ts'
import type { MapRow } from '../../mapping/row-mapper.ts'
import { toServiceUrl } from '../../service/operation-exchange.ts'
import { toService } from '../../workspace/connection-service.ts'
import { readConnections } from '../../workspace/connections.ts'
import { isThere } from '../../workspace/is-there.ts'
import type { DatabaseSync } from '../../workspace/sqlite.ts'
import { toJournalFile, toWorkspace } from '../../workspace/workspace-files.ts'
import { createPlaceReader } from '../journal/intake-writer.ts'
import { createRowRequests } from '../results/row-detail.ts'
import { createKeyReader, fromBytes, HashLists, type ReadKey } from './row-keys.ts'

/** A row that an earlier run sent, or may have. */
interface EarlierRow {
  row: number
  /** The number in its spreadsheet. */
  number: string
  /** Its cells as JSON, and their kinds. */
  cellsText: string
  kinds: string | null
  outcome: SentOutcome
}

/** The columns `id`, `cells`, `kinds`, `item`, `state` and `attempts`. */
type StoredRow = [number, string, string | null, number | null, string | null, number]

/** What a stored row is and how it is mapped. */
interface StoredSent {
  item: number | null
  state: string | null
  attempts: number
  kinds: string | null
}

/** Certainty of an outcome: of two equal rows, the higher one counts. */
export const RANKS: Record<SentOutcome, number> = { not_taken: 1, unknown: 2, taken: 3 }

const PAGE_ROWS = 1_000
/** Page cache of a journal, KiB: few pages are read twice, and many journals are open. */
const CACHE_KIB = 2_048
/** Most unwanted rows per wanted one at which all are read in one go. */
const GAP_ROWS = 3

/** A run that sent rows to the same service with the same operation. */
export class EarlierRun {
  readonly record: RunRecord
  readonly #pool: ReaderPool
  readonly #file: string
  readonly #deleted: ReadonlySet<ItemState>
  #mapRow: MapRow | null = null

  constructor(pool: ReaderPool, { file, record }: Pick<RunView, 'file' | 'record'>) {
    this.#pool = pool
    this.#file = file
    this.record = record
    this.#deleted = findDeletedStates(record)
  }

  /** Whether its journal exists; a deleted one is forgotten. */
  get isThere(): boolean {
    return isThere(this.#file)
  }

  get runId(): string {
    return this.record.runId
  }

  /** Passes on hashes of its possibly sent rows, stored ones if possible, else freshly read. */
  listHashes(names: readonly string[], onList: (base: number, hashes: Uint32Array) => void): void {
    const { db } = this.#view()
    const noted = db.prepare('SELECT base, hashes FROM row_key WHERE keys = ? ORDER BY base')
    if (db.prepare('SELECT 1 FROM row_key WHERE keys = ? LIMIT 1').get(names.join('+')) !== undefined) {
      for (const { base, hashes } of noted.iterate(names.join('+'))) {
        onList(Number(base), fromBytes(hashes as Uint8Array))
      }
      return
    }
    const readKey = this.createKeyReader(names)
    if (readKey === null) return
    const lists = new HashLists(onList)
    const page = db.prepare(
      `SELECT id, cells, kinds FROM row WHERE id > ? AND item IS NOT NULL ORDER BY id LIMIT ${PAGE_ROWS}`,
    )
    for (let rows = page.all(0); rows.length > 0; rows = page.all(Number(rows.at(-1)?.['id']))) {
      for (const { id, cells, kinds } of rows) {
        const row = Number(id)
        const key = readKey(this.toKeyed(row, String(cells), kinds === null ? null : String(kinds)))
        if (key !== null) lists.add(key, row)
      }
    }
    lists.flush()
    this.#listReplaced(db, readKey, onList)
  }

  /** The same for contents before corrections. */
  #listReplaced(
    db: DatabaseSync,
    readKey: ReadKey,
    onList: (base: number, hashes: Uint32Array) => void,
  ): void {
    if (this.record.plan.earlierFixes === undefined) return
    // A row has one place in each list.
    const lists: HashLists[] = []
    const page = db.prepare(
      `SELECT id, cells FROM row WHERE id > ? AND id IN (SELECT row FROM earlier WHERE kinds IS NOT NULL)
       ORDER BY id LIMIT ${PAGE_ROWS}`,
    )
    const readReplaced = createReplacedReader(db)
    for (let rows = page.all(0); rows.length > 0; rows = page.all(Number(rows.at(-1)?.['id']))) {
      for (const { id, cells } of rows) {
        const row = Number(id)
        for (const [at, { kinds }] of readReplaced(row).entries()) {
          const key = readKey(this.toKeyed(row, String(cells), kinds))
          lists[at] ??= new HashLists(onList)
          if (key !== null) lists[at].add(key, row)
        }
      }
    }
    for (const list of lists) list.flush()
  }

  /** Null if its source had no column of such a name, in any spelling. */
  createKeyReader(names: readonly string[]): ReadKey | null {
    const { columns, plan } = this.record
    return createKeyReader(names, plan.operation, columns) ?? this.#createLooseReader(names)
  }

  /** The same if only one spelling of each name exists in its source's columns. */
  #createLooseReader(names: readonly string[]): ReadKey | null {
    const { columns, plan } = this.record
    const found = names.map((name) => {
      if (createKeyReader([name], plan.operation, columns) !== null) return name
      const alike = columns.filter((column) => toComparable(column) === toComparable(name))
      return alike.length === 1 ? alike[0] : undefined
    })
    const known = found.filter((name) => name !== undefined)
    return known.length === names.length ? createKeyReader(known, plan.operation, columns) : null
  }

  /** The parts of a stored row that keys are made from. */
  toKeyed(row: number, cellsText: string, kinds: string | null) {
    this.#mapRow ??= createRowRequests(this.#view()).mapRow
    const cells = parseCells(cellsText)
    return { body: this.#mapRow(row, cells, kinds).body, cells }
  }

  /**
   * Reads those of the rows, given in order, that it sent or may have sent. A row whose content a correction
   * has replaced comes once for each sent content, the most certain outcome last.
   */
  *readSent(rows: readonly number[]): Generator<EarlierRow, void, undefined> {
    const { db } = this.#view()
    db.exec(`PRAGMA cache_size = -${CACHE_KIB}`)
    const columns = 'row.id, row.cells, row.kinds, row.item, result.state, coalesce(attempts, 0)'
    const between = db.prepare(
      `SELECT ${columns} FROM row LEFT JOIN result ON result.row = row.id
       WHERE row.id BETWEEN ? AND ? AND (item IS NOT NULL OR attempts > 0)`,
    )
    const among = db.prepare(
      `SELECT ${columns} FROM json_each(?) AS wanted CROSS JOIN row ON row.id = wanted.value
       LEFT JOIN result ON result.row = row.id WHERE item IS NOT NULL OR attempts > 0`,
    )
    between.setReturnArrays(true)
    among.setReturnArrays(true)
    const lost = db.prepare(
      `SELECT 1 WHERE EXISTS (SELECT 1 FROM attempt WHERE item = ?1 AND outcome = 'unknown')
       OR EXISTS (SELECT 1 FROM lost_try WHERE item = ?1)
       OR EXISTS (SELECT 1 FROM earlier WHERE row = ?1 AND state = 'overdue')`,
    )
    const toPlace = createPlaceReader(db)
    const listSent = this.record.plan.earlierFixes === undefined ? null : this.#createSentLister(db)
    const claimed = Number(db.prepare('SELECT claimed FROM run').get()?.['claimed'] ?? 0)
    for (let at = 0; at < rows.length; at += PAGE_ROWS) {
      const page = rows.slice(at, at + PAGE_ROWS)
      const [first = 0, last = 0] = [page[0], page.at(-1)]
      const isDense = last - first <= page.length * GAP_ROWS
      const found = (isDense
        ? between.all(first, last)
        : among.all(JSON.stringify(page))) as unknown as StoredRow[]
      for (const [row, cellsText, kinds, item, state, attempts] of found) {
        const several = listSent?.(row, { item, state, attempts, kinds }, row <= claimed) ?? null
        if (several !== null) {
          for (const sent of several)
            yield { row, number: sayRow(toPlace(row, sent.kinds)), cellsText, ...sent }
          continue
        }
        const isLost = () => lost.get(item ?? row) !== undefined
        const outcome = this.#toOutcome(state as ItemState | null, row <= claimed, isLost)
        if (outcome === null) continue
        yield { row, number: sayRow(toPlace(row, kinds)), cellsText, kinds, outcome }
      }
    }
  }

  /** Prepares the read of all contents that a row was sent with; null if no correction has replaced any. */
  #createSentLister(
    db: DatabaseSync,
  ): (row: number, stored: StoredSent, isClaimed: boolean) => Pick<EarlierRow, 'kinds' | 'outcome'>[] | null {
    const readReplaced = createReplacedReader(db)
    const lost = db.prepare(
      "SELECT 1 FROM attempt WHERE item = ? AND outcome = 'unknown' AND number > ? LIMIT 1",
    )
    return (row, stored, isClaimed) => {
      const replaced = readReplaced(row)
      const last = replaced.at(-1)
      if (last === undefined) return null
      const sent = replaced
        .filter(({ attempts, state }) => attempts > 0 || state === 'succeeded')
        .map((content) => ({ kinds: content.kinds, outcome: toReplacedOutcome(content) }))
      if (isSentSince(replaced, stored)) {
        const isLost = () => lost.get(stored.item, last.attempts) !== undefined
        const outcome = this.#toOutcome(stored.state as ItemState | null, isClaimed, isLost)
        if (outcome !== null) sent.push({ kinds: stored.kinds, outcome })
      }
      return sent.sort((a, b) => RANKS[a.outcome] - RANKS[b.outcome])
    }
  }

  /** The outcome of a row in a state; null if it was not sent. */
  #toOutcome(state: ItemState | null, isClaimed: boolean, isLost: () => boolean): SentOutcome | null {
    if (state === null && isClaimed) return 'unknown'
    // A deleted retry may have sent it.
    if (this.#deleted.has(state ?? 'pending')) return 'unknown'
    switch (state) {
      case 'succeeded':
      case 'acknowledged':
        return 'taken'
      case 'rejected':
      case 'failed':
        return 'not_taken'
      case 'unknown':
      case 'overdue':
      case 'sending':
        return 'unknown'
      case 'pending':
        return isLost() ? 'unknown' : 'not_taken'
      case null:
        return null
    }
  }

  #view(): RunView {
    const db = this.#pool.get(this.#file)
    const { record } = this
    return {
      db,
      file: this.#file,
      record,
      workspace: toWorkspace(this.#file),
      isHeld: false,
      isCutOff: false,
    }
  }
}

function toReplacedOutcome({ state, mayBeTaken }: ReplacedContent): SentOutcome {
  if (state === 'succeeded') return 'taken'
  return mayBeTaken ? 'unknown' : 'not_taken'
}

/** What a run was sent with, by fingerprint; null if not known yet or not sent. */
export interface SentWith {
  key: string | null
  /** The values from variables and files in headers that always determine the tenant. */
  headerValues: string | null
  /** The same for headers that work like a key. */
  headerKeys: string | null
}

/**
 * Finds the candidate runs that sent rows to the same service as a run, with the same operation and API
 * version, and calls `onRun` with each while its journal is open. Returns them newest first, a run before its
 * retries; also those that cannot be read, those with another key, those sent another way (headers, Unix
 * socket, resolved address: another tenant or deployment), and those for which it is unknown whether key and
 * header values are the same. Keys of a stored connection belong to one service, so they are not compared.
 */
export function findEarlierRuns(
  pool: ReaderPool,
  workspace: string,
  {
    record: { plan, runId, runToken },
    sentWith,
  }: { record: Pick<RunRecord, 'plan' | 'runId' | 'runToken'>; sentWith: SentWith },
  candidates: readonly string[],
  onRun: (run: EarlierRun) => void,
): { runs: EarlierRun[] } & Record<
  'unreadable' | 'withOtherKey' | 'withOtherConnection' | 'withUnknownKey',
  string[]
> {
  const stored = readConnections(workspace).connections
  const toAsked = ({ operation, connection }: Plan) => {
    const api = operation.kind === 'task' ? operation.api : null
    const service = [connection.baseUrl, toServiceUrl({ operation, connection })]
    return JSON.stringify([operation.kind, api, targetOf(operation), service])
  }
  const wanted = toAsked(plan)
  const owner = toOwner(plan, stored)
  const way = toWay(plan)
  const says = listTenantRoles(plan)
  const runs: EarlierRun[] = []
  const unreadable: string[] = []
  const withOtherKey: string[] = []
  const withOtherConnection: string[] = []
  const withUnknownKey: string[] = []
  for (const id of candidates) {
    if (id === runId) continue
    const file = toJournalFile(workspace, id)
    try {
      const view = readRunView(pool, file, false)
      // A run that never began, such as a held one, has sent nothing.
      if (view === null || view.record.startedAtMs === null) continue
      if (view.record.runToken === runToken || view.record.plan.load !== undefined) continue
      if (toAsked(view.record.plan) !== wanted || view.record.columns.length === 0) continue
      const { db } = view
      const other = toOwner(view.record.plan, stored)
      const isOwn = isOfSameConnection(owner, other)
      const hasKey = isOwn || (wasSentWith([db], 'key', sentWith.key) ?? (owner.place === null || null))
      if (hasKey !== true && !isOfSamePlace(owner, other)) {
        if (!areKeptApart(owner, other)) withOtherKey.push(id)
        continue
      }
      if (hasKey === false) {
        withOtherKey.push(id)
        continue
      }
      // A key that only one of the runs sent may belong to another project.
      const hasKeys = [says, listTenantRoles(view.record.plan)].some((ofRun) => ofRun.has('as_key'))
      const ofHeaders = [
        says.has('always') ? wasSentWith([db], 'header_values', sentWith.headerValues) : true,
        hasKeys && !isOwn ? wasSentWith([db], 'header_keys', sentWith.headerKeys) : true,
      ]
      if (ofHeaders.includes(false) || toWay(view.record.plan) !== way) {
        withOtherConnection.push(id)
        continue
      }
      if (hasKey === null || ofHeaders.includes(null)) withUnknownKey.push(id)
      const run = new EarlierRun(pool, view)
      onRun(run)
      runs.push(run)
    } catch (error) {
      if (findDiskTrouble(error) === 'full') throw error
      // A run deleted just now is forgotten.
      if (isThere(file)) unreadable.push(id)
    }
  }
  return { runs: runs.sort(compareRuns), unreadable, withOtherKey, withOtherConnection, withUnknownKey }
}

/** How the headers with values from variables and files determine the tenant. */
function listTenantRoles({ connection }: Plan): Set<ReturnType<typeof identifiesTenant>> {
  return new Set(listHeaderReferences(connection.headers).map((header) => identifiesTenant(...header)))
}

/** The owner of a run's key: stored connections, by name, or a variable, a file, a command or a window. */
interface KeyOwner {
  connections: readonly string[]
  variable: string | null
  /** Null if no key is sent. */
  place: string | null
}

function toOwner({ operation, connection }: Plan, stored: readonly StoredConnection[]): KeyOwner {
  const sends = sendsKey(operation)
  const { connections, apiKeyEnv } = toService(connection, stored, sends)
  const place = connection.keyFrom ?? `variable ${connection.apiKeyEnv}`
  return { connections, variable: apiKeyEnv, place: sends ? place : null }
}

/** Connections that share a key count as one, so one common name is enough. */
function isOfSameConnection(a: KeyOwner, b: KeyOwner): boolean {
  return a.connections.some((name) => b.connections.includes(name))
}

/** Whether only the keys themselves can differ. */
function isOfSamePlace(a: KeyOwner, b: KeyOwner): boolean {
  return (
    isOfSameConnection(a, b) || (a.connections.length + b.connections.length === 0 && a.place === b.place)
  )
}

/** Whether a person keeps the keys of both runs under their own names. */
function areKeptApart(a: KeyOwner, b: KeyOwner): boolean {
  return [a, b].every(({ connections, variable }) => connections.length > 0 || variable !== null)
}

/** How requests reach a service, apart from the key: one address may serve many tenants and deployments. */
function toWay({ connection: { headers = {}, unixSocket = '', resolve = [] } }: Plan): string {
  const written = Object.entries(headers)
    .filter(([name, value]) => identifiesTenant(name, value) === 'always')
    .map(([name, value]) => [name.toLowerCase(), value])
  return JSON.stringify([written.sort(), unixSocket, [...resolve].sort()])
}

function compareRuns({ record: a }: EarlierRun, { record: b }: EarlierRun): number {
  if (a.runToken !== b.runToken) return a.runToken < b.runToken ? 1 : -1
  return compareAge(a, b)
}

/** Whether equal cells give the same key in both runs, so that rows need not be mapped for comparison. */
export function mapsAlike(a: RunRecord, b: RunRecord, names: readonly string[]): boolean {
  const [ofA, ofB] = [a, b].map(({ plan, columns }) => toWholeMapping(plan, columns))
  const toComparable = ({ plan: { operation, source }, columns }: RunRecord, mapping: Mapping | undefined) =>
    JSON.stringify([mapping, operation, source.media, columns])
  if ([a, b].some(({ plan }) => [...(plan.fixes ?? []), ...(plan.earlierFixes ?? [])].length > 0))
    return false
  if (toComparable(a, ofA) !== toComparable(b, ofB) || ofA?.['request'] !== undefined) return false
  return [...names, 'models'].every((name) => {
    const source = ofA?.[name]
    if (source === undefined || source.kind === 'column') return true
    const named = parseTemplate(source.template).filter(({ kind }) => kind === 'placeholder').length
    return named === listColumnsOf(source, a.columns).length
  })
}
