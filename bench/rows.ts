import { toJournalFile } from '../src/main/engine/workspace/workspace-files.ts'
import type { PageQuery } from '../src/shared/run/results.ts'
import type { RowFilter } from '../src/shared/run/row-filters.ts'
import { addAnswers, prepareRun } from './lib/answered-run.ts'
import { printTable, toMedian, toText } from './lib/figures.ts'
import { createBenchEngine, withFolder } from './lib/workspace.ts'

const ROWS = 1_000_000
const ROUNDS = 7

const HIGH = [{ className: 'hate', from: 0.8, below: null }]

/** The pages that a person views, by name. */
const PAGES: Record<string, Omit<PageQuery, 'limit'>> = {
  'first page': { filter: {}, offset: 0 },
  'jump to row 700,000': { filter: {}, offset: 700_000 },
  'first page with three columns of answers': {
    filter: {},
    offset: 0,
    columns: ['sluice_language', 'score.hate', 'answer.user_id'],
  },
  'first page of one rule': { filter: { ruleIds: ['rule-spam'] }, offset: 0 },
  'first page of two rules and a state': {
    filter: { ruleIds: ['rule-spam', 'rule-link'], state: 'succeeded' },
    offset: 0,
  },
  'first page of a language and a score': { filter: { languages: ['DE'], scores: HIGH }, offset: 0 },
  'jump among these': { filter: { languages: ['DE'], scores: HIGH }, offset: 40_000 },
  'first page by score': {
    filter: {},
    offset: 0,
    sort: { by: { kind: 'score', className: 'hate' }, order: 'descending' },
  },
  'jump among these by latency': {
    filter: { scores: HIGH },
    offset: 40_000,
    sort: { by: { kind: 'latency' }, order: 'descending' },
  },
}

const FACETS: Record<string, RowFilter> = {
  'facets of all rows': {},
  'facets of a rule': { ruleIds: ['rule-spam'] },
  'facets of a language and a score': { languages: ['DE'], scores: HIGH },
}

/**
 * Pages and facets of a finished run of 1,000,000 rows with two rules, six scores, a language and a model
 * each: the time of the first look at the answers, and of each question after they are counted.
 */
export async function runRowsBench(): Promise<void> {
  await withFolder(async (folder) => {
    const { runId } = await prepareRun(folder, ROWS)
    addAnswers(toJournalFile(folder, runId))
    const engine = createBenchEngine(folder)
    await engine.runs.listRuns()
    const table = [['question', 'first, ms', 'median, ms', 'longest, ms']]
    const ask = async (name: string, question: () => Promise<unknown>) => {
      const times: number[] = []
      for (let round = 0; round <= ROUNDS; round += 1) {
        const startMs = performance.now()
        await question()
        times.push(performance.now() - startMs)
      }
      const [first = 0, ...later] = times
      table.push([name, toText(first, 1), toText(toMedian(later), 1), toText(Math.max(...later), 1)])
    }
    const page = (query: Omit<PageQuery, 'limit'>) => () =>
      engine.results.readPage(runId, { ...query, limit: 100 })
    await ask('first page, nothing counted yet', page({ filter: {}, offset: 0 }))
    await ask('facets of all rows, nothing counted yet', () => engine.results.readFacets(runId))

    const counting = { startMs: performance.now(), asked: 0, longestMs: 0 }
    for (let isCounted = false; !isCounted; counting.asked += 1) {
      const startMs = performance.now()
      isCounted = (await engine.results.readFoundFacets(runId)).isCounted
      counting.longestMs = Math.max(counting.longestMs, performance.now() - startMs)
    }
    const countingS = (performance.now() - counting.startMs) / 1000

    for (const [name, query] of Object.entries(PAGES)) await ask(name, page(query))
    for (const [name, filter] of Object.entries(FACETS)) {
      await ask(name, () => engine.results.readFacets(runId, filter))
      await ask(`${name}: languages, models, scores`, () => engine.results.readFoundFacets(runId, filter))
    }
    await engine.close()
    printTable(table)
    printTable([
      ['counting what answers say', 'questions meanwhile', 'longest answer, ms'],
      [`${toText(countingS, 1)} s`, toText(counting.asked), toText(counting.longestMs, 1)],
    ])
  })
}
