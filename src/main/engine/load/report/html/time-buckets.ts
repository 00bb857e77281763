import type { LoadSecond } from '../../../../../shared/load/load-report.ts'

/** Points that a chart shows at most. */
const POINTS_MAX = 300

/** Consecutive seconds that a chart shows as one point. */
export interface TimeBucket {
  /** Seconds since measuring began; the end is not in it. */
  fromS: number
  toS: number
  seconds: readonly LoadSecond[]
}

/** Divides seconds into as few points as a chart can show, all of the same length. Seconds may be missing. */
export function toBuckets(seconds: readonly LoadSecond[]): TimeBucket[] {
  const end = (seconds.at(-1)?.second ?? -1) + 1
  const length = Math.max(1, Math.ceil(end / POINTS_MAX))
  const buckets: TimeBucket[] = []
  let at = 0
  for (let fromS = 0; fromS < end; fromS += length) {
    const toS = Math.min(end, fromS + length)
    const from = at
    while ((seconds[at]?.second ?? Infinity) < toS) at += 1
    buckets.push({ fromS, toS, seconds: seconds.slice(from, at) })
  }
  return buckets
}

/** Seconds that each point of a chart stands for. */
export function toBucketLength(buckets: readonly TimeBucket[]): number {
  const [first] = buckets
  return first === undefined ? 1 : first.toS - first.fromS
}

/** The highest value of a bucket; null where none of its seconds has one. */
export function toHighest(
  bucket: TimeBucket,
  read: (second: LoadSecond) => number | null | undefined,
): number | null {
  let highest: number | null = null
  for (const second of bucket.seconds) {
    const value = read(second)
    if (value !== null && value !== undefined && (highest === null || value > highest)) highest = value
  }
  return highest
}

/** The sum of a bucket a second, over all the seconds that it spans. */
export function toPerSecond(bucket: TimeBucket, read: (second: LoadSecond) => number): number {
  return bucket.seconds.reduce((sum, second) => sum + read(second), 0) / (bucket.toS - bucket.fromS)
}
