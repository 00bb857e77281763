import { copyFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { changeAnnotations } from '../src/main/engine/workspace/run-annotations.ts'
import { createWorkspaceFolders, toJournalFile } from '../src/main/engine/workspace/workspace-files.ts'
import { runChild } from './lib/child.ts'
import { printTable, toMedian, toText } from './lib/figures.ts'

const RUNS = 10_000

/** One run in so many has tags and a note, and one was interrupted. */
const ANNOTATED_EVERY = 20
const INTERRUPTED_EVERY = 50

/**
 * The list of {@link RUNS} small runs: the time of the engine's call for a page, a search and filters over a warm
 * catalogue, and how long the catalogue takes to be made. `template` is the journal of one run.
 */
export async function runHistoryBench(folder: string, template: string): Promise<void> {
  copyRuns(folder, template, RUNS)
  const { value } = await runChild<{ builtMs: number; asked: Record<string, number[]> }>('history', {
    folder,
  })
  const rows = Object.entries(value.asked).map(([name, times]) => [
    name,
    `${toText(toMedian(times))} ms`,
    `${toText(Math.max(...times))} ms`,
  ])
  printTable([
    [`${RUNS} runs`, 'median', 'longest'],
    ...rows,
    ['catalogue made', `${toText(value.builtMs / 1000, 1)} s`, ''],
  ])
}

/** Fills a workspace with runs of all kinds that have one journal. */
export function copyRuns(folder: string, template: string, runs: number): void {
  createWorkspaceFolders(folder)
  for (let run = 0; run < runs; run += 1) copyRun(folder, template, run)
}

function copyRun(folder: string, template: string, run: number): void {
  const minute = String(run % 60).padStart(2, '0')
  const runId = `20260101-10${minute}00-${String(run).padStart(6, '0')}`
  const file = toJournalFile(folder, runId)
  copyFileSync(template, file)
  const db = new DatabaseSync(file)
  db.exec('PRAGMA synchronous = OFF')
  const state = run % INTERRUPTED_EVERY === 0 ? 'interrupted' : 'completed'
  db.prepare('UPDATE run SET run_id = ?, run_token = ?, name = ?, state = ?').run(
    ...[runId, runId, `posts ${run}`, state],
  )
  db.close()
  if (run % ANNOTATED_EVERY === 0)
    changeAnnotations(folder, runId, { addTags: ['nightly'], note: `run ${run}` })
}
