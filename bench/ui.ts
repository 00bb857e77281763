import { hash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Browser } from 'playwright-core'
import { MIGRATIONS } from '../src/main/engine/journal/migrations.ts'
import { createRunId, toFindingsFile, toJournalFile } from '../src/main/engine/workspace/workspace-files.ts'
import { buildPart } from '../test/helpers/build/build-part.ts'
import { copyRuns } from './history.ts'
import { addAnswers, answerDifferently, prepareRun } from './lib/answered-run.ts'
import { printTable, toText } from './lib/figures.ts'
import { measureLiveRun } from './lib/live-run.ts'
import {
  lookAtAnswers,
  scrollResults,
  scrollThrough,
  walkComparison,
  walkEvaluation,
  walkResults,
  walkRuns,
  walkToResults,
} from './lib/walk-window.ts'
import { type Figure, toCell, toCpuCells, toFigure, toFigures, toFrameFigures } from './lib/window-figures.ts'
import { launchBrowser, WindowPage } from './lib/window-page.ts'
import { startWindowServer, type WindowServer } from './lib/window-server.ts'

const ROWS = 1_000_000

/** Rows of the run that the same screens are compared with. */
const PEER_ROWS = 1_000

const RUNS = 10_000

/** Rows of each of the many listed runs. */
const RUN_LIST_ROWS = 20

const LIVE_ROWS = 100_000
const SCROLL_S = 10

/** Screens of rows to scroll through before memory is read. */
const SCREENS_MAX = 4_000

/** Upper limits promised for a run of 1,000,000 rows, by figure: milliseconds or megabytes. */
const AIMS: Record<string, number> = {
  'results, first page': 100,
  'results, facets': 100,
  'jump to the last row': 50,
  'jump to the middle': 50,
  'jump to the first row': 50,
  'evaluate, figures': 2_000,
  'scrolling, p50 of a frame': 8,
  'scrolling, p99 of a frame': 8,
  'memory of the page': 250,
}

/** The measured run, and one with the same rows to compare it with. */
export interface MeasuredRuns {
  runId: string
  laterRunId: string
  rows: number
}

/** How much to do (default: all of it). */
export interface UiMeasures {
  scrollS: number
  screens: number
}

/**
 * The window with a run of 1,000,000 rows compared with one of 1,000: the first page, facets, jumps,
 * searches, filters, orders, an evaluation and a comparison, with a server that has served the run before and
 * one that has not; frames and memory during scrolling; a run at full speed; the list of 10,000 runs. `--rows
 * N` measures another run, `--json FILE` writes all figures.
 */
export async function runUiBench(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { rows: { type: 'string', default: String(ROWS) }, json: { type: 'string' } },
  })
  const rows = Number(values.rows)
  const browser = await launchBrowser()
  try {
    const renderer = await buildPart('renderer', 'renderer')
    const serve = (workspace: string) => startWindowServer(workspace, renderer)
    const byRows: [number, Figure[]][] = []
    for (const count of [PEER_ROWS, rows]) {
      console.log(`Preparing runs of ${toText(count)} rows`)
      const { workspace, ...runs } = await prepareMeasuredRuns(count)
      const measures = { scrollS: SCROLL_S, screens: SCREENS_MAX }
      byRows.push([count, await measureRuns(browser, () => serve(workspace), runs, measures)])
    }
    const [[, peers = []] = [], [, own = []] = []] = byRows
    printFigures(rows, own, peers)
    const others = [
      ...(await measureRunList(browser, await serve(await prepareRunList()))),
      ...(await measureLiveRun(browser, serve, LIVE_ROWS)),
    ]
    printTable([
      ['others', 'value', 'page CPU', 'server CPU'],
      ...others.map((figure) => [figure.name, toCell(figure), ...toCpuCells(figure)]),
    ])
    if (values.json !== undefined) {
      const figures = { [rows]: own, [PEER_ROWS]: peers, others, aims: AIMS }
      writeFileSync(values.json, `${JSON.stringify(figures, null, 2)}\n`)
    }
  } finally {
    await browser.close()
  }
}

/**
 * Measures the screens of two runs, first with a server that has never served them, then with one that has.
 */
