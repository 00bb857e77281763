import type { CapacityReport } from '../src/shared/load/capacity-report.ts'
import type { CapacityBenchTask } from './children/capacity.ts'
import { startBusyLoops } from './lib/busy-loops.ts'
import { runChild } from './lib/child.ts'
import { buildDelayServer } from './lib/delay-server.ts'
import { printTable, toText } from './lib/figures.ts'

const ROUNDS = 5
const BUSY_LOOPS = 2
const TASK: Omit<CapacityBenchTask, 'url'> = {
  load: {
    pace: { kind: 'open', ratePerSecond: 40 },
    warmupMs: 1_000,
    durationMs: 5_000,
    thresholds: ['p(99)<200'],
  },
  coolDownMs: 500,
}

/**
 * The capacity found for a service with one worker of 10 ms, against the service's own rate per second while
 * busy in the same minutes: on the idle machine, and beside two processes that occupy its cores. `quiet` and
 * `busy` measure only one of both.
 */
export async function runCapacityBench(options: readonly string[]): Promise<void> {
  const builder = buildDelayServer()
  const rows = [['', 'the service reached', 'capacity', 'from', 'to', 'ended', 'probes', 'void']]
  const machines = options.includes('quiet') ? [0] : options.includes('busy') ? [BUSY_LOOPS] : [0, BUSY_LOOPS]
  try {
    for (const busy of machines) {
      for (let round = 1; round <= ROUNDS; round += 1) {
        const endLoops = startBusyLoops(busy)
        const server = await builder.start(['-mode', 'worker', '-delay', '10ms'])
        try {
          const report = (await runChild<CapacityReport>('capacity', { ...TASK, url: server.baseUrl })).value
          const reached = await server.reached()
          rows.push([busy === 0 ? 'as it is' : `${busy} busy loops`, toText(reached, 1), ...toRow(report)])
        } finally {
          server.close()
          endLoops()
        }
      }
    }
  } finally {
    builder.remove()
  }
  printTable(rows)
}

function toRow({ capacity, interval, end, probes }: CapacityReport): string[] {
  const toLevel = (level: number | null) => (level === null ? '-' : toText(level, 1))
  const voids = probes.filter(({ verdict }) => verdict === 'void').length
  return [
    ...[toLevel(capacity), toLevel(interval.low), toLevel(interval.high), end],
    ...[toText(probes.length), toText(voids)],
  ]
}
