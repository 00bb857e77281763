import { formatPoints } from '../lookback/comparison-text.ts'
import { formatCounted, formatFigure, formatMs, formatShare } from '../messages/figure-text.ts'
import { type PlanDifference, sayPlanDifference } from '../plan/plan-differences.ts'
import type {
  ComparedRun,
  LoadComparison,
  PercentileComparison,
  RunLetters,
  SeriesComparison,
  Verdict,
} from './load-comparison.ts'

/** A compared run's letter by its position: `A`, `B`, `C`. */
export function toRunLetter(index: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + index)
}

/** The percentiles that runs are compared by, each with its name in reports. */
export const COMPARED_PERCENTILES = [
  [50, 'p50'],
  [90, 'p90'],
  [95, 'p95'],
  [99, 'p99'],
  [99.9, 'p99_9'],
] as const

/** A percentile's short name: `p50`, `p99.9`. */
export function formatPercentileName(percentile: number): string {
  return `p${percentile}`
}

/** Whether B is slower in one series, and by how much at the percentile that shows it best. */
export function describeSeries(
  { metric, percentiles, verdict }: Omit<SeriesComparison, 'sentence'>,
  letters: RunLetters,
): string {
  const [a, b] = letters
  const name = metric === 'http_req_duration' ? '' : ` by ${metric}`
  if (verdict === 'alike') {
    return describeAlike(name, percentiles, letters)
  }
  if (verdict === 'unclear') {
    const median = pick(percentiles, 50)
    const tail = pick(percentiles, 99)
    return `It is unclear whether ${b} is slower or faster than ${a}${name}: ${describeRatio(median, a)}, ${describeRatio(tail, a)}. Run longer to find out.`
  }
  const shown = (wanted: string) => percentiles.filter((one) => one.verdict === wanted)
  const list = (wanted: string) => {
    const found = shown(wanted)
    const most = found.reduce((best, one) => (distance(one) > distance(best) ? one : best))
    const where = found.length === percentiles.length ? 'at every percentile' : `at ${listNames(found)}`
    return `${wanted} than ${a}${name} ${where}, most at ${describeRatio(most, a)}`
  }
  return verdict === 'mixed'
    ? `${b} is ${list('slower')}; it is ${list('faster')}.`
    : `${b} is ${list(verdict)}.`
}

/** For runs with known percentiles only: how much these differ, which may be chance. */
export function describePercentiles(
  { metric, percentiles }: Omit<SeriesComparison, 'sentence'>,
  [a, b]: RunLetters,
): string {
  const name = metric === 'http_req_duration' ? '' : ` (${metric})`
  const shown = percentiles.map(
    ({ percentile, aMs, bMs, ratio }) =>
      `${formatPercentileName(percentile)} at ${ratio.toFixed(2)} times ${a}'s (${formatMs(bMs)} after ${formatMs(aMs)})`,
  )
  return `${b} has ${joinWords(shown)}${name}. One of the runs has only percentiles, so the confidence is unknown.`
}

function describeAlike(
  name: string,
  percentiles: readonly PercentileComparison[],
  [a, b]: RunLetters,
): string {
  const alike = percentiles.filter((one) => one.verdict === 'alike')
  const unclear = percentiles.filter((one) => one.verdict === 'unclear')
  const where = unclear.length === 0 ? '' : ` at ${listNames(alike)}`
  const rest = unclear.length === 0 ? '' : ` At ${listNames(unclear)} it is unclear; run longer to find out.`
  const shown = alike.filter((_, index) => index === 0 || index === alike.length - 1)
  return `${b} is as fast as ${a}${name}${where}: ${shown.map((one) => describeRatio(one, a)).join(', ')}.${rest}`
}

/** The common verdict of a series' percentiles. */
export function summarizeVerdicts(percentiles: readonly PercentileComparison[]): Verdict | 'mixed' {
  const has = (verdict: Verdict) => percentiles.some((one) => one.verdict === verdict)
  if (has('slower') && has('faster')) return 'mixed'
  if (has('slower')) return 'slower'
  if (has('faster')) return 'faster'
  // The tail is rarely known well enough; the sentence says up to which percentile they are alike.
  return percentiles[0]?.verdict === 'alike' ? 'alike' : 'unclear'
}

