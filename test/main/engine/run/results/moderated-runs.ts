import { onTestFinished } from 'vitest'
import type { RunFamily } from '../../../../../src/main/engine/journal/run-family.ts'
import { readExportPages } from '../../../../../src/main/engine/run/export/export-rows.ts'
import type { ResultRow } from '../../../../../src/shared/run/results.ts'
import type { RowFilter } from '../../../../../src/shared/run/row-filters.ts'
import { startFaultServer, toErrorAnswer, toTaskAnswer } from '../../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../../helpers/in-process-runs.ts'
import { createRunPlan } from '../../../../helpers/test-folder.ts'
import { toRow } from '../wire-record.ts'

/** Rows of a source with everything that may trip a search; every tenth is empty and therefore invalid. */
export function createTexts(rows: number): string[] {
  const odd = [
    'plain',
    '100%',
    'a_b',
    'back\\slash',
    '"quo""ted"',
    '"comma, inside"',
    '"line\nbreak"',
    'ÜMLAUT',
  ]
  return Array.from({ length: rows }, (_, i) => ((i + 1) % 10 === 0 ? '' : `${odd[i % odd.length]}`))
}

const RULES = [
  { rule_id: 'r2', rule_name: 'Even' },
  { rule_id: 'r3', rule_name: 'Threefold' },
]

/** The service's outcome for each row of these runs, by its position among twenty. */
async function startModeratingService(isHeldBack: (row: number, tries: number) => boolean) {
  const tries = new Map<number, number>()
  return startFaultServer({
    onRequest: (request, wire) => {
      const row = toRow(request)
      const number = (tries.get(row) ?? 0) + 1
      tries.set(row, number)
      if (isHeldBack(row, number)) return
      const rules = RULES.filter(({ rule_id }) => row % Number(rule_id.slice(1)) === 0)
      if (row % 20 === 3) wire.send(400, toErrorAnswer(400, 'INVALID_PARAM', 'not allowed'))
      else if (row % 20 === 5) wire.send(503, toErrorAnswer(503, 'BUSY', 'busy'))
      else if (row % 20 === 7 && number === 1) wire.send(429, toErrorAnswer(429, 'RATE_LIMITED', 'slow'))
      else wire.send(200, { ...toTaskAnswer(request, rules), from_cache: row % 20 === 8 })
    },
  })
}

const RETRY = { limit: 1, baseMs: 1, maxMs: 2, maxRetryAfterMs: 5 }

/** An ended run: of twenty rows two are invalid, one is refused, one unknown, and the others succeeded. */
export async function completeRun(folder: string, rows: number) {
  const runs = createInProcessRuns(folder)
  const server = await startModeratingService(() => false)
  const plan = createRunPlan(folder, createTexts(rows), server.baseUrl, { retry: RETRY })
  const summary = await runs.start(plan).ended
  return { runs, runId: summary.run_id, summary, server }
}

/**
 * A run that keeps sending until the test has finished. Rows up to `settled` have ended except the seventh of
 * each twenty, which waits for the answer to its second try; after them, four requests get no answer either.
 */
export async function startUnendingRun(folder: string, rows: number, settled: number) {
  const runs = createInProcessRuns(folder)
  const server = await startModeratingService((row, tries) => row > settled || (row % 20 === 7 && tries > 1))
  const concurrency = settled / 20 + 4
  const plan = createRunPlan(folder, createTexts(rows), server.baseUrl, {
    connection: { baseUrl: server.baseUrl, timeoutMs: 60_000 },
    pace: { kind: 'closed', concurrency },
    retry: RETRY,
  })
  const run = runs.start(plan)
  const stop = async () => {
    run.command({ kind: 'stop' })
    await server.close()
    await run.ended
  }
  onTestFinished(stop)
  // Of each twenty, 17 end for good: all but two invalid ones and the seventh, which is marked for its second
  // try.
  const isJournaled = () =>
    runs.read(run.runId, ({ db }) => {
      const marked = db.prepare("SELECT count(*) AS n FROM result WHERE state = 'sending'").get()?.['n']
      const all = db.prepare('SELECT count(*) AS n FROM result').get()?.['n']
      return marked === settled / 20 && all === (settled / 20) * 18
    })
  await run.until(({ inFlight }) => inFlight === concurrency && isJournaled())
  return { runs, run, runId: run.runId, stop }
}

/** The results of all matching rows, as an export reads them. */
export function readAllResults(view: RunFamily, filter: RowFilter = {}): ResultRow[] {
  const pages = [...readExportPages(view, filter, { withRequests: false })]
  return pages.flat().map((exported) => {
    const { kinds, exchangeInRow, tries, request, response, callbacks, content, termNotes, ...result } =
      exported
    return result
  })
}
