import type { LoadInput } from '../src/shared/load/load.ts'
import type { LoadBenchResult, LoadBenchTask } from './children/load.ts'
import { startBusyLoops } from './lib/busy-loops.ts'
import { runChild } from './lib/child.ts'
import { buildDelayServer, type DelayServer, type SeenRequest } from './lib/delay-server.ts'
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
/** A figure is wrong if its error exceeds both. */
const OFF_SHARE = 0.1
const OFF_MS = 1

type Second = LoadBenchResult['seconds'][number]

/**
 * Whether seconds marked as generator-limited have wrong figures, and others right ones, compared with a
 * service that knows its own delays: on the idle machine, and beside two processes that occupy its cores.
 * `quiet` and `busy` measure only one of both.
 */
export async function runLimitsBench(options: readonly string[]): Promise<void> {
  const builder = buildDelayServer()
  const rows = [['', 'seconds', 'flagged', 'of these wrong', 'not flagged', 'of these wrong', 'whole']]
  const loopCounts = options.includes('quiet')
    ? [0]
    : options.includes('busy')
      ? [BUSY_LOOPS]
      : [0, BUSY_LOOPS]
  try {
    for (const busy of loopCounts) {
      const all: JudgedSecond[] = []
      const machine = busy === 0 ? 'as it is' : `${busy} busy loops`
      for (const delay of ['5ms', '20ms', '100ms']) {
        for (const rate of RATES) {
          const endLoops = startBusyLoops(busy)
          const server = await builder.start(['-mode', 'constant', '-delay', delay])
          try {
            const { judged, whole } = await judgeSeconds(server, rate)
            all.push(...judged)
            const said = `${whole.limited ? 'flagged' : 'not flagged'}, ${whole.isWrong ? 'wrong' : 'right'}`
            rows.push(toRow(`${delay}, ${rate}/s, ${machine}`, judged, said))
          } finally {
            server.close()
            endLoops()
          }
        }
      }
      rows.push(toRow(`all, ${machine}`, all, ''))
    }
  } finally {
    builder.remove()
  }
  printTable(rows)
}

function toRow(label: string, judged: readonly JudgedSecond[], whole: string): string[] {
  return [label, toText(judged.length), ...count(judged, true), ...count(judged, false), whole]
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

async function judgeSeconds(server: DelayServer, ratePerSecond: number) {
  const load: LoadInput = {
    pace: { kind: 'open', ratePerSecond },
    durationMs: SECONDS * 1000,
    warmupMs: WARMUP_SECONDS * 1000,
  }
  const task: LoadBenchTask = { url: server.baseUrl, load, rows: 1_000 }
  const { seconds, summary } = (await runChild<LoadBenchResult>('load', task)).value
  const requests = listMeasured(await server.requests())
  let first = 0
  const judged = seconds.slice(0, SECONDS).map((second): JudgedSecond => {
    const count = second.latencyMs.http_req_duration?.count ?? 0
    const answered = requests.slice(first, first + count)
    first += count
    return { limited: second.limited, isWrong: isWrong(second, answered) }
  })
  const whole = {
    limited: summary.generator.limited,
    isWrong: isWrong({ latencyMs: summary.latency_ms }, requests.slice(0, first)),
  }
  return { judged, whole }
}

/** The requests of the measured part, in the order of their answers, which assigns them to seconds. */
function listMeasured(requests: readonly SeenRequest[]): SeenRequest[] {
  return requests
    .filter(({ post_id: id }) => !id.includes('-warmup-') && !id.endsWith('-first'))
    .toSorted((one, other) => one.written_us - other.written_us)
}

/**
 * Whether a second's percentile differs from the service's own time for its requests: from their arrival at
 * its socket to its answer being written. The end is only known to within the writing, so either bound is
 * accepted.
 */
function isWrong({ latencyMs }: Pick<Second, 'latencyMs'>, requests: readonly SeenRequest[]): boolean {
  const toSorted = (read: (request: SeenRequest) => number) =>
    requests.map((request) => (read(request) - request.arrived_us) / 1000).toSorted((a, b) => a - b)
  const least = toSorted(({ writing_us: us }) => us)
  const most = toSorted(({ written_us: us }) => us)
  return (['http_req_duration', 'response_time'] as const).some((series) =>
    PERCENTILES.some(([name, share]) => {
      const figure = latencyMs[series]?.[name]
      const at = Math.max(0, Math.ceil(requests.length * share) - 1)
      const [from, to] = [least[at], most[at]]
      if (figure === undefined || from === undefined || to === undefined) return false
      return (
        figure < from - Math.max(OFF_MS, from * OFF_SHARE) || figure > to + Math.max(OFF_MS, to * OFF_SHARE)
      )
    }),
  )
}
