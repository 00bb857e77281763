import { spawnSync } from 'node:child_process'
import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { toCatalogueFile } from '../src/main/engine/lookback/catalogue/catalogue-file.ts'
import { changeAnnotations } from '../src/main/engine/workspace/run-annotations.ts'
import { createWorkspaceFolders, toJournalFile } from '../src/main/engine/workspace/workspace-files.ts'
import { OTHER_CHECKOUT, runChild } from './lib/child.ts'
import { printTable, toMedian, toText } from './lib/figures.ts'

const RUNS = 10_000
const ROUNDS = 3

/** One run in this many has tags and a note, or was interrupted. */
const ANNOTATED_EVERY = 20
const INTERRUPTED_EVERY = 50

/** Results of `children/history.ts`, milliseconds. */
interface Measured {
  /** Equals `builtMs` for a checkout that only answers after reading all journals. */
  firstMs?: number
  builtMs: number
  asked: Record<string, number[]>
}

/**
 * The list of {@link RUNS} small runs without a catalogue, in a new process with one, and asked again: the
 * time of the engine's call for a page, a search and filters, and of the command `runs`. `template` is the
 * journal of one run. `SLUICE_BENCH_AGAINST` measures another checkout in the same rounds, with a workspace
 * of its own.
 */
export async function runHistoryBench(folder: string, template: string): Promise<void> {
  const checkouts = OTHER_CHECKOUT === null ? [null] : [null, OTHER_CHECKOUT]
  const workspaces = new Map(checkouts.map((checkout, at) => [checkout, join(folder, String(at))]))
  for (const workspace of workspaces.values()) copyRuns(workspace, template, RUNS)
  const figures = new Map<string, Map<string | null, number[]>>()
  for (let round = 1; round <= ROUNDS; round += 1) {
    const inOrder = [...workspaces]
    for (const [checkout, workspace] of round % 2 === 0 ? inOrder.toReversed() : inOrder) {
      for (const [name, found] of await measure(checkout, workspace)) {
        const of = figures.get(name) ?? new Map<string | null, number[]>()
        figures.set(name, of.set(checkout, [...(of.get(checkout) ?? []), ...found]))
      }
    }
  }
  const toCells = (found: number[]) => [toText(toMedian(found)), toText(Math.max(...found))]
  printTable([
    [
      `${RUNS} runs, ms`,
      ...checkouts.flatMap((one) => [one === null ? 'median' : 'other checkout', 'longest']),
    ],
    ...[...figures].map(([name, of]) => [name, ...checkouts.flatMap((one) => toCells(of.get(one) ?? []))]),
  ])
}

async function measure(checkout: string | null, workspace: string): Promise<Map<string, number[]>> {
  rmSync(toCatalogueFile(workspace), { force: true })
  const made = await runChild<Measured>('history', { folder: workspace }, checkout)
  const again = await runChild<Measured>('history', { folder: workspace }, checkout)
  const { firstMs = made.value.builtMs, builtMs } = made.value
  return new Map([
    ['without a catalogue: first page of the window', [firstMs]],
    ['without a catalogue: all journals read', [builtMs]],
    ['new process: first page', [again.value.firstMs ?? again.value.builtMs]],
    ...Object.entries(again.value.asked),
    ['command runs', [runCommand(checkout, workspace)]],
    ['peak memory while all journals are read, MB', [made.peakRssBytes / 1_000_000]],
    ['peak memory with a catalogue, MB', [again.peakRssBytes / 1_000_000]],
  ])
}

/** Time of the command from start to end, run from the sources, milliseconds. */
function runCommand(checkout: string | null, workspace: string): number {
  const root = checkout ?? fileURLToPath(new URL('..', import.meta.url))
  const startMs = performance.now()
  const args = [join(root, 'src/main/cli/main.ts'), 'runs', '--workspace', workspace]
  const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error(`runs ended with ${status}`)
  return performance.now() - startMs
}

/** Fills a workspace with runs of all kinds that share one journal. */
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
  // Every run that was sent leaves one.
  writeFileSync(`${file}.lease`, '')
  if (run % ANNOTATED_EVERY === 0)
    changeAnnotations(folder, runId, { addTags: ['nightly'], note: `run ${run}` })
}
