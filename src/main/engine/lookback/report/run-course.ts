import { decodeHistogram, toPercentiles } from '../../../../shared/load/latency-meter.ts'
import { TREND_METRICS } from '../../../../shared/load/metrics.ts'
import type { CoursePoint, RunCourse } from '../../../../shared/lookback/run-report.ts'
import type { RunView } from '../../journal/run-family.ts'
import { POINTS_MAX } from '../../page/chart-series.ts'
import type { DatabaseSync } from '../../workspace/sqlite.ts'

/** A longer time in which nothing ended is left out as a pause, seconds. */
const PAUSE_MIN_S = 60

/** What stands for a pause, seconds. */
const PAUSE_SHOWN_S = 2

/** Seconds read at once, so that no read stays open. */
const PAGE = 200

/**
 * Reads how a run and its retries went over time, as one course: what waited for a person, such as a retry of the next
 * day, is left out. At most {@link POINTS_MAX} points, whatever the run took.
 */
export function readCourse(members: readonly RunView[]): RunCourse {
  const { places, pauses, endS } = placeSeconds(members)
  const lengthS = Math.max(1, Math.ceil(endS / POINTS_MAX))
  const points: CoursePoint[] = Array.from({ length: Math.ceil(endS / lengthS) }, (_, index) => ({
    ...{ from_s: index * lengthS, to_s: Math.min(endS, (index + 1) * lengthS) },
    ...{ sent: 0, succeeded: 0, rejected: 0, failed: 0, unknown: 0, latency_ms: {}, limited: false },
  }))
  for (const { db } of members) {
    for (const second of readSeconds(db)) {
      const point = points[Math.floor((places.get(Number(second['at'])) ?? 0) / lengthS)]
      if (point !== undefined) addSecond(point, second)
    }
  }
  return { points, pauses }
}

/** Where each second stands in the course, by its Unix time. */
function placeSeconds(members: readonly RunView[]) {
  const times = members.flatMap(({ db }) => db.prepare('SELECT at FROM second').all())
  const places = new Map<number, number>()
  const pauses: RunCourse['pauses'] = []
  let endS = 0
  let last: number | null = null
  for (const at of [...new Set(times.map((row) => Number(row['at'])))].sort((a, b) => a - b)) {
    const idleS: number = last === null ? 0 : at - last - 1
    if (idleS > PAUSE_MIN_S) pauses.push({ after_s: endS, length_s: idleS })
    endS += idleS > PAUSE_MIN_S ? PAUSE_SHOWN_S : idleS
    places.set(at, endS)
    endS += 1
    last = at
  }
  return { places, pauses, endS }
}

function* readSeconds(db: DatabaseSync): Generator<Record<string, unknown>, void, undefined> {
  const page = db.prepare('SELECT * FROM second WHERE at > ? ORDER BY at LIMIT ?')
  let lastAt = 0
  for (let rows = page.all(lastAt, PAGE); rows.length > 0; rows = page.all(lastAt, PAGE)) {
    lastAt = Number(rows.at(-1)?.['at'])
    yield* rows
  }
}

function addSecond(point: CoursePoint, second: Record<string, unknown>): void {
  for (const count of ['sent', 'succeeded', 'rejected', 'failed', 'unknown'] as const) {
    point[count] += Number(second[count])
  }
  if (Number(second['generator_limited']) === 1) point.limited = true
  for (const metric of TREND_METRICS) {
    const encoded = second[metric]
    const percentiles = typeof encoded === 'string' ? toPercentiles(decodeHistogram(encoded)) : null
    if (percentiles === null) continue
    const worst = point.latency_ms[metric]
    if (worst === undefined || percentiles.p99 > worst.p99) point.latency_ms[metric] = percentiles
  }
}
