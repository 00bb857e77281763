import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ApiKey } from '../../src/main/engine/secrets/bound-secret.ts'
import type { LoadInput } from '../../src/shared/load/load.ts'
import type { LoadSecond } from '../../src/shared/load/load-report.ts'
import { planSchema } from '../../src/shared/plan/plan.ts'
import type { RunSummary } from '../../src/shared/run/run.ts'
import { reportToParent } from '../lib/report-to-parent.ts'
import { createBenchEngine, withFolder, writeSource } from '../lib/workspace.ts'

/** The parent's request. */
export interface LoadBenchTask {
  url: string
  load: LoadInput
  rows: number
  /** Interval for noting memory and journal size, milliseconds (default: never). */
  noteEveryMs?: number
}

/** The result of a load, and its costs. */
export interface LoadBenchResult {
  summary: RunSummary
  limitedSeconds: number
  achievedPerS: number
  /**
   * For each second: its start in Unix milliseconds, whether it was generator-limited, and its percentiles.
   */
  seconds: (Pick<LoadSecond, 'limited' | 'latencyMs'> & { startMs: number })[]
  notes: { atMs: number; rssBytes: number; journalBytes: number }[]
}

const task = JSON.parse(process.argv[2] ?? '') as LoadBenchTask
reportToParent(await run(task))

function run({ url, load, rows, noteEveryMs }: LoadBenchTask): Promise<LoadBenchResult> {
  return withFolder(async (folder) => {
    const path = join(folder, 'source.csv')
    writeSource(path, rows)
    const engine = createBenchEngine(folder)
    const plan = planSchema.parse({
      connection: { baseUrl: url },
      source: { path },
      operation: { kind: 'task' },
      retry: { limit: 0 },
      load,
    })
    const handle = await engine.runs.startRun(plan, {
      apiKey: ApiKey.create('key', plan.connection, 'of the benchmark'),
    })
    const startMs = performance.now()
    const notes: LoadBenchResult['notes'] = []
    const note = () =>
      notes.push({
        atMs: Math.round(performance.now() - startMs),
        rssBytes: process.memoryUsage().rss,
        journalBytes: toFolderBytes(join(folder, 'runs')),
      })
    const timer = noteEveryMs === undefined ? undefined : setInterval(note, noteEveryMs)
    const summary = await handle.ended
    clearInterval(timer)
    const report = await engine.results.readLoadReport(summary.run_id)
    await engine.close()
    note()
    return {
      summary,
      limitedSeconds: report.generator.limitedSeconds,
      achievedPerS: report.rates.attemptedPerS,
      seconds: report.seconds.map(({ second, limited, latencyMs }) => ({
        startMs: Date.parse(report.startedAt ?? '') + second * 1000,
        limited,
        latencyMs,
      })),
      notes,
    }
  })
}

function toFolderBytes(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}
