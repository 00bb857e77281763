import { expect, test } from 'vitest'
import { expectFaultless, recordService } from '../helpers/history/expect-faultless.ts'
import { createRecording } from '../helpers/history/recording.ts'
import { onlyInLongForm } from '../helpers/long-form.ts'
import { withSandbox } from '../helpers/sandbox.ts'
import { openEngine } from '../helpers/test-engine.ts'
import { createRunPlan, openTestFolder } from '../helpers/test-folder.ts'

const folder = openTestFolder()

test('rows with lost acknowledgements are settled by their callbacks and counted once', async () => {
  onlyInLongForm()
  const sandbox = await withSandbox({
    faults: ['truncated=80%,tries=1'],
    seed: 'c',
    latency: '30ms',
    callbacks: 'delay=30ms',
  })
  const engine = openEngine(folder)
  const recording = createRecording()
  const baseUrl = await recordService(sandbox.baseUrl, recording)
  const plan = createRunPlan(folder, 300, baseUrl, {
    operation: { kind: 'task', mode: 'async' },
    pace: { kind: 'closed', concurrency: 4 },
    callback: { timeoutMs: 5_000 },
  })
  const run = await engine.runs.startRun(plan, { apiKey: sandbox.key, whenFailing: 'stop' })
  const { state, rows, to_repeat } = await run.ended
  expect({ state, rows, to_repeat }).toMatchObject({
    state: 'completed',
    rows: { read: 300, succeeded: 300, not_sent: 0, rejected: 0, unknown: 0, overdue: 0 },
    to_repeat: { rows: 0 },
  })
  expect(expectFaultless(folder, [run.runId], recording)).toEqual({ ok: 300, info: 0, fail: 0 })
})
