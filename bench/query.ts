import { join } from 'node:path'
import { ApiKey } from '../src/main/engine/secrets/bound-secret.ts'
import { planSchema } from '../src/shared/plan/plan.ts'
import { printTable, toMedian, toText } from './lib/figures.ts'
import { startStaticServer } from './lib/static-server.ts'
import { createBenchEngine, withFolder, writeSource } from './lib/workspace.ts'

const ROWS = 1_000_000
/** Short enough that all stretches fit into the run. */
const STRETCH_S = 1.5
const ROUNDS = 4

/** Pause between two rounds of questions, milliseconds; null asks nothing. */
const PACES = {
  'no questions': null,
  'asked once a second, as a window does': 1_000,
  'asked ten times a second': 100,
}

/**
 * First page and facets of a run of 1,000,000 rows while it is sending, sometimes a page from its middle, and
 * what the questions cost the writer: its rate in alternating stretches, without questions, with those of a
 * window, and with ten times as many.
 */
export async function runQueryBench(): Promise<void> {
  const server = await startStaticServer()
  try {
    await withFolder(async (folder) => {
      const path = join(folder, 'source.csv')
      writeSource(path, ROWS)
      const engine = createBenchEngine(folder)
      const plan = planSchema.parse({
        connection: { baseUrl: server.baseUrl },
        source: { path },
        operation: { kind: 'task' },
        pace: { kind: 'closed', concurrency: 64 },
      })
      const run = await engine.runs.startRun(plan, {
        apiKey: ApiKey.create('key', plan.connection, 'of the benchmark'),
      })
      await run.ready
      // Like the window, whose first screen lists the runs and so starts the thread that answers.
      await engine.runs.listRuns()
      const times: Record<string, number[]> = { page: [], facets: [], deep: [], summary: [] }
      const rates = new Map(Object.keys(PACES).map((name): [string, number[]] => [name, []]))
      const time = async (name: string, ask: () => Promise<unknown>) => {
        const startMs = performance.now()
        await ask()
        times[name]?.push(performance.now() - startMs)
      }
      let asked = 0
      const countSent = () => run.snapshot()?.requests.sent ?? 0
      for (let round = 1; round <= ROUNDS; round += 1) {
        const paces = Object.entries(PACES)
        for (const [name, restMs] of round % 2 === 0 ? paces : paces.toReversed()) {
          const [startMs, before] = [performance.now(), countSent()]
          const endMs = startMs + STRETCH_S * 1000
          while (performance.now() < endMs) {
            if (restMs !== null) {
              await time('page', () =>
                engine.results.readPage(run.runId, { filter: {}, offset: 0, limit: 100 }),
              )
              await time('facets', () => engine.results.readFacets(run.runId))
              // People rarely jump into the middle.
              if (asked % 10 === 0) {
                await time('deep', () =>
                  engine.results.readPage(run.runId, {
                    filter: { state: 'succeeded' },
                    offset: 50_000,
                    limit: 100,
                  }),
                )
              }
              asked += 1
            }
            const leftMs = Math.max(0, endMs - performance.now())
            await new Promise((resolve) => setTimeout(resolve, Math.min(leftMs, restMs ?? leftMs)))
          }
          rates.get(name)?.push(((countSent() - before) * 1000) / (performance.now() - startMs))
        }
      }
      if (run.snapshot()?.phase === 'ended') throw new Error('the run was over before the last question')
      run.stop()
      await run.ended
      await time('summary', () => engine.runs.summarizeRun(run.runId))
      await engine.close()
      printTable([
        ['question', 'asked', 'median ms', 'longest ms'],
        ...Object.entries(times).map(([name, all]) => [
          name,
          toText(all.length),
          toText(toMedian(all), 1),
          toText(Math.max(...all), 1),
        ]),
      ])
      printTable([
        ['writer', 'requests a second (median)'],
        ...[...rates].map(([name, all]) => [name, toText(toMedian(all))]),
      ])
    })
  } finally {
    server.close()
  }
}
