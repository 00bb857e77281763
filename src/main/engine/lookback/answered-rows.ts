import type { RunFamily, RunView } from '../journal/run-family.ts'
import { readLastRow } from '../run/results/row-search.ts'
import { type DatabaseSync, readTuples } from '../workspace/sqlite.ts'
import { JournalColumns } from './journal-columns.ts'
import { loadColumns, StoredColumns, type WantedColumns } from './stored-columns.ts'
import type { StretchColumns } from './stretch-columns.ts'

/** Rows in a step: a statement takes milliseconds, and a row's place in its step fits in one character. */
const STEP_ROWS = 2_000

/**
 * Reads every row of a run and its retries in source order, each as its newest run has it. No read stays open
 * after a step. `wanted` names what the steps will be asked for, so those columns are read together.
 */
export function* readAnsweredSteps(
  family: RunFamily,
  wanted: Partial<WantedColumns> = {},
): Generator<AnsweredStep, void, undefined> {
  const { columns = [], classes = [] } = wanted
  const members = family.members.map((view) => {
    const stored = loadColumns(view, { columns, classes })
    return { view, last: readLastRow(view), stored }
  })
  const last = Math.max(0, ...members.map((member) => member.last))
  try {
    for (let above = 0; above < last; above += STEP_ROWS) {
      yield new AnsweredStep(members, above, Math.min(STEP_ROWS, last - above), columns)
    }
  } finally {
    for (const { stored } of members) stored?.release()
  }
}

interface Member {
  view: RunView
  last: number
  /** The columns stored next to its journal; null if the journal must be read. */
  stored: ReturnType<typeof loadColumns>
}

/**
 * Some rows of a run and its retries, column by column: an object for each row would cost more than all the
 * work on it. Columns are indexed by place, from 0 for the row after `above`. Read this before the next step.
 */
export class AnsweredStep {
  readonly above: number
  readonly width: number
  /** One more than the number of the member with the row's outcome; 0 if the run lacks the row. */
  readonly owner: Uint16Array
  /** 1 if the service answered the row with a result of its own. */
  readonly answered: ArrayLike<number>
  readonly #members: readonly Member[]
  readonly #columns: readonly number[]
  /** By member; null for one without rows in the step. */
  readonly #columnsOf: (StretchColumns | null)[]
  readonly #cells = new Map<number, ArrayLike<string>>()
  readonly #whole = new Map<number, ReadonlyMap<number, WholeRow>>()
  #sets: ArrayLike<number> | null = null

