import { join } from 'node:path'
import { createRunId, toJournalFile } from '../src/main/engine/workspace/workspace-files.ts'
import { runHistoryBench } from './history.ts'
import { answerDifferently, prepareRun } from './lib/answered-run.ts'
import { runChild } from './lib/child.ts'
import { printTable, toMedian, toText } from './lib/figures.ts'
import { withFolder } from './lib/workspace.ts'

const ROWS = 1_000_000
const ROUNDS = 3

/** Rows of each of the many listed runs. */
const SMALL_ROWS = 20

/** Questions about a run, by name; see `children/lookback.ts`. */
const QUESTIONS = [
  // Read by all other questions, for both runs.
  'findings',
  'evaluate',
  'evaluate with slices',
  'sample by rule',
  'sample by score',
  'compare by row',
  'compare by content',
  'export',
  'export of all columns',
  'export to XLSX',
  'export to JSON lines',
  'export to Parquet',
  'report',
] as const

/**
 * The list of many small runs; then, for runs of 1,000,000 rows with rules and six scores each: storing their
 * findings at the end, evaluation, samples, comparison, exports and a report. Measures the time of the
 * engine's call, and the processor time and peak memory of a process that asks nothing else.
 */
export async function runLookbackBench(): Promise<void> {
  await withFolder(async (folder) => {
    const { runId } = await prepareRun(folder, SMALL_ROWS)
    await runHistoryBench(join(folder, 'many'), toJournalFile(folder, runId))
  })
  await withFolder(async (folder) => {
    const { runId } = await prepareRun(folder, ROWS)
    const laterRunId = createRunId()
    answerDifferently(toJournalFile(folder, runId), toJournalFile(folder, laterRunId), laterRunId)
    const table = [['question', 'median', 'longest', 'processor time', 'peak memory']]
    for (const kind of QUESTIONS) {
      const found: { ms: number; cpuMs: number; mb: number }[] = []
      for (let round = 1; round <= ROUNDS; round += 1) {
        const { value, peakRssBytes } = await runChild<{ ms: number; cpuMs: number }>('lookback', {
          kind,
          folder,
          runId,
          laterRunId,
        })
        found.push({ ...value, mb: peakRssBytes / 1_000_000 })
      }
      const times = found.map(({ ms }) => ms / 1000)
      table.push([
        kind,
        `${toText(toMedian(times), 2)} s`,
        `${toText(Math.max(...times), 2)} s`,
        `${toText(toMedian(found.map(({ cpuMs }) => cpuMs / 1000)), 2)} s`,
        `${toText(Math.max(...found.map(({ mb }) => mb)))} MB`,
      ])
    }
    printTable(table)
  })
}
