import { join } from 'node:path'
import { planSchema } from '../src/shared/plan.ts'
import { printTable, toMedian, toText } from './lib/figures.ts'
import { startStaticServer } from './lib/static-server.ts'
import { createBenchEngine, withFolder, writeSource } from './lib/workspace.ts'

const ROWS = 1_000_000
/** Short enough for all stretches to fit into the run. */
const STRETCH_S = 1.5
const ROUNDS = 6

/**
 * First page and facets of a run of 1,000,000 rows while it is sending, asked ten times a second, and what the asking
 * costs the writer: its rate in alternating stretches with and without questions.
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
      const run = await engine.startRun(plan, { apiKey: 'key' })
      await run.ready
      // As the window does: its first screen lists the runs, which starts the thread that answers.
      await engine.listRuns()
      const times: Record<string, number[]> = { page: [], facets: [], deep: [], summary: [] }
      const rates: { quiet: number[]; asked: number[] } = { quiet: [], asked: [] }
      const time = async (name: string, ask: () => Promise<unknown>) => {
        const startMs = performance.now()
        await ask()
        times[name]?.push(performance.now() - startMs)
      }
      const countSent = () => run.snapshot()?.requests.sent ?? 0
      for (let round = 1; round <= ROUNDS; round += 1) {
        const kinds = ['quiet', 'asked'] as const
        for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) {
          const [startMs, before] = [performance.now(), countSent()]
          while (performance.now() - startMs < STRETCH_S * 1000) {
            if (kind === 'asked') {
              await time('page', () => engine.readPage(run.runId, { filter: {}, offset: 0, limit: 100 }))
              await time('deep', () =>
                engine.readPage(run.runId, { filter: { state: 'succeeded' }, offset: 50_000, limit: 100 }),
              )
              await time('facets', () => engine.readFacets(run.runId))
            }
            await new Promise((resolve) => setTimeout(resolve, 100))
          }
          rates[kind].push(((countSent() - before) * 1000) / (performance.now() - startMs))
        }
      }
      if (run.snapshot()?.phase === 'ended') throw new Error('the run was over before the last question')
      run.stop()
      await run.ended
      await time('summary', () => engine.summarizeRun(run.runId))
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
        ['no questions', toText(toMedian(rates.quiet))],
        ['asked ten times a second', toText(toMedian(rates.asked))],
      ])
    })
  } finally {
    server.close()
  }
}