  constructor(members: readonly Member[], above: number, width: number, columns: readonly number[]) {
    this.above = above
    this.width = width
    this.owner = new Uint16Array(width)
    this.#members = members
    this.#columns = columns
    this.#columnsOf = members.map((member, number) => this.#open(member, number + 1))
    this.answered = this.#merge(
      (own) => own.answered,
      () => new Uint8Array(width),
    )
  }

  rowAt(place: number): number {
    return this.above + place + 1
  }

  /** A number for the rules that a row triggered, mostly shared by rows of the step with the same rules. */
  decisionAt(place: number): number {
    return this.#setAt(place) * OWNERS_MAX + (this.owner[place] ?? 0)
  }

  ruleIdsAt(place: number): readonly string[] {
    return this.#columnsOf[(this.owner[place] ?? 0) - 1]?.ruleIdsOf(this.#setAt(place)) ?? []
  }

  /** 1 if the answer came from the service's cache. */
  get cached(): ArrayLike<number> {
    return this.#merge(
      (own) => own.cached,
      () => new Uint8Array(this.width),
    )
  }

  /** 1 if the service's answer is a word for what became of the row. */
  get outcomeStated(): ArrayLike<number> {
    return this.#merge(
      (own) => own.outcomeStated,
      () => new Uint8Array(this.width),
    )
  }

  /** What the answers to rows name; '' for none. */
  names(kind: 'language' | 'model'): ArrayLike<string> {
    return this.#merge(
      (own) => own.names(kind),
      () => this.#createTexts(),
    )
  }

  /** The scores of each class, NaN if a row has none. */
  scores(classes: readonly string[]): readonly ArrayLike<number>[] {
    const read = this.#columnsOf.map((own) => own?.scores(classes) ?? [])
    return classes.map((_, at) =>
      this.#mergeRead(
        read.map((own) => own[at] ?? null),
        () => new Float64Array(this.width).fill(Number.NaN),
      ),
    )
  }

  /** The highest score of all classes, NaN if a row has none. */
  get highestScores(): ArrayLike<number> {
    return this.#merge(
      (own) => own.highestScores,
      () => new Float64Array(this.width).fill(Number.NaN),
    )
  }

  /** The cells of a column, '' if a row has none. */
  cells(column: number): ArrayLike<string> {
    const known = this.#cells.get(column)
    if (known !== undefined) return known
    const columns = [...new Set([...this.#columns.filter((own) => !this.#cells.has(own)), column])]
    const read = this.#columnsOf.map((own) => own?.cells(columns) ?? [])
    for (const [at, own] of columns.entries()) {
      const cells = this.#mergeRead(
        read.map((texts) => texts[at] ?? null),
        () => this.#createTexts(),
      )
      this.#cells.set(own, cells)
    }
    return this.#cells.get(column) ?? []
  }

  /** All cells of a row, and their kinds in a JSON source; `kinds` is null if all are text. */
  wholeAt(place: number): WholeRow {
    const owner = this.owner[place] ?? 0
    const view = this.#members[owner - 1]?.view
    if (view === undefined) return NOTHING
    const read = this.#whole.get(owner) ?? readWhole(view.db, [this.above, this.above + this.width])
    this.#whole.set(owner, read)
    return read.get(this.rowAt(place)) ?? NOTHING
  }

  #setAt(place: number): number {
    this.#sets ??= this.#merge(
      (own) => own.sets,
      () => new Float64Array(this.width),
    )
    return this.#sets[place] ?? 0
  }

  #createTexts(): string[] {
    return Array.from<string>({ length: this.width }).fill('')
  }

  /** Takes over a member's rows from the members before it; null if it has none. */
  #open({ view, last, stored }: Member, owner: number): StretchColumns | null {
    if (last <= this.above) return null
    const width = Math.min(this.width, last - this.above)
    const columns =
      stored === null
        ? new JournalColumns(view, this.above, width)
        : new StoredColumns(view, stored, this.above, width)
    let rows = 0
    for (let place = 0; place < width; place += 1) {
      if (columns.has[place] === 0) continue
      this.owner[place] = owner
      rows += 1
    }
    return rows === 0 ? null : columns
  }

  #merge<Value>(
    read: (own: StretchColumns) => ArrayLike<Value>,
    create: () => Changeable<Value>,
  ): ArrayLike<Value> {
    return this.#mergeRead(
      this.#columnsOf.map((own) => (own === null ? null : read(own))),
      create,
    )
  }

  /** One column over all rows, each value from the member that owns the row; `create` makes an empty one. */
  #mergeRead<Value>(
    read: readonly (ArrayLike<Value> | null)[],
    create: () => Changeable<Value>,
  ): ArrayLike<Value> {
    const [only, ...others] = read.filter((own) => own !== null)
    if (only?.length === this.width && others.length === 0) return only
    const merged = create()
    for (let place = 0; place < this.width; place += 1) {
      const value = read[(this.owner[place] ?? 0) - 1]?.[place]
      if (value !== undefined) merged[place] = value
    }
    return merged
  }
}

/** What can be set by place. */
interface Changeable<Value> extends ArrayLike<Value> {
  [place: number]: Value
}

/** An owner is kept in 16 bits. */
const OWNERS_MAX = 0x10000

/** A source row in a journal. */
interface WholeRow {
  cells: string[]
  kinds: string | null
}

const NOTHING: WholeRow = { cells: [], kinds: null }

function readWhole(
  db: DatabaseSync,
  range: readonly [above: number, upTo: number],
): ReadonlyMap<number, WholeRow> {
  const rows = readTuples<[row: number, text: string, kinds: string | null]>(
    db,
    'SELECT id, cells, kinds FROM row WHERE id > ? AND id <= ?',
    range,
  )
  return new Map(rows.map(([row, text, kinds]) => [row, { cells: JSON.parse(text) as string[], kinds }]))
}
