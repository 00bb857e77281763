import { toNiceStep } from '../../../shared/load/chart-scale.ts'
import type { DecisionComparison, ScoreMoves } from '../../../shared/lookback/comparison.ts'
import { toRowAndRecord } from '../../../shared/plan/source-place.ts'
import { amongRows, hasFurtherClasses, readScoreClasses, visitScores } from '../journal/found-reader.ts'
import type { RunFamily, RunView } from '../journal/run-family.ts'
import { readFindings, type StoredFindings } from '../run/results/findings-file.ts'
import { readFingerprint } from '../run/results/journal-findings.ts'
import { readPlace } from '../run/results/row-places.ts'
import { BulkInsert, type DatabaseSync } from '../workspace/sqlite.ts'
import { attachJournal, withDatabase } from './attached-journals.ts'
import type { PairedRows, PairKind } from './paired-rows.ts'

/** Rows per statement, which takes some milliseconds; a row's place among them fits in one character. */
const STEP_ROWS = 20_000

/**
 * How the scores of each class moved on the rows that both runs decided, cached answers apart. When read from
 * journals, SQLite reports of most rows only that both runs have scores: most scores are equal.
 */
export function compareScores(
  a: RunFamily,
  b: RunFamily,
  pairs: PairedRows,
): Pick<DecisionComparison, 'scored_rows' | 'scores'> {
  const { kinds, partnerOf } = pairs
  const moves = new Map<string, TalliedMoves>()
  const scoredRows = withDatabase((db) => {
    const isByRow = partnerOf.every((partner, row) => partner === 0 || partner === row)
    let arePairsStored = isByRow
    let rows = 0
    for (const [inA, inB] of listMembers(kinds)) {
      const members = { a: a.members[inA], b: b.members[inB] }
      const isCompared = (kind: PairKind) => kind.a.member === inA && kind.b.member === inB && kind.isDecided
      if (members.a === undefined || members.b === undefined) continue
      const journals = { a: members.a, b: members.b }
      const compared = { pairs, isByRow, moves, isCompared: kinds.map(isCompared) }
      const stored = compareStored(journals, compared)
      if (stored === null && !arePairsStored) {
        storePairs(db, partnerOf)
        arePairsStored = true
      }
      rows += stored ?? compareJournals(db, journals, compared)
    }
    return rows
  })
  const moved = [...moves.values()]
    .filter(({ rose, fell }) => rose + fell > 0)
    .map(({ rows, ...own }) => {
      const count = own.rose + own.fell
      return {
        ...own,
        largest_rise: addPlace(b, own.largest_rise),
        largest_fall: addPlace(b, own.largest_fall),
        distribution: toDistribution(rows),
        mean: toMean(own.mean, count),
        mean_absolute: toMean(own.mean_absolute, count),
      }
    })
    .sort(
      (x, y) =>
        Number(x.from_cache) - Number(y.from_cache) ||
        y.mean_absolute - x.mean_absolute ||
        (x.class < y.class ? -1 : 1),
    )
  return { scored_rows: scoredRows, scores: moved }
}

/** The members of A and B whose answers are compared. */
function listMembers(kinds: readonly PairKind[]): Iterable<[inA: number, inB: number]> {
  const decided = kinds.filter(({ isDecided }) => isDecided)
  return new Map(
    decided.map(({ a, b }) => [`${a.member} ${b.member}`, [a.member, b.member] as [number, number]]),
  ).values()
}

/** Rows of A and B that belong together under different numbers. */
function storePairs(db: DatabaseSync, partnerOf: Uint32Array): void {
  db.exec('CREATE TABLE pair (b INTEGER PRIMARY KEY, a INTEGER NOT NULL) STRICT; BEGIN')
  const insert = new BulkInsert(db, 'INSERT INTO pair (b, a)', '(?, ?)')
  for (let row = 1; row < partnerOf.length; row += 1) {
    const partner = partnerOf[row] ?? 0
    if (partner !== 0) insert.add(row, partner)
  }
  insert.flush()
  db.exec('COMMIT')
}

/** A row of B, its partner, both rows' scores of classes without a column, then both scores of each class. */
type MovedRow = [
  row: number,
  partner: number,
  furtherA: string | null,
  furtherB: string | null,
  ...scores: (number | null)[],
]

const SCORES_FROM = 4

interface Compared {
  pairs: PairedRows
  isByRow: boolean
  /** For each kind of pair, whether its outcomes come from these journals. */
  isCompared: readonly boolean[]
  moves: Map<string, TalliedMoves>
}

/** Like {@link compareJournals}, from what is stored next to both journals; null if that is incomplete. */
function compareStored({ a, b }: Record<'a' | 'b', RunView>, compared: Compared): number | null {
  if (hasFurtherClasses(a.db) || hasFurtherClasses(b.db)) return null
  // If data turns out to be damaged half-way, nothing of it must remain.
  const moves = structuredClone(compared.moves)
  const rows = readFindings(a, readFingerprint(a), (storedA) =>
    readFindings(b, readFingerprint(b), (storedB) =>
      compareClasses(storedA, storedB, { ...compared, moves }),
    ),
  )
  if (rows !== null) for (const [key, tally] of moves) compared.moves.set(key, tally)
  return rows
}

