import { JUDGED_PERCENTILES, type JudgedRun, judgeSpeed } from '../../src/shared/load/speed-gate.ts'
import { createDraw } from '../helpers/seeded-draw.ts'
import { MARGIN } from './simulate-pairs.ts'

/** How requests fail in both services of a pair. */
export const FAILURES = ['none', 'even', 'bursts', 'long bursts'] as const

/** A pair of services that fail alike, except that B may break down. */
export interface SimulatedFailures {
  failures: (typeof FAILURES)[number]
  seconds: number
  /** Requests per second. */
  rate: number
  /** The second from which everything in B fails, counted from 0; null if B equals A. */
  breaksAt: number | null
}

/** The verdicts on the pairs. */
export interface SimulatedFailureShare {
  passed: number
  failed: number
  notJudged: number
}

/**
 * Failed requests by second: 2 % of all, or all requests in bursts, which cover one second in ten and last
 * two seconds on average, or five.
 */
function drawFailures({ failures, seconds, rate }: SimulatedFailures, seed: number): number[] {
  const draw = createDraw(seed)
  const countFailing = (share: number) =>
    Array.from({ length: rate }, draw).filter((one) => one < share).length
  if (failures === 'none') return Array.from({ length: seconds }, () => 0)
  if (failures === 'even') return Array.from({ length: seconds }, () => countFailing(0.02))
  const ends = failures === 'bursts' ? 0.5 : 0.2
  let isFailing = draw() < 0.1
  return Array.from({ length: seconds }, () => {
    isFailing = isFailing ? draw() >= ends : draw() < ends / 9
    return isFailing ? rate : 0
  })
}

function toRun({ seconds, rate }: SimulatedFailures, hits: readonly number[]): JudgedRun {
  return {
    seconds,
    limitedSeconds: 0,
    requests: seconds * rate,
    failed: hits.reduce((sum, one) => sum + one, 0),
    failures: hits.map((one) => ({ count: rate, hits: one })),
    latencies: {},
  }
}

/** Judges the failures of pairs of services. */
export function simulateFailures(
  service: SimulatedFailures,
  { pairs, seed }: { pairs: number; seed: number },
): SimulatedFailureShare {
  const share = { passed: 0, failed: 0, notJudged: 0 }
  for (let pair = 0; pair < pairs; pair += 1) {
    const [a, b] = [0, 1].map((side) => drawFailures(service, Math.imul(seed + pair, 0x9e3779b1) + side)) as [
      number[],
      number[],
    ]
    const broken = b.map((hits, second) => (second >= (service.breaksAt ?? Infinity) ? service.rate : hits))
    const asked = { margin: MARGIN, percentiles: JUDGED_PERCENTILES, isBrief: true } as const
    const { failures } = judgeSpeed([toRun(service, a)], [toRun(service, broken)], asked)
    if (failures.result === 'more') share.failed += 1
    else if (failures.result === 'within') share.passed += 1
    else share.notJudged += 1
  }
  return share
}
