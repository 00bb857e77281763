import {
  type FaultServer,
  startFaultServer,
  toErrorAnswer,
  toTaskAnswer,
} from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { createRunPlan } from '../../../helpers/test-folder.ts'
import { toRow } from '../runner/wire-record.ts'

/** Rows of a source with everything that a search may stumble over; every tenth is empty, so invalid. */
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

/** How the service of these runs ends each row, by the row's last digit. */
export async function startModeratingService(isHeldBack: (row: number, tries: number) => boolean) {
  const tries = new Map<number, number>()
  return startFaultServer({
    onRequest: (request, wire) => {
      const row = toRow(request)
      const number = (tries.get(row) ?? 0) + 1
      tries.set(row, number)
      if (isHeldBack(row, number)) return
      const rules = RULES.filter(({ rule_id }) => row % Number(rule_id.slice(1)) === 0)
      if (row % 10 === 3) wire.send(400, toErrorAnswer(400, 'INVALID_PARAM', 'not allowed'))
      else if (row % 10 === 5) wire.send(503, toErrorAnswer(503, 'BUSY', 'busy'))
      else if (row % 10 === 7 && number === 1) wire.send(429, toErrorAnswer(429, 'RATE_LIMITED', 'slow'))
      else wire.send(200, { ...toTaskAnswer(request, rules), from_cache: row % 10 === 8 })
    },
  })
}

const RETRY = { limit: 1, baseMs: 1, maxMs: 2, maxRetryAfterMs: 5 }

/** A run of so many rows that has ended: a tenth each is invalid, refused and unknown, the others succeeded. */
export async function completeRun(folder: string, rows: number) {
  const runs = createInProcessRuns(folder)
  const server = await startModeratingService(() => false)
  const plan = createRunPlan(folder, createTexts(rows), server.baseUrl, { retry: RETRY })
  const summary = await runs.start(plan).ended
  return { runs, runId: summary.run_id, summary, server }
}

/**
 * A run that is still sending: rows up to `settled` have ended but for those whose last digit is 7, which wait for
 * the answer to their second try; behind them the requests in flight get no answer either.
 */
export async function startUnendingRun(folder: string, rows: number, settled: number) {
  const runs = createInProcessRuns(folder)
  const server: FaultServer = await startModeratingService(
    (row, tries) => row > settled || (row % 10 === 7 && tries > 1),
  )
  const plan = createRunPlan(folder, createTexts(rows), server.baseUrl, {
    connection: { baseUrl: server.baseUrl, timeoutMs: 60_000 },
    pace: { kind: 'closed', concurrency: settled / 10 + 4 },
    retry: RETRY,
  })
  const run = runs.start(plan)
  // Seven in ten end for good: three, namely 0, 7 and whatever is behind them, do not.
  await run.until(
    (snapshot) =>
      snapshot.inFlight === settled / 10 + 4 &&
      snapshot.rows.succeeded + snapshot.rows.rejected + snapshot.rows.unknown === (settled / 10) * 8,
  )
  return { runs, run, runId: run.runId, server }
}