function compareClasses(
  a: StoredFindings,
  b: StoredFindings,
  { pairs: { kinds, kindOf, partnerOf }, isCompared, moves }: Compared,
): number {
  const hasScores = new Uint8Array(kindOf.length)
  for (const className of b.classes) {
    const [inA, inB] = [a.readScores(className), b.readScores(className)]
    if (inA === null || inB === null) continue
    const tallies = [false, true].map((isCached) => toTally(moves, className, isCached))
    for (let row = 1; row < kindOf.length; row += 1) {
      const number = (kindOf[row] ?? 0) - 1
      if (isCompared[number] !== true) continue
      const [before, now] = [inA.at(partnerOf[row] ?? 0), inB.at(row)]
      if (Number.isNaN(before) || Number.isNaN(now)) continue
      hasScores[row] = 1
      const tally = tallies[Number(kinds[number]?.isCached === true)]
      if (before !== now && tally !== undefined) addMove(tally, { record: row, a: before, b: now })
    }
    a.release()
    b.release()
  }
  return hasScores.reduce((sum, one) => sum + one, 0)
}

/** Adds the moves of rows of two journals, and returns how many rows have scores in common. */
function compareJournals(
  db: DatabaseSync,
  { a, b }: Record<'a' | 'b', RunView>,
  { pairs: { kinds, kindOf }, isByRow, isCompared, moves }: Compared,
): number {
  const classes = matchClasses(a, b)
  const tallies = classes.map(({ className }) =>
    [false, true].map((isCached) => toTally(moves, className, isCached)),
  )
  const joined = joinFound(a, b, isByRow)
  const columns = classes.flatMap(({ inA, inB }) => [inA, inB])
  const isEither = ['a.further_scores IS NOT NULL', 'b.further_scores IS NOT NULL']
  const differs = classes.map(({ inA, inB }) => `${inA} <> ${inB}`)
  const hasBoth = classes.map(({ inA, inB }) => `(${inA} IS NOT NULL AND ${inB} IS NOT NULL)`)
  attachJournal(db, 'ja', a)
  attachJournal(db, 'jb', b)
  const toPlaces = db.prepare(
    `SELECT group_concat(char(b.row - ?1), '') ${joined} AND (${['FALSE', ...hasBoth].join(' OR ')})`,
  )
  const toMoved = db.prepare(
    `SELECT ${['b.row', 'a.row', 'a.further_scores', 'b.further_scores', ...columns].join(', ')}
     ${joined} AND (${[...isEither, ...differs].join(' OR ')})`,
  )
  for (const statement of [toPlaces, toMoved]) statement.setReturnArrays(true)
  let scored = 0
  for (let above = 0; above < kindOf.length; above += STEP_ROWS) {
    const hasScores = new Uint8Array(STEP_ROWS)
    const range = [above, above + STEP_ROWS] as const
    const [places] = toPlaces.get(...range) as unknown as [string | null]
    for (let at = 0; at < (places?.length ?? 0); at += 1) {
      const place = (places?.charCodeAt(at) ?? 0) - 1
      if (isCompared[(kindOf[above + place + 1] ?? 0) - 1] === true) hasScores[place] = 1
    }
    const further: { row: number; partner: number; isCached: boolean }[] = []
    for (const tuple of toMoved.all(...range) as unknown as MovedRow[]) {
      const [row, partner, furtherA, furtherB] = tuple
      const number = (kindOf[row] ?? 0) - 1
      if (isCompared[number] !== true) continue
      const isCached = kinds[number]?.isCached === true
      if (furtherA !== null || furtherB !== null) {
        further.push({ row, partner, isCached })
        continue
      }
      for (let at = 0; at < tallies.length; at += 1) {
        const before = tuple[SCORES_FROM + 2 * at]
        const now = tuple[SCORES_FROM + 2 * at + 1]
        const tally = tallies[at]?.[Number(isCached)]
        if (typeof before !== 'number' || typeof now !== 'number' || tally === undefined) continue
        if (before !== now) addMove(tally, { record: row, a: before, b: now })
      }
    }
    if (further.length > 0) {
      const before = readAllScores(
        a,
        further.map(({ partner }) => partner),
      )
      const now = readAllScores(
        b,
        further.map(({ row }) => row),
      )
      for (const { row, partner, isCached } of further) {
        for (const [className, score] of now.get(row) ?? []) {
          const other = before.get(partner)?.get(className)
          if (other === undefined) continue
          hasScores[row - above - 1] = 1
          if (other !== score)
            addMove(toTally(moves, className, isCached), { record: row, a: other, b: score })
        }
      }
    }
    for (const one of hasScores) scored += one
  }
  db.exec('DETACH ja; DETACH jb')
  return scored
}

