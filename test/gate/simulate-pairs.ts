import { JUDGED_PERCENTILES, type JudgedRun, judgeSpeed } from '../../src/shared/load/speed-gate.ts'
import { BATCH_COUNT } from '../../src/shared/load/statistics.ts'
import { createDraw } from '../helpers/seeded-draw.ts'

/** How the requests of a simulated service depend on each other. */
export const DEPENDENCES = ['independent', 'bursty', 'drifting'] as const

type Dependence = (typeof DEPENDENCES)[number]

export interface SimulatedService {
  dependence: Dependence
  /** Requests per run. */
  requests: number
  seconds: number
  /** Runs of each side (default: 1). */
  runs?: number
  /** Standard deviation of the logarithm of each run's own factor (default: 0). */
  betweenRuns?: number
}

/** Verdicts on pairs with a true difference, in percent: how many failed, and by which percentile. */
export interface SimulatedShare {
  difference: number
  pairs: number
  failed: number
  notJudged: number
  slower: Record<number, number>
  /** Judged pairs by percentile. */
  judged: Record<number, number>
}

export const MARGIN = 10

type Normal = () => number

/** Normally distributed numbers from a stream, two at a time (G. E. P. Box and M. E. Muller 1958). */
function createNormal(draw: () => number): Normal {
  let kept: number | null = null
  return () => {
    if (kept !== null) {
      const value = kept
      kept = null
      return value
    }
    const radius = Math.sqrt(-2 * Math.log(1 - draw()))
    const angle = 2 * Math.PI * draw()
    kept = radius * Math.sin(angle)
    return radius * Math.cos(angle)
  }
}

/** The latency factor that all requests of a second share, by second. */
function drawLevels(service: SimulatedService, draw: () => number, normal: Normal): number[] {
  const { dependence, seconds } = service
  if (dependence === 'independent') return Array.from({ length: seconds }, () => 1)
  if (dependence === 'bursty') {
    // Bursts cover one second in ten and last two seconds on average; their answers take three times as long.
    let isSlow = draw() < 0.1
    return Array.from({ length: seconds }, () => {
      isSlow = isSlow ? draw() < 0.5 : draw() < 0.5 / 9
      return isSlow ? 3 : 1
    })
  }
  // The logarithm of the level has a standard deviation of 0.1; 0.6 of it carries over to the next second.
  let level = normal()
  return Array.from({ length: seconds }, () => {
    level = 0.6 * level + 0.8 * normal()
    return Math.exp(0.1 * level)
  })
}

/** Latencies of a run in batches, microseconds, each ascending: log-normal around 20 ms. */
function drawBatches(service: SimulatedService, seed: number): Float64Array[] {
  const draw = createDraw(seed)
  const normal = createNormal(draw)
  const { requests, seconds, betweenRuns = 0 } = service
  const ofRun = 20_000 * Math.exp(betweenRuns * normal())
  const perBatch = Math.ceil(seconds / BATCH_COUNT)
  const batches: number[][] = []
  for (const [second, level] of drawLevels(service, draw, normal).entries()) {
    const count = Math.floor(((second + 1) * requests) / seconds) - Math.floor((second * requests) / seconds)
    const index = Math.floor(second / perBatch)
    const batch = batches[index] ?? []
    batches[index] = batch
    for (let i = 0; i < count; i += 1) batch.push(ofRun * level * Math.exp(0.5 * normal()))
  }
  return batches.map((batch) => Float64Array.from(batch).sort())
}

function toRun(service: SimulatedService, batches: readonly Float64Array[], factor: number): JudgedRun {
  const { requests, seconds } = service
  return {
    seconds,
    limitedSeconds: 0,
    requests,
    failed: 0,
    failures: Array.from({ length: seconds }, () => ({ count: requests / seconds, hits: 0 })),
    latencies: {
      http_req_duration: batches.map((batch) => ({
        us: Array.from(batch, (us) => Math.round(us * factor)),
        counts: Array.from(batch, (_, index) => index + 1),
      })),
    },
  }
}

/**
 * Judges pairs of services whose true latencies differ by the given percentages, with the same draws for
 * each.
 */
export function simulatePairs(
  service: SimulatedService,
  { pairs, seed, differences }: { pairs: number; seed: number; differences: readonly number[] },
): SimulatedShare[] {
  const shares = differences.map(
    (difference): SimulatedShare => ({
      difference,
      pairs,
      failed: 0,
      notJudged: 0,
      slower: Object.fromEntries(JUDGED_PERCENTILES.map((percentile) => [percentile, 0])),
      judged: Object.fromEntries(JUDGED_PERCENTILES.map((percentile) => [percentile, 0])),
    }),
  )
  const { runs = 1 } = service
  for (let pair = 0; pair < pairs; pair += 1) {
    const drawSide = (side: number) =>
      Array.from({ length: runs }, (_, run) =>
        drawBatches(service, Math.imul(seed + pair, 0x9e3779b1) + 2 * run + side),
      )
    const [drawnA, drawnB] = [drawSide(0), drawSide(1)]
    const a = drawnA.map((batches) => toRun(service, batches, 1))
    for (const share of shares) {
      const b = drawnB.map((batches) => toRun(service, batches, 1 + share.difference / 100))
      const { result, percentiles } = judgeSpeed(a, b, {
        margin: MARGIN,
        percentiles: JUDGED_PERCENTILES,
        isBrief: true,
      })
      if (result === 'failed') share.failed += 1
      if (result === 'not_judged') share.notJudged += 1
      for (const { percentile, result: found } of percentiles) {
        if (found === 'slower') share.slower[percentile] = (share.slower[percentile] ?? 0) + 1
        if (found !== 'not_judged') share.judged[percentile] = (share.judged[percentile] ?? 0) + 1
      }
    }
  }
  return shares
}
