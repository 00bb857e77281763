import { toNiceStep } from '../../../shared/load/chart-scale.ts'
import type { ScoreMoves } from '../../../shared/lookback/comparison.ts'
import type { RunFamily, RunView } from '../journal/run-family.ts'
import { attachJournal, type PairedRows } from './paired-rows.ts'

/** Rows of B whose scores are compared in one statement. */
const STEP_ROWS = 20_000

/** How the scores of each class moved on the rows that both runs decided, those with an answer from the cache apart. */
export function compareScores(a: RunFamily, b: RunFamily, { db }: PairedRows): ScoreMoves[] {
  const moves = new Map<string, TalliedMoves>()
  const last = Number(db.prepare('SELECT max(b_row) AS id FROM pair').get()?.['id'] ?? 0)
  for (const [aIndex, aMember] of a.members.entries()) {
    withJournal(db, 'ja', aMember, () => {
      for (const [bIndex, bMember] of b.members.entries()) {
        withJournal(db, 'jb', bMember, () => {
          const addStep = prepareSteps(db, `a_member = ${aIndex} AND b_member = ${bIndex}`, moves)
          for (let after = 0; after < last; after += STEP_ROWS) addStep(after)
        })
      }
    })
  }
  return [...moves.values()]
    .map(({ rows, ...own }) => {
      const moved = own.rose + own.fell
      return {
        ...own,
        distribution: toDistribution(rows),
        mean: own.mean / moved,
        mean_absolute: own.mean_absolute / moved,
      }
    })
    .sort(
      (x, y) =>
        Number(x.from_cache) - Number(y.from_cache) ||
        y.mean_absolute - x.mean_absolute ||
        (x.class < y.class ? -1 : 1),
    )
}

/** The pairs are kept for further questions, so the journal is detached also where one fails. */
function withJournal(db: PairedRows['db'], name: string, view: RunView, work: () => void): void {
  attachJournal(db, name, view)
  try {
    work()
  } finally {
    db.exec(`DETACH ${name}`)
  }
}

/** What was found of a class so far: means are sums, and rows are counted by their move. */
type TalliedMoves = Omit<ScoreMoves, 'distribution'> & { rows: Map<number, number> }

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

/** A function that adds the rows of B after a number; means are sums until all are added. */
function prepareSteps(
  db: PairedRows['db'],
  members: string,
  moves: Map<string, TalliedMoves>,
): (after: number) => void {
  const from = `FROM pair CROSS JOIN ja.row_class AS x ON x.row = a_row
    CROSS JOIN jb.row_class AS y ON y.row = b_row AND y.class = x.class
    WHERE b_row > ? AND b_row <= ? AND is_decided AND y.score <> x.score AND ${members}`
  const sums = db.prepare(
    `SELECT x.class AS class, is_cached, sum(y.score > x.score) AS rose, sum(y.score < x.score) AS fell,
     sum(y.score - x.score) AS moved, sum(abs(y.score - x.score)) AS distance,
     max(y.score - x.score) AS rise, min(y.score - x.score) AS fall,
     round(y.score - x.score, 3) AS move, count(*) AS rows ${from} GROUP BY x.class, is_cached, move`,
  )
  const find = db.prepare(
    `SELECT b_row, x.score AS a, y.score AS b ${from} AND x.class = ? AND is_cached = ? AND y.score - x.score = ? LIMIT 1`,
  )
  return (after) => {
    // The rows of the largest moves are looked up once all moves of the step are known, for that reads its rows again.
    const largest = new Map<string, { isCached: boolean; rise: number; fall: number }>()
    for (const step of sums.all(after, after + STEP_ROWS)) {
      const className = String(step['class'])
      const isCached = step['is_cached'] === 1
      const key = `${isCached} ${className}`
      const own = moves.get(key) ?? { ...NOTHING, class: className, rows: new Map<number, number>() }
      const move = Number(step['move'])
      own.rows.set(move, (own.rows.get(move) ?? 0) + Number(step['rows']))
      moves.set(key, {
        ...own,
        from_cache: isCached,
        rose: own.rose + Number(step['rose']),
        fell: own.fell + Number(step['fell']),
        mean: own.mean + Number(step['moved']),
        mean_absolute: own.mean_absolute + Number(step['distance']),
      })
      const { rise, fall } = largest.get(key) ?? { rise: 0, fall: 0 }
      largest.set(key, {
        isCached,
        rise: Math.max(rise, Number(step['rise'])),
        fall: Math.min(fall, Number(step['fall'])),
      })
    }
    for (const [key, { isCached, rise, fall }] of largest) {
      const own = moves.get(key)
      if (own === undefined) continue
      const findMove = (move: number) => {
        const found = find.get(after, after + STEP_ROWS, own.class, Number(isCached), move)
        return { row: Number(found?.['b_row']), a: Number(found?.['a']), b: Number(found?.['b']) }
      }
      if (rise > toMove(own.largest_rise)) own.largest_rise = findMove(rise)
      if (fall < toMove(own.largest_fall)) own.largest_fall = findMove(fall)
    }
  }
}

const NOTHING = {
  from_cache: false,
  rose: 0,
  fell: 0,
  mean: 0,
  mean_absolute: 0,
  largest_rise: null,
  largest_fall: null,
}

function toMove(found: ScoreMoves['largest_rise']): number {
  return found === null ? 0 : found.b - found.a
}