/** SQL for the rows of `found` that belong together, in a stretch of rows of B; walks the smaller journal. */
function joinFound(a: RunView, b: RunView, isByRow: boolean): string {
  if (!isByRow) {
    return `FROM pair CROSS JOIN jb.found AS b ON b.row = pair.b CROSS JOIN ja.found AS a ON a.row = pair.a
      WHERE pair.b > ?1 AND pair.b <= ?2`
  }
  return a.record.rowsRead < b.record.rowsRead
    ? 'FROM ja.found AS a CROSS JOIN jb.found AS b ON b.row = a.row WHERE a.row > ?1 AND a.row <= ?2'
    : 'FROM jb.found AS b CROSS JOIN ja.found AS a ON a.row = b.row WHERE b.row > ?1 AND b.row <= ?2'
}

/** The classes whose scores have columns in both journals. */
function matchClasses(a: RunView, b: RunView): { className: string; inA: string; inB: string }[] {
  const columnOf = new Map(readScoreClasses(a.db).map(({ className, column }) => [className, column]))
  return readScoreClasses(b.db).flatMap(({ className, column }) => {
    const inA = columnOf.get(className)
    return inA === undefined ? [] : [{ className, inA: `a.${inA}`, inB: `b.${column}` }]
  })
}

/** All scores of some rows, by row and class. */
function readAllScores({ db }: RunView, rows: readonly number[]): Map<number, Map<string, number>> {
  const scores = new Map<number, Map<string, number>>()
  visitScores(db, amongRows(JSON.stringify(rows)), (row, className, score) => {
    const own = scores.get(row) ?? new Map<string, number>()
    scores.set(row, own)
    // A class has its score in its column, if it has one.
    own.set(className, own.get(className) ?? score)
  })
  return scores
}

function addPlace(b: RunFamily, move: LargestMove | null): ScoreMoves['largest_rise'] {
  if (move === null) return null
  const place = readPlace(b, move.record)
  return { ...move, ...toRowAndRecord(move.record, place), place }
}

/** Without the last digits, which depend on the order of addition. */
function toMean(sum: number, rows: number): number {
  return Number((sum / rows).toPrecision(9))
}

/** The moves of a class so far: means are sums, and rows are counted by move. */
type TalliedMoves = Omit<ScoreMoves, 'distribution' | 'largest_rise' | 'largest_fall'> & {
  rows: Map<number, number>
  largest_rise: LargestMove | null
  largest_fall: LargestMove | null
}

type LargestMove = Omit<NonNullable<ScoreMoves['largest_rise']>, 'row' | 'place'>

/** Steps on either side of zero. */
const STEPS = 12

/** Moves are counted to three decimals. */
const FINEST = 0.001

/** Moves in even steps on either side of zero, as a chart shows them. */
function toDistribution(rows: ReadonlyMap<number, number>): ScoreMoves['distribution'] {
  const moved = [...rows.keys()]
  const furthest = moved.reduce((most, move) => Math.max(most, Math.abs(move)), FINEST)
  const step = toNiceStep(furthest / STEPS)
  // Scores that are whole numbers move by whole numbers.
  const width = moved.every(Number.isInteger) ? Math.max(1, step) : step
  const steps = new Map<number, number>()
  for (const [move, count] of rows) {
    // A small move counts next to zero, not with the rows that did not move.
    const place = Math.sign(move) * Math.max(1, Math.round(Math.abs(move) / width))
    steps.set(place, (steps.get(place) ?? 0) + count)
  }
  return {
    width,
    moves: [...steps]
      .sort(([x], [y]) => x - y)
      .map(([place, count]) => ({ move: Number((place * width).toPrecision(6)), rows: count })),
  }
}

function toTally(moves: Map<string, TalliedMoves>, className: string, isCached: boolean): TalliedMoves {
  const key = `${isCached} ${className}`
  const known = moves.get(key)
  if (known !== undefined) return known
  const tally = {
    from_cache: isCached,
    rose: 0,
    fell: 0,
    mean: 0,
    mean_absolute: 0,
    largest_rise: null,
    largest_fall: null,
    class: className,
    rows: new Map<number, number>(),
  }
  moves.set(key, tally)
  return tally
}

function addMove(own: TalliedMoves, moved: LargestMove): void {
  const move = moved.b - moved.a
  const rounded = roundToThousandths(move)
  own.rows.set(rounded, (own.rows.get(rounded) ?? 0) + 1)
  own.mean += move
  own.mean_absolute += Math.abs(move)
  if (move > 0) {
    own.rose += 1
    if (isFurther(move, own.largest_rise, moved.record)) own.largest_rise = moved
  } else {
    own.fell += 1
    if (isFurther(-move, own.largest_fall, moved.record)) own.largest_fall = moved
  }
}

/** Rounds like `toFixed(3)`, which takes ten times as long and is only needed near a half. */
function roundToThousandths(move: number): number {
  const thousandths = move * 1000
  const nearest = Math.round(thousandths)
  return Math.abs(thousandths - nearest) < 0.499 ? nearest / 1000 : Number(move.toFixed(3))
}

/** Whether a row moved further than another, or as far with a lower record number. */
function isFurther(distance: number, other: LargestMove | null, record: number): boolean {
  const known = other === null ? 0 : Math.abs(other.b - other.a)
  return distance > known || (distance === known && other !== null && record < other.record)
}
