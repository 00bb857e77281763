import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Journal } from '../../../../src/main/engine/journal/journal.ts'
import { readPage } from '../../../../src/main/engine/run/results/result-page.ts'
import { toJournalFile } from '../../../../src/main/engine/workspace/workspace-files.ts'
import { type FaultServer, startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { createRunPlan, openTestFolder } from '../../../helpers/test-folder.ts'
import { startHoldingService } from './holding-service.ts'
import { countArrivals, listBodies } from './wire-record.ts'

const folder = openTestFolder()
const runs = createInProcessRuns(join(folder, 'runs'))

const RULES = [{ rule_id: 'r1', rule_name: 'Everything' }]

const NO_BOUND = 4_294_967_294

/**
 * Makes the disk full at the transaction with that number, counted over all journals from now on, or at the
 * first that is written separately from what waits for its commit. The journal may grow by `pages` more, and
 * that transaction needs `takes` bytes in addition to its own. With `once`, there is space again for the next
 * one.
 */
function fillDisk(options: {
  at: number | 'apart'
  pages: number
  takes?: number
  once?: boolean
}): () => void {
  const { transact } = Journal.prototype
  let transactions = 0
  Journal.prototype.transact = function (durability, write, isApart) {
    const isCounted = options.at !== 'apart' || isApart === true
    if (isCounted) transactions += 1
    const isMeant = isCounted && transactions === (options.at === 'apart' ? 1 : options.at)
    const takes = isMeant ? (options.takes ?? 0) : 0
    const { page_count } = this.db.prepare('PRAGMA page_count').get() ?? {}
    if (isMeant) {
      this.db.exec(`PRAGMA max_page_count = ${Number(page_count) + options.pages}`)
    }
    const fill = (): void => {
      write()
      if (takes > 0) this.db.exec(`CREATE TABLE filler AS SELECT randomblob(${takes})`)
    }
    try {
      transact.call(this, durability, fill, isApart)
    } finally {
      if (options.once === true) this.db.exec(`PRAGMA max_page_count = ${NO_BOUND}`)
    }
  }
  const free = (): void => {
    Journal.prototype.transact = transact
  }
  onTestFinished(free)
  return free
}

/** Reads the source of a run, and stops the run before it sends anything. */
async function readSource(server: FaultServer, rows: number): Promise<string> {
  const held = runs.start(createRunPlan(folder, rows, server.baseUrl), { hold: true })
  await held.until(({ phase }) => phase === 'ready')
  held.command({ kind: 'stop' })
  await held.ended
  return held.runId
}

test.each([0, 2, 7])(
  'a run whose disk is full after %i more pages ends with that error, and a resume completes it',
  async (pages) => {
    const server = await startFaultServer({
      onRequest: (request, wire) => wire.send(200, toTaskAnswer(request, RULES)),
    })
    const runId = await readSource(server, 400)
    // The first transaction of a session records that it sends; the disk is full from its first block on.
    const free = fillDisk({ at: 2, pages })
    await expect(runs.resume(runId).ended).rejects.toMatchObject({
      code: 'DISK_FULL',
      message: expect.stringContaining(toJournalFile(runs.workspace, runId)),
    })
    free()
    const cutOff = runs.summarize(runId)
    const { succeeded, unknown, not_sent } = cutOff.rows
    expect(cutOff.state).toBe('interrupted')
    expect(succeeded + unknown + not_sent).toBe(400)
    const arrived = new Set(listBodies(server).keys())
    // Arrived rows are journaled or listed as unknown, and no others are listed as sent.
    const page = runs.read(runId, (view) => readPage(view, { filter: {}, offset: 0, limit: 500 }))
    const sent = new Set(page.rows.filter(({ state }) => state !== 'pending').map(({ row }) => row))
    expect([...arrived].filter((row) => !sent.has(row))).toEqual([])
    const unknownRows = page.rows.filter(({ state }) => state === 'unknown').map(({ row }) => row)
    expect(unknownRows).toHaveLength(unknown)

    const resumed = await runs.resume(runId, 'resend').ended
    expect(resumed).toMatchObject({
      state: 'completed',
      rows: { read: 400, succeeded: 400, unknown: 0, not_sent: 0 },
      triggered_rules: [{ rule_id: 'r1', rule_name: 'Everything', rows: 400 }],
    })
    expect(countArrivals(server)).toHaveLength(400)
    const twice = [...listBodies(server)].filter(([, bodies]) => bodies.length > 1).map(([row]) => row)
    expect(twice.filter((row) => !unknownRows.includes(row))).toEqual([])
  },
)

test('answers that found no space are written if there is space again before the run ends', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) =>
      wire.send(200, { ...toTaskAnswer(request, RULES), padding: randomBytes(60_000).toString('hex') }),
  })
  const runId = await readSource(server, 40)
  fillDisk({ at: 4, pages: 0, once: true })
  await expect(runs.resume(runId).ended).rejects.toMatchObject({ code: 'DISK_FULL' })
  const arrived = listBodies(server).size
  expect(arrived).toBeGreaterThan(0)
  const { rows, triggered_rules } = runs.summarize(runId)
  expect(rows).toMatchObject({ succeeded: arrived, unknown: 0, not_sent: 40 - arrived })
  expect(triggered_rules).toEqual([{ rule_id: 'r1', rule_name: 'Everything', rows: arrived }])
  const page = runs.read(runId, (view) =>
    readPage(view, { filter: { ruleIds: ['r1'] }, offset: 0, limit: 100 }),
  )
  expect(page.rows).toHaveLength(arrived)
  for (const { triggeredRules } of page.rows) {
    expect(triggeredRules).toEqual([{ ruleId: 'r1', ruleName: 'Everything' }])
  }
})

test('a source that does not fit on the disk ends intake, and nothing was sent', async () => {
  const server = await startFaultServer()
  fillDisk({ at: 2, pages: 3 })
  const run = runs.start(createRunPlan(folder, 6_000, server.baseUrl))
  await expect(run.ended).rejects.toMatchObject({ code: 'DISK_FULL', exitCode: 1 })
  expect(server.connections).toBe(0)
})

test('a change of concurrency applies while the disk is full, and is recorded when there is space again', async () => {
  const server = await startHoldingService()
  const plan = createRunPlan(folder, 40, server.baseUrl, { pace: { kind: 'closed', concurrency: 2 } })
  const run = runs.start(plan)
  await server.arrivals(2)
  fillDisk({ at: 'apart', pages: 0, takes: 1_000_000, once: true })
  run.command({ kind: 'set_concurrency', concurrency: 7 })
  await server.arrivals(7)
  run.command({ kind: 'stop' })
  server.answer(7)
  expect(await run.ended).toMatchObject({ state: 'interrupted' })
  expect(runs.read(run.runId, ({ record }) => record.plan.pace)).toMatchObject({ concurrency: 7 })
})
