import { toNiceStep } from '../../../shared/load/chart-scale.ts'
import type { DecisionComparison, ScoreMoves } from '../../../shared/lookback/comparison.ts'
import { toRowAndRecord } from '../../../shared/plan/source-place.ts'
import { betweenRows, visitScores } from '../journal/found-reader.ts'
import type { RunFamily, RunView } from '../journal/run-family.ts'
import type { RowFindings } from '../run/results/row-findings.ts'
import { readPlace } from '../run/results/row-places.ts'
import { RowScores } from '../run/results/row-values.ts'
import type { PairedRows } from './paired-rows.ts'

/** Rows whose scores are read in one statement. */
const STEP_ROWS = 1_000

/**
 * How the scores of each class moved on the rows that both runs decided, those with an answer from the cache apart. Scores
 * come from the findings of the pairs where they have all of them, else from the journals.
 */
export function compareScores(
  a: RunFamily,
  b: RunFamily,
  pairs: PairedRows,
): Pick<DecisionComparison, 'scored_rows' | 'scores'> {
  const { kinds, kindOf, partnerOf, found } = pairs
  const moves = new Map<string, TalliedMoves>()
  const scores = {
    a: a.members.map((member) => readScores(member, found.a)),
    b: b.members.map((member) => readScores(member, found.b)),
  }
  const compared = a.members.map((_, aMember) =>
    b.members.map((_, bMember) => matchClasses(scores.a[aMember], scores.b[bMember], moves)),
  )
  const comparedBy = kinds.map(({ a: inA, b: inB, isDecided, isCached }) => {
    const own = compared[inA.member]?.[inB.member]
    return own === undefined || !isDecided ? [] : own[isCached ? 'cached' : 'fresh']
  })
  let scoredRows = 0
  for (let row = 1; row < kindOf.length; row += 1) {
    const partner = partnerOf[row] ?? 0
    let isScored = false
    for (const { from, to, tally } of comparedBy[(kindOf[row] ?? 0) - 1] ?? []) {
      const [before, now] = [from.at(partner), to.at(row)]
      if (Number.isNaN(before) || Number.isNaN(now)) continue
      isScored = true
      if (before !== now) addMove(tally, { record: row, a: before, b: now })
    }
    if (isScored) scoredRows += 1
  }
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

function addPlace(b: RunFamily, move: LargestMove | null): ScoreMoves['largest_rise'] {
  if (move === null) return null
  const place = readPlace(b, move.record)
  return { ...move, ...toRowAndRecord(move.record, place), place }
}

function readScores(member: RunView, findings: RowFindings | null): ReadonlyMap<string, RowScores> {
  const columns = findings?.ofJournal(member.file)?.columns
  if (columns?.hasAllClasses === true) return columns.scores
  const scores = new Map<string, RowScores>()
  const last = Number(member.db.prepare('SELECT max(row) AS row FROM found').get()?.['row'] ?? 0)
  for (let above = 0; above < last; above += STEP_ROWS) {
    visitScores(member.db, betweenRows([above, above + STEP_ROWS]), null, (row, className, score) => {
      const own = scores.get(className) ?? new RowScores(last + 1)
      scores.set(className, own)
      own.set(row, score)
    })
  }
  return scores
}

/** A class that both runs have scores of, and what its moves are added to. */
interface ComparedClass {
  from: RowScores
  to: RowScores
  tally: TalliedMoves
}

function matchClasses(
  a: ReadonlyMap<string, RowScores> | undefined,
  b: ReadonlyMap<string, RowScores> | undefined,
  moves: Map<string, TalliedMoves>,
): Record<'fresh' | 'cached', ComparedClass[]> {
  const classes = { fresh: [] as ComparedClass[], cached: [] as ComparedClass[] }
  for (const [name, to] of b ?? []) {
    const from = a?.get(name)
    if (from === undefined) continue
    classes.fresh.push({ from, to, tally: toTally(moves, name, false) })
    classes.cached.push({ from, to, tally: toTally(moves, name, true) })
  }
  return classes
}

/** Without the last digits, which depend on the order in which rows are added up. */
function toMean(sum: number, rows: number): number {
  return Number((sum / rows).toPrecision(9))
}

/** What was found of a class so far: means are sums, and rows are counted by their move. */
type TalliedMoves = Omit<ScoreMoves, 'distribution' | 'largest_rise' | 'largest_fall'> & {
  rows: Map<number, number>
  largest_rise: LargestMove | null
  largest_fall: LargestMove | null
}

type LargestMove = Omit<NonNullable<ScoreMoves['largest_rise']>, 'row' | 'place'>

/** Steps to either side of none. */
const STEPS = 12

/** Moves are counted to three decimals. */
const FINEST = 0.001

/** Moves as a drawing shows them: in even steps to either side of none. */
function toDistribution(rows: ReadonlyMap<number, number>): ScoreMoves['distribution'] {
  const moved = [...rows.keys()]
  const furthest = moved.reduce((most, move) => Math.max(most, Math.abs(move)), FINEST)
  const step = toNiceStep(furthest / STEPS)
  // Scores that are whole numbers move by whole numbers.
  const width = moved.every(Number.isInteger) ? Math.max(1, step) : step
  const steps = new Map<number, number>()
  for (const [move, count] of rows) {
    // What moved little stands next to none, and not with those that did not move.
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
    ...{ from_cache: isCached, rose: 0, fell: 0, mean: 0, mean_absolute: 0 },
    ...{ largest_rise: null, largest_fall: null, class: className, rows: new Map<number, number>() },
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
    if (move > toMove(own.largest_rise)) own.largest_rise = moved
  } else {
    own.fell += 1
    if (move < toMove(own.largest_fall)) own.largest_fall = moved
  }
}

/** As `toFixed(3)` rounds, which takes ten times as long and is needed only where a half may be rounded. */
function roundToThousandths(move: number): number {
  const thousandths = move * 1000
  const nearest = Math.round(thousandths)
  return Math.abs(thousandths - nearest) < 0.499 ? nearest / 1000 : Number(move.toFixed(3))
}

function toMove(found: LargestMove | null): number {
  return found === null ? 0 : found.b - found.a
}
