import type { DatabaseSync } from 'node:sqlite'
import type { Fix } from '../../src/shared/plan/fixes.ts'
import { parseObject } from '../helpers/history/recording.ts'
import { ROWS, type SimulatedOperation } from './draw-scenario.ts'

/** The fields of a sent row that corrections may change; null if the row is not sent. */
type Content = Readonly<Record<string, string>> | null

interface CorrectedRow {
  content: Content
  /** Whether a fix differs from the source; false for a row that is left out. */
  isCorrected: boolean
}

/** The source of each operation, by the fields that its columns fill. */
export const SOURCE_ROWS: Readonly<Record<SimulatedOperation, (row: number) => Record<string, string>>> = {
  // One row in ten is invalid.
  task: (row) => ({ text_data: `text ${row}`, user_id: row % 10 === 3 ? 'a_b' : 'user' }),
  'index-add': (row) => ({ url: `https://media.example.com/${row}.png`, content_variant: `variant ${row}` }),
  'index-remove': (row) => ({ custom_index_item_id: `item-${row}` }),
  'watchlist-add': (row) => ({ term: `term ${row}`, notes: `notes ${row}` }),
}

/** States of rows that a correction takes, and further ones if unknown rows are resent. */
const TAKEN = ['rejected', 'failed', 'pending', 'overdue', 'invalid', 'left_out', null]
const TAKEN_IF_RESENT = ['unknown', 'sending']

/**
 * The content with which each row must be sent, computed from the fixes without any engine code and checked
 * against every request.
 */
export class ExpectedContent {
  readonly faults: string[] = []
  readonly #operation: SimulatedOperation
  /**
   * Earlier contents of rows. If a callback shows that one of them was accepted, it is the row's content
   * again.
   */
  readonly #earlier: Map<number, Content[]> | null
  readonly #rows = new Map<number, CorrectedRow>()
  #before: Map<number, CorrectedRow> | null = null

  constructor(operation: SimulatedOperation, isAsync: boolean) {
    this.#operation = operation
    this.#earlier = isAsync ? new Map() : null
    this.#take(() => true, [])
  }

  /** The content of a row from now on. */
  get(row: number): Content {
    return this.#rows.get(row)?.content ?? null
  }

  /** Whether a row may have this content. */
  mayBe(row: number, fields: Readonly<Record<string, unknown>>): boolean {
    return [this.get(row), ...(this.#earlier?.get(row) ?? [])].some(
      (content) =>
        content !== null && Object.entries(content).every(([field, text]) => (fields[field] ?? '') === text),
    )
  }

  countCorrected(): number {
    return [...this.#rows.values()].filter(({ isCorrected }) => isCorrected).length
  }

  /** A correction begins, with the run's journal in `db`; it applies to everything sent from now on. */
  correct(db: DatabaseSync, fixes: readonly Fix[], onUnknown: 'resend' | 'skip'): void {
    this.#before = new Map(this.#rows)
    const claimed = Number(db.prepare('SELECT claimed FROM run').get()?.['claimed'])
    const states = new Map(
      db
        .prepare('SELECT id, state, item FROM row LEFT JOIN result ON result.row = row.id')
        .all()
        .map(({ id, state, item }) => [
          Number(id),
          state ?? (item !== null && Number(id) <= claimed ? 'sending' : null),
        ]),
    )
    const taken = onUnknown === 'resend' ? [...TAKEN, ...TAKEN_IF_RESENT] : TAKEN
    this.#take((row) => taken.includes((states.get(row) ?? null) as string | null), fixes)
  }

  /** The correction was not stored, because its process was killed before. */
  undo(): void {
    for (const [row, before] of this.#before ?? []) this.#rows.set(row, before)
    this.#before = null
  }

  /** Checks a request against the expected content of its rows. */
  check(body: string | null): void {
    const submitted = parseObject(body)
    const terms = submitted['terms']
    for (const sent of Array.isArray(terms) ? (terms as Record<string, unknown>[]) : [submitted]) {
      const row = toRow(this.#operation, sent)
      const expected = this.get(row)
      if (!this.mayBe(row, sent)) {
        const wanted = expected === null ? 'nothing' : JSON.stringify(expected)
        this.faults.push(`wrong-content: record ${row} was sent as ${JSON.stringify(sent)}, not ${wanted}.`)
      }
    }
  }

  #take(isTaken: (row: number) => boolean, fixes: readonly Fix[]): void {
    for (let row = 1; row <= ROWS; row += 1) {
      if (!isTaken(row)) continue
      this.#earlier?.set(row, [...(this.#earlier.get(row) ?? []), this.get(row)])
      this.#rows.set(row, toCorrected(this.#operation, row, fixes))
    }
  }
}

function toRow(operation: SimulatedOperation, sent: Readonly<Record<string, unknown>>): number {
  const id = {
    task: sent['post_id'],
    'index-add': sent['url'],
    'index-remove': sent['custom_index_item_id'],
    'watchlist-add': sent['term'],
  }[operation]
  return Number(/\d+(?=(\.png)?$)/.exec(String(id))?.[0])
}

function toCorrected(operation: SimulatedOperation, row: number, fixes: readonly Fix[]): CorrectedRow {
  const source = SOURCE_ROWS[operation](row)
  const fields = { ...source }
  for (const fix of fixes) {
    if (!('record' in fix) || fix.record !== row) continue
    if (fix.kind === 'leave_out_row') return { content: null, isCorrected: false }
    if (fix.kind === 'cell') fields[fix.field] = fix.value
  }
  if (fixes.some(({ kind }) => kind === 'substitute'))
    fields['user_id'] = fields['user_id']?.replaceAll('_', '~5F') ?? ''
  const { user_id: user = '', url = 'url', custom_index_item_id: item = 'item', term = 'term' } = fields
  const isInvalid = user.includes('_') || [url, item, term].includes('')
  const isCorrected = Object.entries(fields).some(([field, text]) => text !== source[field])
  return { content: isInvalid ? null : fields, isCorrected }
}
