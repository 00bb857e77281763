import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { bundleChildren } from './lib/bundle.ts'
import { runChild } from './lib/child.ts'
import { printTable, toMedian, toText } from './lib/figures.ts'
import type { ChildResult } from './lib/report-to-parent.ts'

const CONNECTIONS = 64
const FLOOD_CONNECTIONS = 2_000
const SECONDS = 5
const ROUNDS = 5
const MIB = 1024 * 1024

/** The server that answers callbacks; see `children/receive.ts`. */
type Kind = 'durable' | 'nothing' | 'bare'

const NAMES: Record<Kind, string> = {
  durable: 'receiver, durable',
  nothing: 'the same, stores nothing',
  bare: 'bare Fastify route',
}

/** The result of posting to one of these servers. */
interface Load {
  perSecond: number
  p99Ms: number
  answered: number
  refused: number
  failed: number
  statuses: string[]
  served: Served
  peakRssBytes: number
}

/** What the server's process reports. */
interface Served {
  /** Callbacks in the inbox afterwards. */
  stored: number
  cpuMicroseconds: number
}

/**
 * Callbacks per second that are durable before they are answered, compared with the same server that stores
 * nothing, with server and load in their own processes, alternating rounds; then a flood from 2,000
 * connections.
 */
export async function runReceiverBench(): Promise<void> {
  const loads: Record<Kind, Load[]> = { durable: [], nothing: [], bare: [] }
  console.log(`${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s, autocannon, callbacks a second`)
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const kind of ['nothing', 'durable', 'bare'] as const) {
      const load = await measure(kind, CONNECTIONS)
      loads[kind].push(load)
      console.log(`round ${round}: ${NAMES[kind]} ${toText(load.perSecond)}`)
    }
  }
  const base = toMedian(loads.nothing.map(({ perSecond }) => perSecond))
  printTable([
    ['handler', 'median', 'lowest', 'highest', 'p99', 'CPU each', 'of stores nothing'],
    ...(['durable', 'nothing', 'bare'] as const).map((kind) => {
      const figures = loads[kind].map(({ perSecond }) => perSecond)
      return [
        NAMES[kind],
        toText(toMedian(figures)),
        toText(Math.min(...figures)),
        toText(Math.max(...figures)),
        `${toText(toMedian(loads[kind].map(({ p99Ms }) => p99Ms)))} ms`,
        `${toText(toMedian(loads[kind].map(toCpuEach)), 1)} µs`,
        toText(toMedian(figures) / base, 2),
      ]
    }),
  ])
  const lost = loads.durable.filter(({ answered, served }) => served.stored < answered).length
  console.log(`rounds in which fewer were stored than answered 200: ${lost}`)
  printFlood(await measure('durable', FLOOD_CONNECTIONS))
}

function toCpuEach({ answered, refused, served }: Load): number {
  return served.cpuMicroseconds / (answered + refused)
}

function printFlood(flood: Load): void {
  const requests = flood.answered + flood.refused
  console.log(`flood of ${toText(FLOOD_CONNECTIONS)} connections, ${SECONDS} s: ${toText(requests)} answers`)
  printTable([
    ['answered 200', toText(flood.answered)],
    ['of these stored', toText(Math.min(flood.served.stored, flood.answered))],
    ['answered 503', `${toText((100 * flood.refused) / requests, 1)} %`],
    ['statuses', flood.statuses.join(', ')],
    ['failed', toText(flood.failed)],
    ['peak memory', `${toText(flood.peakRssBytes / MIB)} MiB`],
  ])
}

async function measure(kind: Kind, connections: number): Promise<Load> {
  const path = join(await bundleChildren(), 'receive.js')
  const server = spawn(process.execPath, [path, JSON.stringify({ kind })], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const address = JSON.parse(await readLine(server)) as { baseUrl: string; secret: string }
  const task = { ...address, connections, seconds: SECONDS }
  const { value } = await runChild<Omit<Load, 'served' | 'peakRssBytes'>>('post-callbacks', task)
  server.stdin.end()
  const report = JSON.parse(await readLine(server)) as ChildResult<Served>
  await once(server, 'exit')
  return { ...value, served: report.value, peakRssBytes: report.peakRssBytes }
}

async function readLine({ stdout }: ChildProcessByStdio<Writable, Readable, null>): Promise<string> {
  const [line] = await once(stdout.setEncoding('utf8'), 'data')
  return String(line)
}
