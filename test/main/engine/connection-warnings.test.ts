import { expect, test } from 'vitest'
import { formatSummary } from '../../../src/main/cli/summary/summary-text.ts'
import { startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { openEngine, untilSnapshot } from '../../helpers/test-engine.ts'
import { createRunPlan, openTestFolder } from '../../helpers/test-folder.ts'
import { createPlainTerminal } from '../cli/plain-terminal.ts'

const folder = openTestFolder()
const engine = openEngine(folder)

const CLOSED = {
  code: 'CONNECTIONS_NOT_REUSED',
  message: expect.stringMatching(/^The service closed connections after an answer without saying so\./),
}

/** Closes each connection after its first answer without announcing it. */
const startClosingService = () =>
  startFaultServer({
    onRequest: (request, wire) => {
      wire.send(200, toTaskAnswer(request))
      wire.socket.end()
    },
  })

test('a run whose service closes connections unannounced reports in snapshot, summary and text that it reuses none', async () => {
  const server = await startClosingService()
  const run = await engine.runs.startRun(createRunPlan(folder, 40, server.baseUrl), { apiKey: 'key' })
  const snapshot = untilSnapshot(run, ({ warnings }) => warnings.length > 0)
  const summary = await run.ended
  expect(summary).toMatchObject({ rows: { succeeded: 40, unknown: 0 }, warnings: [CLOSED] })
  expect((await snapshot).warnings).toEqual([CLOSED])
  expect(formatSummary(createPlainTerminal(200), summary)).toMatch(
    /\nWarning +The service closed connections after an answer without saying so\. While/,
  )
  expect((await engine.runs.summarizeRun(run.runId)).warnings).toEqual([CLOSED])
})

test('a load test reports that too', async () => {
  onlyInLongForm()
  const server = await startClosingService()
  const plan = createRunPlan(folder, 10, server.baseUrl, {
    load: { pace: { kind: 'closed', concurrency: 2 }, requests: 40, workers: 2, warmupMs: 0 },
  })
  const summary = await (await engine.runs.startRun(plan, { apiKey: 'key' })).ended
  expect(summary.warnings).toEqual([CLOSED])
})

test('a run whose service keeps its connections has no warnings', async () => {
  onlyInLongForm()
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  const run = await engine.runs.startRun(createRunPlan(folder, 40, server.baseUrl), { apiKey: 'key' })
  expect((await run.ended).warnings).toEqual([])
  expect(server.connections).toBeLessThan(40)
})