function listNames(percentiles: readonly PercentileComparison[]): string {
  return joinWords(percentiles.map(({ percentile }) => formatPercentileName(percentile)))
}

function distance({ ratio }: PercentileComparison): number {
  return Math.abs(Math.log(ratio))
}

function pick(percentiles: readonly PercentileComparison[], wanted: number): PercentileComparison {
  const found = percentiles.find(({ percentile }) => percentile === wanted)
  if (found === undefined) throw new Error(`p${wanted} is always compared`)
  return found
}

/** `p99 at 1.42 times A's (612 ms after 431 ms; 1.35 to 1.49 for sure)`. */
function describeRatio({ percentile, aMs, bMs, ratio, low, high }: PercentileComparison, a: string): string {
  const range = formatRange(low, high, (bound) => bound.toFixed(2)) ?? 'no bounds known'
  return `${formatPercentileName(percentile)} at ${ratio.toFixed(2)} times ${a}'s (${formatMs(bMs)} after ${formatMs(aMs)}; ${range} with 99 % confidence)`
}

/** A range between bounds, `1.35 to 1.49` or `at least 1.35`; null if no bound is known. */
export function formatRange(
  low: number | null,
  high: number | null,
  format: (bound: number) => string,
): string | null {
  if (low !== null && high !== null) return `${format(low)} to ${format(high)}`
  if (low !== null) return `at least ${format(low)}`
  return high === null ? null : `at most ${format(high)}`
}

