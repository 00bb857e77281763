import process from 'node:process'
import { parseArgs } from 'node:util'
import { JUDGED_PERCENTILES } from '../../src/shared/load/speed-gate.ts'
import { failsTooOften } from './false-alarms.ts'
import { FAILURES, type SimulatedFailures, simulateFailures } from './simulate-failures.ts'
import {
  DEPENDENCES,
  MARGIN,
  type SimulatedService,
  type SimulatedShare,
  simulatePairs,
} from './simulate-pairs.ts'

/**
 * `npm run test:gate -- PAIRS [--seed FIRST]`: the verdicts of `compare --fail-if-slower` on simulated pairs
 * of services, as shown in docs/compare.md. Exits with 1 if significantly more than 1 % of the pairs within
 * the margin fail.
 */
const { values, positionals } = parseArgs({
  options: { seed: { type: 'string' } },
  allowPositionals: true,
})
const [count = '1000'] = positionals
if (!/^[1-9]\d{0,5}$/.test(count) || !/^\d{1,9}$/.test(values.seed ?? '0')) {
  process.stderr.write('usage: npm run test:gate -- [PAIRS] [--seed FIRST], both whole numbers\n')
  process.exit(2)
}
const pairs = Number(count)
const seed = Number(values.seed ?? '1')
const DIFFERENCES = [0, 5, 10, 15, 20, 30]
const SECONDS = 30

/** Pairs within the margin that failed, by simulation. */
const withinMargin: { name: string; failed: number }[] = []

const toPercent = (n: number) => String(Math.round((1000 * n) / pairs) / 10)

function printHead(first: string): void {
  const columns = [first, ...DIFFERENCES.map((one) => `${one} %`), `any, at ${MARGIN} %`]
  process.stdout.write(`\n| ${columns.join(' | ')} |\n|${columns.map(() => '---|').join('')}\n`)
}

/** A table line: p50 / p95 / p99 of each difference; a dash marks a percentile that cannot be judged. */
function printLine(name: string, shares: readonly SimulatedShare[]): void {
  const cells = shares.map(({ slower, judged }) =>
    JUDGED_PERCENTILES.map((one) => ((judged[one] ?? 0) === 0 ? '–' : toPercent(slower[one] ?? 0))).join(
      ' / ',
    ),
  )
  const atMargin = shares.find(({ difference }) => difference === MARGIN)
  process.stdout.write(`| ${[name, ...cells, toPercent(atMargin?.failed ?? 0)].join(' | ')} |\n`)
}

function simulate(name: string, service: SimulatedService): void {
  const shares = simulatePairs(service, { pairs, seed, differences: DIFFERENCES })
  printLine(name, shares)
  const isDrift = (service.betweenRuns ?? 0) > 0 && service.runs === 1
  if (isDrift) return
  for (const { difference, failed } of shares) {
    if (difference <= MARGIN) withinMargin.push({ name: `${name}, ${difference} %`, failed })
  }
}

process.stdout.write(`${pairs} pairs from seed ${seed}, runs of ${SECONDS} s; % of the pairs that fail\n`)
printHead('requests')
for (const dependence of DEPENDENCES) {
  for (const requests of [500, 2_000, 10_000]) {
    simulate(`${requests.toLocaleString('en')}, ${dependence}`, { dependence, requests, seconds: SECONDS })
  }
}
printHead('runs of each side')
for (const runs of [1, 3, 5]) {
  const service = { dependence: 'independent', requests: 2_000, seconds: SECONDS } as const
  simulate(String(runs), { ...service, runs, betweenRuns: 0.04 })
}

const BREAKS = [
  { seconds: 30, breaksAt: [null, 16, 20, 25] },
  { seconds: 60, breaksAt: [null, 40] },
  { seconds: 300, breaksAt: [null] },
] as const
const cases = BREAKS.flatMap(({ seconds, breaksAt }) => breaksAt.map((at) => ({ seconds, breaksAt: at })))
const titles = cases.map(({ seconds, breaksAt }) =>
  breaksAt === null ? `${seconds} s, equal` : `last ${seconds - breaksAt} of ${seconds} s`,
)

/** A table cell: the share of pairs that fail and the share that cannot be judged. */
function tryFailures(service: SimulatedFailures): string {
  const { failed, notJudged } = simulateFailures(service, { pairs, seed })
  const { failures, seconds, breaksAt } = service
  if (breaksAt === null) withinMargin.push({ name: `failures of both: ${failures}, ${seconds} s`, failed })
  return `${toPercent(failed)} / ${toPercent(notJudged)}`
}

process.stdout.write(`\n| failures of both | ${titles.join(' | ')} |\n|${'---|'.repeat(titles.length + 1)}\n`)
for (const failures of FAILURES) {
  const cells = cases.map((one) => tryFailures({ ...one, failures, rate: 20 }))
  process.stdout.write(`| ${[failures, ...cells].join(' | ')} |\n`)
}
const above = withinMargin.filter(({ failed }) => failed > pairs / 100)
for (const { name, failed } of above) {
  const judged = failsTooOften(failed, pairs) ? 'significantly more' : 'not significantly more'
  process.stdout.write(`\n${name}: ${failed} of ${pairs} failed, ${judged} than 1 %.`)
}
const isCalibrated = !above.some(({ failed }) => failsTooOften(failed, pairs))
const found =
  above.length === 0
    ? 'at most 1 % fail'
    : isCalibrated
      ? 'no more fail than 1 % by chance'
      : 'MORE THAN 1 % FAIL'
process.stdout.write(`\nWithin the margin ${found}.\n`)
process.exitCode = isCalibrated ? 0 : 1
