import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LoadBenchResult } from './children/load.ts'
import { runAutocannon, runHey, runK6, runWrk } from './engine.ts'
import { isInstalled, runChild } from './lib/child.ts'
import { printTable, toMedian, toText } from './lib/figures.ts'
import { startStaticServer } from './lib/static-server.ts'

const IN_FLIGHT = 64
const SECONDS = 5
const ROUNDS = 5

/** Requests a second of one contender in one round. */
type Contender = (url: string) => Promise<number>

/**
 * Throughput of a load test that records everything: closed pace, 64 in flight, one static server, alternating rounds,
 * with one sending thread and with two, beside autocannon and whatever of k6, Artillery, wrk and hey is installed.
 */
export async function runLoadBench(): Promise<void> {
  const server = await startStaticServer()
  const contenders = new Map<string, Contender>([
    ['autocannon', runAutocannon],
    ['sluice, one sending thread', (url) => runSluice(url, 1)],
    ['sluice, two sending threads', (url) => runSluice(url, 2)],
  ])
  if (isInstalled('k6')) contenders.set('k6', runK6)
  if (isInstalled('artillery')) contenders.set('artillery', runArtillery)
  if (isInstalled('wrk')) contenders.set('wrk', runWrk)
  if (isInstalled('hey')) contenders.set('hey', runHey)
  const figures = new Map<string, number[]>([...contenders.keys()].map((name) => [name, []]))
  try {
    console.log(`${server.name}, ${IN_FLIGHT} in flight, ${ROUNDS} rounds, ${cpus().length} cores`)
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const [name, contender] of contenders) {
        const figure = await contender(server.baseUrl)
        figures.get(name)?.push(figure)
        console.log(`round ${round}: ${name} ${toText(figure)}`)
      }
    }
  } finally {
    server.close()
  }
  const base = toMedian(figures.get('autocannon') ?? [])
  printTable([
    ['contender', 'median', 'lowest', 'highest', 'of autocannon'],
    ...[...figures].map(([name, all]) => [
      name,
      toText(toMedian(all)),
      toText(Math.min(...all)),
      toText(Math.max(...all)),
      toText(toMedian(all) / base, 2),
    ]),
  ])
}

async function runSluice(url: string, workers: number): Promise<number> {
  const { value } = await runChild<LoadBenchResult>('load', {
    url,
    load: {
      pace: { kind: 'closed', concurrency: IN_FLIGHT },
      durationMs: SECONDS * 1000,
      warmupMs: 1_000,
      workers,
    },
    rows: 10_000,
  })
  return value.summary.throughput.succeeded_per_s
}

/** Artillery has no closed pace: 64 virtual users that each send one request after the other. */
async function runArtillery(url: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  try {
    const script = join(folder, 'script.json')
    const output = join(folder, 'report.json')
    const flow = [
      { loop: [{ post: { url: '/api/v1/task/sync', json: { text_data: 'thank you' } } }], count: 100_000 },
    ]
    writeFileSync(
      script,
      JSON.stringify({
        config: {
          target: url,
          phases: [{ duration: 1, arrivalCount: IN_FLIGHT }],
          http: { pool: IN_FLIGHT },
        },
        scenarios: [{ flow }],
      }),
    )
    // It ends only when every user has, so it is cut off; what it has counted by then stands in its output.
    const { stdout } = spawnSync(
      'timeout',
      ['-s', 'INT', String(SECONDS + 2), 'artillery', 'run', '-o', output, script],
      {
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
      },
    )
    const rates = [...stdout.matchAll(/http\.request_rate:[.\s]*([\d.]+)\/sec/g)].map(([, rate]) =>
      Number(rate),
    )
    return rates.length > 0
      ? Math.max(...rates)
      : Number(JSON.parse(readFileSync(output, 'utf8')).aggregate.rates['http.request_rate'])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