/** `p50, p90 and p99`. */
export function joinWords(words: readonly string[]): string {
  if (words.length < 2) return words.join('')
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

/** Says, without a full stop, that latencies of these runs may not be the service's alone. */
export function describeLimited(limited: readonly string[]): string {
  return `Latencies of ${joinWords(limited)} may include delays of this machine`
}

/** Above this share of failures, latencies are mostly those of failures. */
export const FAILING_SHARE = 0.5
const FAILING = 'Most requests of a run did not succeed, so its latencies are mostly those of failures.'

/** Whether most requests of one of the runs did not succeed. */
export function isMostlyFailed({ a, b }: LoadComparison['failedShare']): boolean {
  return Math.max(a, b) > FAILING_SHARE
}

/** A comparison in plain sentences, with its caveats. */
export function describeComparison(
  comparison: Omit<LoadComparison, 'sentence' | 'caveats' | 'limited'>,
  runs: readonly [a: ComparedRun, b: ComparedRun],
  letters: RunLetters,
): Pick<LoadComparison, 'sentence' | 'caveats' | 'limited'> {
  const limited = runs.flatMap(({ generatorLimited }, index) =>
    generatorLimited ? [letters[index === 0 ? 0 : 1]] : [],
  )
  const isFailing = isMostlyFailed(comparison.failedShare)
  const sentences = [
    ...(isFailing ? [FAILING] : []),
    ...(limited.length === 0 && !isFailing
      ? describeSpeed(comparison)
      : (describeSure(comparison, isFailing, letters) ?? describeUnclear(comparison, letters))),
    ...describeFailed(comparison, letters),
    ...(limited.length === 0 ? describeThroughput(comparison, letters) : []),
  ]
  return { sentence: sentences.join(' '), caveats: listCaveats(comparison, runs, letters), limited }
}

function describeSpeed({ series }: Pick<LoadComparison, 'series'>): string[] {
  const duration = series.find(({ metric }) => metric === 'http_req_duration')
  const scheduled = series.find(({ metric }) => metric === 'response_time')
  return [
    duration?.sentence ?? 'There is no latency that both runs measured.',
    // Only response_time includes waiting for a free place in flight.
    ...(scheduled !== undefined && scheduled.verdict !== duration?.verdict ? [scheduled.sentence] : []),
  ]
}

/** What is certain about the service despite any delay of this machine; null if nothing is. */
function describeSure(
  { series }: Pick<LoadComparison, 'series'>,
  isFailing: boolean,
  letters: RunLetters,
): string[] | null {
  const duration = series.find(({ metric }) => metric === 'http_req_duration')
  if (isFailing || duration === undefined) return null
  const percentiles = duration.percentiles.map((one) =>
    one.mayBeOwn ? { ...one, verdict: 'unclear' as const } : one,
  )
  const verdict = summarizeVerdicts(percentiles)
  if (verdict === 'unclear') return null
  return [
    describeSeries({ ...duration, percentiles, verdict }, letters),
    'Delays of this machine are too short to explain that.',
  ]
}

/** Says what was measured, but not that the service is slower or faster: this machine may have caused it. */
function describeUnclear({ series }: Pick<LoadComparison, 'series'>, [a, b]: RunLetters): string[] {
  const duration = series.find(({ metric }) => metric === 'http_req_duration')
  const measured = [50, 99].flatMap((wanted) => {
    const found = duration?.percentiles.find(({ percentile }) => percentile === wanted)
    return found === undefined ? [] : [describeRatio(found, a)]
  })
  return [
    'It is unclear whether the service is slower or faster.',
    ...(measured.length === 0 ? [] : [`Measured for ${b}: ${measured.join(', ')}.`]),
  ]
}

function describeFailed(
  { failedShare: { a, b, low, high } }: Pick<LoadComparison, 'failedShare'>,
  [, name]: RunLetters,
): string[] {
  if (low === null || high === null || (low <= 0 && high >= 0)) return []
  const direction = low > 0 ? 'more' : 'fewer'
  return [
    `${name} has ${direction} requests that did not succeed: ${formatShare(b)} after ${formatShare(a)} (a difference of ${formatPoints(low)} to ${formatPoints(high)} points).`,
  ]
}

function describeThroughput(
  { succeededPerS: { a, b, low, high } }: Pick<LoadComparison, 'succeededPerS'>,
  [, name]: RunLetters,
): string[] {
  if (low === null || high === null || (low <= 0 && high >= 0)) return []
  return [
    `${name} has ${low > 0 ? 'more' : 'less'} throughput: ${formatFigure(b)} after ${formatFigure(a)} succeeded requests a second.`,
  ]
}

function nameSettings(differences: readonly PlanDifference[]): string {
  return joinWords([...new Set(differences.map((one) => sayPlanDifference(one).setting))])
}

function listCaveats(
  { series, planDifferences }: Pick<LoadComparison, 'series' | 'planDifferences'>,
  runs: readonly [ComparedRun, ComparedRun],
  letters: RunLetters,
): string[] {
  const caveats: string[] = []
  if (planDifferences.length > 0) {
    caveats.push(
      `The plans differ in ${nameSettings(planDifferences)}: what differs below may come from that.`,
    )
  }
  for (const [index, run] of runs.entries()) {
    const name = letters[index === 0 ? 0 : 1]
    const { ownDifferences = [] } = run
    if (ownDifferences.length > 0) {
      caveats.push(`The plans of the runs of ${name} differ in ${nameSettings(ownDifferences)}.`)
    }
    if (run.state !== 'whole') {
      const how = run.state === 'going' ? 'is still running' : 'ended early'
      caveats.push(`${name} ${how}: it measured ${formatFigure(run.durationS)} s.`)
    }
    if (run.silence !== undefined)
      caveats.push(`In ${name}: ${run.silence}. Percentiles may hardly show this.`)
    if (run.dropped > 0) {
      caveats.push(`${name} dropped ${formatCounted(run.dropped, 'request')}, which are in no percentile.`)
    }
    if (run.missingCallbacks > 0) {
      caveats.push(
        `${name} lacks ${formatCounted(run.missingCallbacks, 'callback')}, which did not arrive and are in no percentile.`,
      )
    }
    if (run.fromCache > 0) {
      caveats.push(
        `${name} has ${formatCounted(run.fromCache, 'answer')} from the service's cache, with the latency of the cache.`,
      )
    }
  }
  if (series.some(({ isBatched }) => !isBatched)) {
    caveats.push(
      'Only whole distributions were known of some latencies, so requests were taken as independent; the true ranges are wider.',
    )
  }
  return caveats
}
