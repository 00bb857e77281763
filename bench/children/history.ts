import { reportToParent } from '../lib/report-to-parent.ts'
import { createBenchEngine } from '../lib/workspace.ts'

/** Questions about a workspace's runs, each asked with a warm catalogue. */
const QUESTIONS = {
  'first page': { limit: 50 },
  'page 100': { limit: 50, offset: 4_950 },
  search: { search: 'posts nightly 77', limit: 50 },
  'filter by state and tag': { states: ['completed'], tags: ['nightly'], limit: 50 },
  'slowest first': { order: 'p95', limit: 50 },
} as const

const ROUNDS = 9

const [folder = ''] = process.argv.slice(2).map((text) => (JSON.parse(text) as { folder: string }).folder)
const engine = createBenchEngine(folder)
const time = async (ask: () => Promise<unknown>) => {
  const startMs = performance.now()
  await ask()
  return performance.now() - startMs
}
/** First the window's first query, then a list that waits for all journals; the same with a catalogue. */
const firstMs = await time(() => engine.runs.listRunsSoFar({ limit: 50 }))
const builtMs = firstMs + (await time(() => engine.runs.listRuns({ limit: 50 })))
const asked: Record<string, number[]> = {}
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [name, query] of Object.entries(QUESTIONS)) {
    const ms = await time(() =>
      engine.runs.listRuns({ ...query } as Parameters<typeof engine.runs.listRuns>[0]),
    )
    asked[name] = [...(asked[name] ?? []), ms]
  }
  const ms = await time(() => engine.runs.settleLate())
  asked['late callbacks of all runs'] = [...(asked['late callbacks of all runs'] ?? []), ms]
}
await engine.close()
reportToParent({ firstMs, builtMs, asked })
