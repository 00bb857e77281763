import { type Cumulative, countUpTo, toBetaShare, toNormalQuantile, toStudentTail } from './statistics.ts'

/**
 * Whether requests of B exceed a limit more often than requests of A, by more than chance explains.
 *
 * For a quantile, the limit of A is its own quantile, and the limit of B is what a quantile of B may be. If
 * B's true quantile is just allowed, both sides exceed equally often. The exceeding requests then divide
 * binomially among the sides, whatever the distribution (precedence test: N. Balakrishnan and H. K. T. Ng,
 * Precedence-Type Tests and Applications, 2006). For failures, a request exceeds if it failed.
 *
 * This holds for independent requests. Requests that are close in time are slow together, so they count as
 * fewer. Their number is divided by the design effect: the variance of the difference of the two shares,
 * divided by the variance for independent requests. It is the largest of those for batches of consecutive
 * seconds, taken one, two and three at a time, and for whole runs if each side has several. How much of a
 * batch carries over to the next is estimated too, without its bias (F. H. C. Marriott and J. A. Pope 1954,
 * Biometrika 41:390–402), and makes batches count as fewer. A few batches estimate a variance badly, so
 * Student's distribution with Welch's degrees of freedom (B. L. Welch 1947, Biometrika 34:28–35) enlarges it.
 */

/** Requests of a batch of consecutive seconds, and how many of them exceed. */
export interface Exceeding {
  count: number
  hits: number
}

/** The batches of each run of a side, in chronological order. */
export type BatchesOfRuns<Batch> = readonly (readonly Batch[])[]

/** How many batches are merged, to detect dependence that lasts longer than one batch. */
const BATCHES_TOGETHER = [1, 2, 3]

/** The value in microseconds that this share of all requests does not exceed. */
export function toQuantileUs(runs: BatchesOfRuns<Cumulative>, share: number): number {
  const batches = runs.flat()
  const total = batches.reduce((sum, { counts }) => sum + (counts.at(-1) ?? 0), 0)
  const rank = Math.max(1, Math.ceil(share * total))
  let [from, to] = [0, Math.max(0, ...batches.map(({ us }) => us.at(-1) ?? 0))]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    if (batches.reduce((sum, batch) => sum + countUpTo(batch, middle), 0) >= rank) to = middle
    else from = middle + 1
  }
  return from
}

/** How many requests of each batch take longer than a limit in microseconds. */
export function countAbove(runs: BatchesOfRuns<Cumulative>, limitUs: number): Exceeding[][] {
  return runs.map((batches) =>
    batches.map((batch) => {
      const count = batch.counts.at(-1) ?? 0
      return { count, hits: count - countUpTo(batch, limitUs) }
    }),
  )
}

/**
 * The probability that chance alone makes B exceed so much more often than A. Valid only for a comparison
 * with `level`, since the correction for few batches depends on it. `batchesMin`: with fewer batches on a
 * side, requests count as independent.
 */
export function toExcessChance(
  a: BatchesOfRuns<Exceeding>,
  b: BatchesOfRuns<Exceeding>,
  { level, batchesMin }: { level: number; batchesMin: number },
): number {
  const [sumA, sumB] = [addUp(a.flat()), addUp(b.flat())]
  if (sumA.count === 0 || sumB.hits * sumA.count <= sumA.hits * sumB.count) return 1
  const count = sumA.count + sumB.count
  const hits = sumA.hits + sumB.hits
  // A sample of a finite whole varies less the more of the whole it is; all of the whole varies not at all.
  const unseen = Math.max(1 / count, 1 - hits / count)
  const counted = 1 / (toDesignEffect(a, b, { level, batchesMin }) * unseen)
  return toBetaShare(sumB.count / count, counted * sumB.hits, counted * sumA.hits + 1)
}

/** How many requests count as one independent request, at least 1. */
function toDesignEffect(
  a: BatchesOfRuns<Exceeding>,
  b: BatchesOfRuns<Exceeding>,
  { level, batchesMin }: { level: number; batchesMin: number },
): number {
  const [sumA, sumB] = [addUp(a.flat()), addUp(b.flat())]
  const share = (sumA.hits + sumB.hits) / (sumA.count + sumB.count)
  const independent = share * (1 - share) * (1 / sumA.count + 1 / sumB.count)
  const ofBatches = BATCHES_TOGETHER.map((together) => {
    const [left = [], right = []] = [a, b].map((runs) => runs.map((run) => takeTogether(run, together)))
    if (Math.min(left.flat().length, right.flat().length) < batchesMin) return 0
    const carried = together === 1 ? toCarried([...left, ...right]) : 0
    return toPaidVariance(left.flat(), right.flat(), level, carried)
  })
  const isRepeated = Math.min(a.length, b.length) > 1
  const ofRuns = isRepeated ? toPaidVariance(a.map(addUp), b.map(addUp), level, 0) : 0
  return Math.max(1, Math.max(...ofBatches, ofRuns) / independent)
}

/**
 * The variance of the difference of two shares, estimated from how each varies among its parts, and corrected
 * for having few parts. `carried` is how much of each part carries over to the next.
 */
function toPaidVariance(
  a: readonly Exceeding[],
  b: readonly Exceeding[],
  level: number,
  carried: number,
): number {
  const [left, right] = [toVariance(a), toVariance(b)]
  const variance = left + right
  if (variance === 0) return 0
  const fewer = (1 - carried) / (1 + carried)
  const welch = variance ** 2 / (left ** 2 / (a.length - 1) + right ** 2 / (b.length - 1))
  const student = toStudentTail(level, Math.max(1, welch * fewer))
  return (variance / fewer) * (student / toNormalQuantile(1 - level)) ** 2
}

/** The bias-corrected autocorrelation between consecutive batches of a run; at least 0. */
function toCarried(runs: BatchesOfRuns<Exceeding>): number {
  let [products, squares, count] = [0, 0, 0]
  for (const run of runs) {
    const sum = addUp(run)
    const off = run.map((batch) => batch.hits - (sum.hits / sum.count) * batch.count)
    squares += off.reduce((total, value) => total + value * value, 0)
    products += off.reduce((total, value, index) => total + value * (off[index - 1] ?? 0), 0)
    count += run.length
  }
  if (squares === 0) return 0
  const length = count / runs.length
  const raw = products / squares
  const unbiased = Math.max(0, length > 3 ? (raw * length + 1) / (length - 3) : raw)
  return Math.min(CARRIED_MAX, unbiased + Math.sqrt(Math.max(0, 1 - unbiased ** 2) / count))
}

/** More autocorrelation than this cannot be told from a trend. */
const CARRIED_MAX = 0.9

/** The variance of a share, from how it varies among parts. */
function toVariance(parts: readonly Exceeding[]): number {
  const { count, hits } = addUp(parts)
  const squares = parts.reduce((sum, part) => sum + (part.hits - (hits / count) * part.count) ** 2, 0)
  return ((parts.length / (parts.length - 1)) * squares) / count ** 2
}

/** Merges neighbours in groups of `together`; the rest at the end joins the last group. */
function takeTogether(batches: readonly Exceeding[], together: number): Exceeding[] {
  const parts = Math.floor(batches.length / together)
  return Array.from({ length: parts }, (_, index) =>
    addUp(batches.slice(index * together, index === parts - 1 ? undefined : (index + 1) * together)),
  )
}

function addUp(parts: readonly Exceeding[]): Exceeding {
  let [count, hits] = [0, 0]
  for (const part of parts) {
    count += part.count
    hits += part.hits
  }
  return { count, hits }
}