export async function measureRuns(
  browser: Browser,
  serve: () => Promise<WindowServer>,
  { runId, laterRunId, rows }: MeasuredRuns,
  { scrollS, screens }: UiMeasures,
): Promise<Figure[]> {
  const figures: Figure[] = []
  const withWindow = async (measure: (window: WindowPage, server: WindowServer) => Promise<void>) => {
    const server = await serve()
    try {
      const window = await WindowPage.open(browser, server)
      await measure(window, server)
      await window.close()
    } finally {
      await server.close()
    }
  }
  await withWindow(async (window) => {
    figures.push(...toFigures(await walkEvaluation(window, runId), ', never looked at'))
    figures.push(...toFigures(await walkComparison(window, [runId, laterRunId]), ', never looked at'))
    figures.push(...toFigures(await walkResults(window, runId, rows), ', first time'))
    await lookAtAnswers(window, laterRunId)
  })
  await withWindow(async (window) => {
    figures.push(...toFigures(await walkToResults(window, runId)))
  })
  await withWindow(async (window, server) => {
    figures.push(...toFigures(await walkResults(window, runId, rows)))
    figures.push(...toFigures(await walkEvaluation(window, runId)))
    figures.push(...toFigures(await walkComparison(window, [runId, laterRunId])))
    figures.push(...toFrameFigures('scrolling', await scrollResults(window, runId, scrollS)))
    await scrollThrough(window, screens)
    const { heapBytes, processBytes } = await window.readMemory()
    figures.push(toFigure('heap of the page', heapBytes / 1_000_000, 'MB'))
    if (processBytes !== null) figures.push(toFigure('memory of the page', processBytes / 1_000_000, 'MB'))
    figures.push(toFigure('memory of the server', (await server.readCosts()).rssBytes / 1_000_000, 'MB'))
  })
  return figures
}

async function measureRunList(browser: Browser, server: WindowServer): Promise<Figure[]> {
  try {
    const window = await WindowPage.open(browser, server)
    const figures = toFigures(await walkRuns(window), `, ${toText(RUNS)} runs`)
    await window.close()
    return figures
  } finally {
    await server.close()
  }
}

function printFigures(rows: number, own: readonly Figure[], peers: readonly Figure[]): void {
  printTable([
    [
      ...['the window', `${toText(rows)} rows`, 'page CPU', 'server CPU'],
      ...[`${toText(PEER_ROWS)} rows`, 'ratio', 'aim', 'held'],
    ],
    ...own.map((figure) => {
      const peer = peers.find(({ name }) => name === figure.name)
      const aim = AIMS[figure.name]
      return [
        ...[figure.name, toCell(figure), ...toCpuCells(figure)],
        ...(peer === undefined ? ['', ''] : [toCell(peer), toText(figure.value / peer.value, 1)]),
        ...(aim === undefined
          ? ['', '']
          : [toCell({ ...figure, value: aim }), figure.value <= aim ? 'held' : 'MISSED']),
      ]
    }),
  ])
}

/** The code that creates the runs; other code creates other runs. */
const MADE_BY = ['./lib/answered-run.ts', './lib/workspace.ts', './history.ts'].map((file) =>
  readFileSync(fileURLToPath(new URL(file, import.meta.url)), 'utf8'),
)

/** A cached workspace, or a new one that `make` fills. */
async function keepWorkspace(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const fingerprint = hash('sha256', JSON.stringify([name, MIGRATIONS, MADE_BY]), 'hex').slice(0, 12)
  const kept = join(tmpdir(), 'sluice-bench-ui', `${name}-${fingerprint}`)
  if (existsSync(kept)) return kept
  const draft = `${kept}.part`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true })
  await make(draft)
  renameSync(draft, kept)
  return kept
}

/** Two runs with the same rows, answered differently. */
export async function fillWorkspace(workspace: string, rows: number): Promise<MeasuredRuns> {
  const { runId } = await prepareRun(workspace, rows)
  const file = toJournalFile(workspace, runId)
  addAnswers(file)
  const laterRunId = createRunId()
  answerDifferently(file, toJournalFile(workspace, laterRunId), laterRunId)
  return { runId, laterRunId, rows }
}

async function prepareMeasuredRuns(rows: number): Promise<MeasuredRuns & { workspace: string }> {
  const workspace = await keepWorkspace(`rows-${rows}`, async (folder) => {
    writeFileSync(join(folder, 'runs.json'), JSON.stringify(await fillWorkspace(folder, rows)))
  })
  const runs = JSON.parse(readFileSync(join(workspace, 'runs.json'), 'utf8')) as MeasuredRuns
  // Counts that an earlier bench stored for them.
  for (const runId of [runs.runId, runs.laterRunId]) rmSync(toFindingsFile(workspace, runId), { force: true })
  return { ...runs, workspace }
}

function prepareRunList(): Promise<string> {
  return keepWorkspace(`runs-${RUNS}`, async (folder) => {
    const template = mkdtempSync(join(tmpdir(), 'sluice-bench-template-'))
    try {
      const { runId } = await prepareRun(template, RUN_LIST_ROWS)
      copyRuns(folder, toJournalFile(template, runId), RUNS)
    } finally {
      rmSync(template, { recursive: true, force: true })
    }
  })
}
