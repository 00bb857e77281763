import type { LoadInput } from '../src/shared/load/load.ts'
import type { LoadBenchResult, LoadBenchTask } from './children/load.ts'
import { runChild } from './lib/child.ts'
import { buildDelayServer, type DelayServer, type Truth } from './lib/delay-server.ts'
import { printTable, toText } from './lib/figures.ts'
import { watchSteal } from './lib/host-steal.ts'
import { listRatePeers, type PeerFigures } from './lib/rate-peers.ts'

/** In less time, p99 at a low rate would rest on a few dozen requests. */
const SECONDS = { 200: 60, 1000: 20, 2000: 20 } as const
const WARMUP_SECONDS = 3
const STALL_SECONDS = 30
const SETTLE_SECONDS = 20

/** A known delay and a rate. */
interface Case {
  name: string
  flags: string[]
  ratePerSecond: keyof typeof SECONDS
}

const CASES: Case[] = ([200, 1_000, 2_000] as const).flatMap((ratePerSecond) => [
  {
    name: `constant 20 ms, ${ratePerSecond}/s`,
    flags: ['-mode', 'constant', '-delay', '20ms'],
    ratePerSecond,
  },
  {
    name: `20 ms, 100 ms one in five, ${ratePerSecond}/s`,
    flags: ['-mode', 'bimodal', '-delay', '20ms', '-slow', '100ms'],
    ratePerSecond,
  },
])

/**
 * Percentiles compared with a service that knows its own delays, and with peers that keep a rate; how evenly
 * requests arrive; and a service that stalls for one second in ten, with room in flight and without. A rate
 * after the bench's name runs only the cases of that rate.
 */
export async function runAccuracyBench(): Promise<void> {
  const only = process.argv[3] === undefined ? null : Number(process.argv[3])
  const builder = buildDelayServer()
  try {
    await settle(builder)
    for (const one of CASES.filter(({ ratePerSecond }) => only === null || ratePerSecond === only)) {
      const server = await builder.start(one.flags)
      try {
        await runCase(one, server)
      } finally {
        server.close()
      }
    }
    if (only !== null) return
    await runStall(builder, null)
    await runStall(builder, 8)
  } finally {
    builder.remove()
  }
}

/** A build keeps the machine busy for a while afterwards, which would affect the first case. */
async function settle(builder: ReturnType<typeof buildDelayServer>): Promise<void> {
  const server = await builder.start(['-mode', 'constant', '-delay', '20ms'])
  try {
    const pace = { kind: 'open', ratePerSecond: 1_000 } as const
    await runLoad(server.baseUrl, { pace, durationMs: SETTLE_SECONDS * 1000 })
  } finally {
    server.close()
  }
}

async function runCase({ name, ratePerSecond }: Case, server: DelayServer): Promise<void> {
  const seconds = SECONDS[ratePerSecond]
  console.log(`\n${name}, ${seconds} s`)
  const rows = [['', 'count', 'p50', 'p90', 'p99', 'max', 'truth p50', 'p90', 'p99']]
  const add = (label: string, figures: PeerFigures, truth: Truth) =>
    rows.push([
      label,
      toText(figures.count),
      ...[figures.p50, figures.p90, figures.p99, figures.max].map((ms) => toText(ms, 2)),
      ...[truth.p50, truth.p90, truth.p99].map((ms) => toText(ms, 2)),
    ])
  await server.reset()
  const readSteal = watchSteal()
  const result = await runLoad(server.baseUrl, {
    pace: { kind: 'open', ratePerSecond },
    durationMs: seconds * 1000,
    warmupMs: WARMUP_SECONDS * 1000,
  })
  const steal = readSteal()
  const truth = await server.truth()
  const { http_req_duration: duration, start_lag: lag } = result.summary.latency_ms
  if (duration !== undefined) add('sluice', { ...duration, count: duration.count }, truth)
  for (const peer of listRatePeers()) {
    await server.reset()
    const figures = peer.run({ url: server.baseUrl, ratePerSecond, seconds })
    add(peer.name, figures, await server.truth())
  }
  printTable(rows)
  printSlots(truth, { ratePerSecond, seconds }, result)
  console.log(
    `start lag p50 ${toText(lag?.p50 ?? 0, 2)} p99 ${toText(lag?.p99 ?? 0, 2)} ms; ` +
      `generator-limited seconds: ${result.limitedSeconds}` +
      (steal === null ? '' : `; taken by the machine's host: ${toText(100 * steal, 1)} % of its processors`),
  )
}

/** How evenly requests arrived at the service, without the warm-up and the last, partial slot. */
function printSlots(
  truth: Truth,
  { ratePerSecond, seconds }: { ratePerSecond: number; seconds: number },
  { limitedSeconds }: LoadBenchResult,
): void {
  const expected = ratePerSecond / 10
  const slots = truth.slots.slice(WARMUP_SECONDS * 10, WARMUP_SECONDS * 10 + seconds * 10 - 1)
  const off = slots.map((n) => Math.abs(n - expected) / expected).sort((a, b) => b - a)
  const within = off.filter((share) => share <= 0.15).length
  console.log(
    `arrivals: ${toText((100 * within) / off.length, 1)} % of ${off.length} slots of 100 ms within 15 % of ${expected}, ` +
      `the worst ${toText(100 * (off[0] ?? 0), 1)} % off (${limitedSeconds} limited seconds included)`,
  )
}

async function runStall(
  builder: ReturnType<typeof buildDelayServer>,
  maxInFlight: number | null,
): Promise<void> {
  const room = maxInFlight === null ? 'room in flight' : `at most ${maxInFlight} in flight`
  console.log(`\nservice stands still 1 s in 10, 200/s, ${STALL_SECONDS} s, ${room}`)
  const server = await builder.start(['-mode', 'stall', '-delay', '20ms'])
  try {
    await server.reset()
    const { summary } = await runLoad(server.baseUrl, {
      pace: { kind: 'open', ratePerSecond: 200 },
      durationMs: STALL_SECONDS * 1000,
      ...(maxInFlight === null ? {} : { maxInFlight }),
    })
    // One arrival in ten hits a stall and waits uniformly from 0 to its whole length, so p99 waits 0.9 of it.
    const implied = { p50: 20, p90: 20, p99: 920, max: 1_020 }
    const rows = [['', 'p50', 'p90', 'p99', 'max']]
    for (const series of ['http_req_duration', 'response_time', 'start_lag'] as const) {
      const ms = summary.latency_ms[series]
      rows.push([series, ...[ms?.p50, ms?.p90, ms?.p99, ms?.max].map((value) => toText(value ?? 0, 1))])
    }
    rows.push(['implied by the schedule', ...Object.values(implied).map((ms) => toText(ms, 1))])
    printTable(rows)
  } finally {
    server.close()
  }
}

async function runLoad(url: string, load: LoadInput): Promise<LoadBenchResult> {
  const task: LoadBenchTask = { url, load, rows: 1_000 }
  return (await runChild<LoadBenchResult>('load', task)).value
}
