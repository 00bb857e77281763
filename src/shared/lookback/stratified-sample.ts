import { z } from 'zod'
import { problemCodeSchema } from '../run/problem.ts'
import { writtenRowsSchema } from '../run/written-rows.ts'
import type { Random } from './seeded-random.ts'

/** `proportional`: from each stratum its share of the rows. `equal`: as many rows from each stratum. */
export const ALLOCATIONS = ['proportional', 'equal'] as const

export type Allocation = (typeof ALLOCATIONS)[number]

/**
 * How many rows to draw from each stratum, given its number of rows: `size` in total, or every row if there
 * are fewer. The others share the part that an exhausted stratum cannot use. Each stratum with rows gets at
 * least two if possible, since a single row does not show how its rows differ.
 */
export function allocate(sizes: readonly number[], size: number, allocation: Allocation): number[] {
  const least = sizes.map((rows) => Math.min(rows, 2))
  const taken = least.reduce((sum, rows) => sum + rows, 0) <= size ? least : sizes.map(() => 0)
  const shareOf = (stratum: number) => (allocation === 'equal' ? 1 : (sizes[stratum] ?? 0))
  const wanted = Math.min(
    size,
    sizes.reduce((sum, rows) => sum + rows, 0),
  )
  let left = wanted - taken.reduce((sum, rows) => sum + rows, 0)
  // Each further row goes to the stratum that is furthest behind its share.
  for (; left > 0; left -= 1) {
    let next = -1
    let furthest = Number.POSITIVE_INFINITY
    for (const [stratum, rows] of sizes.entries()) {
      const own = taken[stratum] ?? 0
      if (own >= rows || shareOf(stratum) === 0) continue
      const filled = (own + 0.5) / shareOf(stratum)
      if (filled < furthest) [next, furthest] = [stratum, filled]
    }
    if (next === -1) break
    taken[next] = (taken[next] ?? 0) + 1
  }
  return taken
}

/**
 * Draws rows without replacement, with equal probability within a stratum (D. E. Knuth, The Art of Computer
 * Programming, volume 2, algorithm S). `strata` has the stratum of each row; returns positions, ascending.
 */
export function drawRows(
  strata: ArrayLike<number>,
  sizes: readonly number[],
  allocation: readonly number[],
  random: Random,
): number[] {
  const left = [...sizes]
  const wanted = [...allocation]
  const drawn: number[] = []
  for (let at = 0; at < strata.length; at += 1) {
    const stratum = strata[at] ?? 0
    const rest = left[stratum] ?? 0
    left[stratum] = rest - 1
    if (random() * rest >= (wanted[stratum] ?? 0)) continue
    wanted[stratum] = (wanted[stratum] ?? 0) - 1
    drawn.push(at)
  }
  return drawn
}

export interface SampleOptions {
  /** Rows to draw; all if there are fewer. */
  size: number
  /**
   * What to group rows by: a column or, for a run, also `rule`, `score-band` or `score-band:CLASS`; null
   * draws from all rows alike.
   */
  by: string | null
  allocation: Allocation
  /** A whole number of 32 bits; the same seed draws the same rows. */
  seed: number
  /** The file to write: .csv, .xlsx, .jsonl or .parquet. */
  file: string
}

export const sampleSchema = writtenRowsSchema.extend({
  seed: z.int(),
  /** Most rows first. */
  strata: z.array(z.object({ stratum: z.string(), rows: z.int(), drawn: z.int() })),
  /** Warnings about rows drawn from a source, which their file no longer shows; absent if there are none. */
  warnings: z
    .array(z.object({ code: problemCodeSchema, message: z.string(), rows: z.int() }))
    .exactOptional(),
})

/** What `sample --json` prints. */
export type Sample = z.infer<typeof sampleSchema>
