import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LoadBenchResult } from './children/load.ts'
import { runAutocannon, runHey, runK6, runWrk } from './engine.ts'
import { isInstalled, OTHER_CHECKOUT, runChild } from './lib/child.ts'
import { type Contender, runRounds } from './lib/rounds.ts'
import { startStaticServer } from './lib/static-server.ts'

const IN_FLIGHT = 64
const SECONDS = 5

/**
 * Throughput of a load test that records everything: closed pace, 64 in flight, one static server,
 * alternating rounds, with one and two sending threads, beside autocannon and whichever of k6, Artillery, wrk
 * and hey are installed.
 */
export async function runLoadBench(): Promise<void> {
  const server = await startStaticServer()
  const contenders = new Map<string, Contender>([
    ['autocannon', runAutocannon],
    ['sluice, one sending thread', (url) => runSluice(url, 1)],
    ['sluice, two sending threads', (url) => runSluice(url, 2)],
  ])
  if (OTHER_CHECKOUT !== null) {
    contenders.set('other checkout, one sending thread', (url) => runSluice(url, 1, OTHER_CHECKOUT))
    contenders.set('other checkout, two sending threads', (url) => runSluice(url, 2, OTHER_CHECKOUT))
  }
  const others = new Map<string, Contender>()
  if (isInstalled('k6')) others.set('k6', runK6)
  if (isInstalled('artillery')) others.set('artillery', runArtillery)
  if (isInstalled('wrk')) others.set('wrk', runWrk)
  if (isInstalled('hey')) others.set('hey', runHey)
  try {
    console.log(`${server.name}, ${IN_FLIGHT} in flight, ${cpus().length} cores, requests a second`)
    await runRounds(server.baseUrl, contenders, others)
  } finally {
    server.close()
  }
}

async function runSluice(url: string, workers: number, checkout: string | null = null): Promise<number> {
  const task = {
    url,
    load: {
      pace: { kind: 'closed', concurrency: IN_FLIGHT },
      durationMs: SECONDS * 1000,
      warmupMs: 1_000,
      workers,
    },
    rows: 10_000,
  }
  const { value } = await runChild<LoadBenchResult>('load', task, checkout)
  return value.summary.throughput.succeeded_per_s
}

/** Artillery has no closed pace, so 64 virtual users send one request after another. */
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
    // It only ends when every user has, so it is cut off; its output contains its counts so far.
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
