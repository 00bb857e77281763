import { type ChildProcess, spawn } from 'node:child_process'
import type { LoadInput } from '../src/shared/load/load.ts'
import type { LoadBenchResult, LoadBenchTask } from './children/load.ts'
import { runChild } from './lib/child.ts'
import { buildDelayServer, type DelayServer } from './lib/delay-server.ts'
import { printTable, toText } from './lib/figures.ts'

const RATES = [200, 1_000] as const
const SECONDS = 30
const WARMUP_SECONDS = 3
const BUSY_LOOPS = 2
const PERCENTILES = [
  ['p50', 0.5],
  ['p90', 0.9],
  ['p99', 0.99],
] as const
/** A figure is wrong if it is off by more than both. */
const OFF_SHARE = 0.1
const OFF_MS = 1

type Second = LoadBenchResult['seconds'][number]

/**
 * Whether seconds that are generator-limited have wrong figures, and others right ones: held against a service that knows
 * its own delays, on the machine as it is and beside two processes that do nothing but take its cores.
 */
export async function runLimitsBench(): Promise<void> {
  const builder = buildDelayServer()
  const rows = [['', 'seconds', 'flagged', 'of these wrong', 'not flagged', 'of these wrong']]
  try {
    for (const busy of [0, BUSY_LOOPS]) {
      for (const delay of ['5ms', '20ms', '100ms']) {
        for (const rate of RATES) {
          const loops = Array.from({ length: busy }, startBusyLoop)
          const server = await builder.start(['-mode', 'constant', '-delay', delay])
          try {
            const judged = await judgeSeconds(server, rate)
            const label = `${delay}, ${rate}/s${busy === 0 ? '' : `, ${busy} busy loops`}`
            rows.push([label, toText(judged.length), ...count(judged, true), ...count(judged, false)])
          } finally {
            server.close()
            for (const loop of loops) loop.kill()
          }
        }
      }
    }
  } finally {
    builder.remove()
  }
  printTable(rows)
}

function startBusyLoop(): ChildProcess {
  return spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' })
}

interface JudgedSecond {
  limited: boolean
  isWrong: boolean
}

function count(judged: readonly JudgedSecond[], limited: boolean): [all: string, wrong: string] {
  const own = judged.filter((second) => second.limited === limited)
  const wrong = own.filter(({ isWrong }) => isWrong).length
  return [
    toText(own.length),
    own.length === 0 ? '-' : `${wrong} (${toText((100 * wrong) / own.length, 1)} %)`,
  ]
}

async function judgeSeconds(server: DelayServer, ratePerSecond: number): Promise<JudgedSecond[]> {
  const load: LoadInput = {
    pace: { kind: 'open', ratePerSecond },
    durationMs: SECONDS * 1000,
    warmupMs: WARMUP_SECONDS * 1000,
  }
  const task: LoadBenchTask = { url: server.baseUrl, load, rows: 1_000 }
  const { seconds } = (await runChild<LoadBenchResult>('load', task)).value
  const requests = await server.requests()
  return seconds.slice(0, SECONDS).map((second) => ({
    limited: second.limited,
    isWrong: isWrong(second, requests),
  }))
}

/** Whether a percentile of a second is not what the service itself took for what it answered in it. */
function isWrong({ startMs, latencyMs }: Second, requests: readonly (readonly [number, number])[]): boolean {
  const took = requests
    .filter(([arrivedUs, tookUs]) => {
      const endedMs = (arrivedUs + tookUs) / 1000 - startMs
      return endedMs >= 0 && endedMs < 1000
    })
    .map(([, tookUs]) => tookUs / 1000)
    .toSorted((a, b) => a - b)
  return (['http_req_duration', 'response_time'] as const).some((series) =>
    PERCENTILES.some(([name, share]) => {
      const figure = latencyMs[series]?.[name]
      const truth = took[Math.max(0, Math.ceil(took.length * share) - 1)]
      if (figure === undefined || truth === undefined) return false
      return Math.abs(figure - truth) > Math.max(OFF_MS, truth * OFF_SHARE)
    }),
  )
}
