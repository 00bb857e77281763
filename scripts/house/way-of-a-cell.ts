import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CallCounts, countNodeCalls, findFilesThatGrow, findFilesThatRan } from './call-counts.ts'
import { buildMappedPage, launchBrowser, showRows } from './shown-rows.ts'
import { readCoverage, runCommand, startCommand } from './sluice-process.ts'

/** A stage of the way and its files. */
export interface Stretch {
  stage: string
  files: string[]
}

/** The files that a cell passes, and the number of files that prepare its way once per run. */
export interface Way {
  stretches: Stretch[]
  files: number
  preparing: Stretch[]
}

const ROWS = 2_000
const FEWER_LEAPS = 5
const MORE_LEAPS = 35

// Chunked reads and grouped commits make one call for many rows. The window fetches a hundred rows at a time.
const ROWS_PER_CALL = { sent: 100, shown: 200 }

// Progress is posted ten times a second whatever the number of rows; commits come twice as often.
const CLOCK_PER_SECOND = 14

// The first pattern that matches a file is its stage. Earlier layouts are covered too.
const STAGES: readonly { stage: string; files: RegExp }[] = [
  { stage: 'source', files: /^src\/main\/engine\/(source|intake)\// },
  { stage: 'mapping', files: /^src\/main\/engine\/mapping\// },
  { stage: 'queries', files: /^src\/main\/engine\/(query|(run\/)?results)\// },
  { stage: 'run', files: /^src\/main\/engine\/(run|session|journal)\// },
  { stage: 'sending', files: /^src\/main\/engine\/(sending|runner)\// },
  { stage: 'service', files: /^src\/main\/engine\/service\// },
  { stage: 'engine', files: /^src\/main\/engine\// },
  { stage: 'shared', files: /^src\/shared\// },
  { stage: 'bridge', files: /^src\/(main\/(bridge|web)|renderer\/bridge)\// },
  { stage: 'shells', files: /^src\/main\// },
  { stage: 'screen', files: /^src\/renderer\// },
]

// The stages in the order that a cell passes them.
const ORDER = 'source mapping run sending service queries engine shared bridge shells screen'.split(' ')

/**
 * Measures which files of a checkout a cell passes on its way from disk to wire to screen.
 *
 * A file is on the way if more rows mean more calls of one of its functions. From disk to wire: the command
 * line sends a CSV file and then one of twice as many rows to the sandbox while V8 counts every call in every
 * thread. From journal to screen: the browser shell scrolls that run's results, first a little, then further,
 * while V8 counts in the engine and in the page. Code that runs once per run (flags, opening the file,
 * checking the mapping) is not on the way; in the run's own thread it counts as `preparing`. Types, and
 * schemas without a function that runs per row, are not seen.
 */
export async function measureWay(checkout: string): Promise<Way> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-house-'))
  try {
    const few = await sendRows(checkout, join(folder, 'few'), ROWS)
    const many = await sendRows(checkout, join(folder, 'many'), 2 * ROWS)
    const clockCalls = CLOCK_PER_SECOND * (many.seconds - few.seconds)
    const sending = findFilesThatGrow(few.calls, many.calls, Math.max(ROWS / ROWS_PER_CALL.sent, clockCalls))
    const showing = await findFilesThatShow(checkout, folder, many)
    const onTheWay = new Set([...sending, ...showing])
    const prepared = [...findFilesThatRan(many.callsInRun)].filter((path) => !onTheWay.has(path))
    const stretches = toStretches(onTheWay)
    return { stretches, files: countFiles(stretches), preparing: toStretches(prepared) }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Sorts files into the stages of the way, in order. Omits stages without files. */
export function toStretches(files: Iterable<string>): Stretch[] {
  const byStage = Object.groupBy(
    [...files].toSorted(),
    (path) => STAGES.find((one) => one.files.test(path))?.stage ?? 'elsewhere',
  )
  return [...ORDER, 'elsewhere']
    .flatMap((stage) => ({ stage, files: byStage[stage] ?? [] }))
    .filter((stretch) => stretch.files.length > 0)
}

function countFiles(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, { files }) => sum + files.length, 0)
}

interface SentRows {
  workspace: string
  runId: string
  seconds: number
  calls: CallCounts
  /** Calls in the run's thread only. */
  callsInRun: CallCounts
}

async function sendRows(checkout: string, folder: string, rows: number): Promise<SentRows> {
  mkdirSync(folder)
  const coverageFolder = join(folder, 'coverage')
  const workspace = join(folder, 'workspace')
  const sandbox = await startCommand(['sandbox', '--port', '0', '--json'], { checkout }, (printed) =>
    printed.includes('\n'),
  )
  try {
    const { base_url: baseUrl } = JSON.parse(sandbox.printed) as { base_url: string }
    writeFileSync(join(folder, 'rows.csv'), createCsv(rows))
    const printed = await runCommand(
      ['task', join(folder, 'rows.csv'), '--base-url', baseUrl, '--workspace', workspace, '--json'],
      { checkout, coverageFolder, env: { SLUICE_API_KEY: 'sandbox-key' } },
    )
    const { run_id: runId, ...run } = JSON.parse(printed) as Record<
      'run_id' | 'created_at' | 'ended_at',
      string
    >
    const seconds = (Date.parse(run.ended_at) - Date.parse(run.created_at)) / 1_000
    const threads = readCoverage(coverageFolder)
    const runThreads = threads.filter((scripts) => scripts.some(({ url }) => url.endsWith('/run-worker.ts')))
    if (runThreads.length === 0) throw new Error('no thread of a run left its coverage')
    return {
      workspace,
      runId,
      seconds,
      calls: countNodeCalls(threads),
      callsInRun: countNodeCalls(runThreads),
    }
  } finally {
    await sandbox.stop()
  }
}

/** Cells of six kilobytes, so that calls per 64 KiB chunk outnumber those of timers on a busy machine too. */
function createCsv(rows: number): string {
  const lines = Array.from({ length: rows }, (_, index) => {
    const words = `message ${index} of a person who writes a lot `.repeat(144)
    return `user-${index % 97},"Hello, ${words}",${index % 2 === 0 ? 'ham' : 'spam'}`
  })
  return `user_id,text_data,label\n${lines.join('\n')}\n`
}

async function findFilesThatShow(checkout: string, folder: string, run: SentRows): Promise<Set<string>> {
  const page = await buildMappedPage(checkout)
  const browser = await launchBrowser()
  try {
    const show = (leaps: number) => {
      const coverageFolder = join(folder, `shown-${leaps}`)
      return showRows({
        browser,
        checkout,
        workspace: run.workspace,
        runId: run.runId,
        leaps,
        coverageFolder,
      })
    }
    const fewer = await show(FEWER_LEAPS)
    const more = await show(MORE_LEAPS)
    const leastCalls = (more.rows - fewer.rows) / ROWS_PER_CALL.shown
    return new Set([
      ...findFilesThatGrow(fewer.node, more.node, leastCalls),
      ...findFilesThatGrow(fewer.page, more.page, leastCalls),
    ])
  } finally {
    await browser.close()
    page.restore()
  }
}
