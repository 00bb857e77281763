import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { createWorkspaceFolders, listRunIds } from '../../src/main/engine/workspace/workspace-files.ts'
import type { PlanInput } from '../../src/shared/plan/plan.ts'
import { startCallbackService } from '../helpers/callback-service.ts'
import { runKilled } from '../helpers/crash/kill.ts'
import { expectFaultless } from '../helpers/history/expect-faultless.ts'
import { onlyInLongForm } from '../helpers/long-form.ts'
import { openEngine } from '../helpers/test-engine.ts'
import { createRunPlan, openTestFolder } from '../helpers/test-folder.ts'

/** `SLUICE_ASYNC_ROWS=20000` runs the full proof; the short form is part of every test run. */
const ROWS = Number(process.env['SLUICE_ASYNC_ROWS'] ?? (inject('isLong') ? 1_000 : 300))
const TIMEOUT_MS = 240_000

const folder = openTestFolder()

/**
 * 5 % are doubled, 5 % come before their acknowledgement, 1 % after the run; the order of the others is
 * shuffled.
 */
const toFate = ({ index }: { index: number }) => ({
  isDoubled: index % 20 === 3,
  isEarly: index % 20 === 7,
  isLate: index % 100 === 50,
})

const COUNTS = {
  doubled: Math.ceil((ROWS - 3) / 20),
  early: Math.ceil((ROWS - 7) / 20),
  late: Math.ceil((ROWS - 50) / 100),
}

const toPlan = (workspace: string, baseUrl: string) =>
  createRunPlan(folder, ROWS, baseUrl, {
    operation: { kind: 'task', mode: 'async' },
    pace: { kind: 'closed', concurrency: 16 },
    // Long enough that only callbacks that are held back are late, even on a busy machine.
    callback: { timeoutMs: 4_000 },
    name: workspace,
  } satisfies Partial<PlanInput>)

test(
  `${ROWS} async items are settled exactly once, however often and whenever their callbacks come`,
  async () => {
    const service = await startCallbackService(toFate)
    const engine = openEngine(join(folder, 'workspace-1'))
    const run = await engine.runs.startRun(toPlan('whole', service.baseUrl), { apiKey: 'key' })
    const ended = await run.ended
    expect(ended).toMatchObject({
      state: 'completed',
      rows: { read: ROWS, succeeded: ROWS - COUNTS.late, overdue: COUNTS.late, awaiting: 0, unknown: 0 },
      requests: { sent: ROWS, succeeded: ROWS, retried: 0 },
    })
    service.releaseLate()
    await service.untilDelivered()
    await engine.runs.settleLate(run.runId)
    const settled = await engine.runs.summarizeRun(run.runId)
    expect(settled.rows).toMatchObject({ read: ROWS, succeeded: ROWS, overdue: 0 })
    expect(settled.callbacks).toMatchObject({
      received: ROWS + COUNTS.doubled,
      settled: ROWS,
      // On a busy machine more callbacks come before the run has read their acknowledgement.
      early: expect.toSatisfy((n: number) => n >= COUNTS.early),
      late: COUNTS.late,
      doubled: COUNTS.doubled,
      unreadable: 0,
    })
    expect(settled.latency_ms.callback_latency?.count).toBe(ROWS)
    expect(settled.errors).toEqual([])
    expect(settled.triggered_rules).toEqual([
      { rule_id: 'r3', rule_name: 'Threefold', rows: Math.ceil(ROWS / 3) },
    ])
    expect([...service.taken.values()].every((n) => n === 1)).toBe(true)
    const judged = expectFaultless(join(folder, 'workspace-1'), [run.runId], service.recording)
    expect(judged).toEqual({ ok: ROWS, info: 0, fail: 0 })
  },
  TIMEOUT_MS,
)

test(
  'an app killed during an async run settles every item once after its restart',
  async () => {
    onlyInLongForm()
    const service = await startCallbackService(toFate)
    const workspace = join(folder, 'workspace-2')
    createWorkspaceFolders(workspace)
    const plan = toPlan('killed', service.baseUrl)
    const isKilled = await runKilled(
      { workspace, work: { kind: 'start', plan } },
      { kind: 'commit', at: `after:${Math.round(ROWS / 100)}` },
    )
    expect(isKilled).toBe(true)
    const [runId = ''] = listRunIds(workspace)
    expect(service.taken.size).toBeGreaterThan(0)
    expect(service.taken.size).toBeLessThan(ROWS)
    expect(await runKilled({ workspace, work: { kind: 'resume', runId, onUnknown: 'skip' } }, null)).toBe(
      false,
    )
    const engine = openEngine(workspace)
    await engine.receiver.open()
    service.releaseLate()
    await service.untilDelivered()
    await engine.runs.settleLate(runId)
    const settled = await engine.runs.summarizeRun(runId)
    // Rows that were marked but never left wait for the person's decision; all rows that were taken are
    // settled.
    const never = ROWS - service.taken.size
    expect(settled.rows).toMatchObject({
      read: ROWS,
      succeeded: service.taken.size,
      unknown: never,
      overdue: 0,
    })
    expect(settled.callbacks?.settled).toBe(service.taken.size)
    expect([...service.taken.values()].every((n) => n === 1)).toBe(true)
    expect(expectFaultless(workspace, [runId], service.recording)).toEqual({
      ok: service.taken.size,
      info: never,
      fail: 0,
    })
    const again = await engine.runs.resumeRun(runId, { apiKey: 'key', onUnknown: 'resend' })
    service.releaseLate()
    await again.ended
    service.releaseLate()
    await service.untilDelivered()
    await engine.runs.settleLate(runId)
    const whole = await engine.runs.summarizeRun(runId)
    expect(whole.rows).toMatchObject({ read: ROWS, succeeded: ROWS, unknown: 0, overdue: 0 })
    expect(whole.callbacks?.settled).toBe(ROWS)
    expect(service.taken.size).toBe(ROWS)
    expect([...service.taken.values()].every((n) => n === 1)).toBe(true)
    expect(expectFaultless(workspace, [runId], service.recording)).toEqual({ ok: ROWS, info: 0, fail: 0 })
  },
  TIMEOUT_MS,
)
