import { describe, expect, it } from 'vitest'
import { printReport } from '../../../../src/main/cli/session/find-capacity.ts'
import type { CapacityPlan } from '../../../../src/shared/load/capacity-plan.ts'
import type { CapacityOutcome } from '../../../../src/shared/load/capacity-report.ts'
import { findCapacity } from '../../../../src/shared/load/find-capacity.ts'
import { loadSchema } from '../../../../src/shared/load/load.ts'
import { SluiceError } from '../../../../src/shared/messages/errors.ts'
import { type Plan, planSchema } from '../../../../src/shared/plan/plan.ts'
import { createProbeSummary, type ProbeParts } from '../../../shared/load/probe-summary.ts'
import { createKeptContext } from '../run-in-process.ts'

const PLAN = {
  ...planSchema.parse({
    name: 'posts.csv',
    connection: { baseUrl: 'http://127.0.0.1:9' },
    source: { path: 'posts.csv' },
    operation: { kind: 'task' },
  }),
  load: loadSchema.parse({ pace: { kind: 'closed', concurrency: 1 }, durationMs: 8_000, thresholds: [] }),
}

const CAPACITY: CapacityPlan = {
  ...{ unit: 'concurrency', start: 1, max: 64, resolution: 0.05, repeats: 3 },
  ...{ maxProbes: 25, maxTimeMs: 3_600_000, probeMs: 10_000, coolDownMs: 2_000 },
}

const HELD: ProbeParts = {}
const FAILED: ProbeParts = { failed: ['ms'] }

/** Searches a modelled service on a clock that only its probes and pauses move. */
async function search(
  model: (concurrency: number, number: number) => ProbeParts | Error,
  { capacity: changes = {}, interruptAfter = Number.POSITIVE_INFINITY, warmupMs = 0 }: SearchChanges = {},
) {
  const capacity = { ...CAPACITY, ...changes }
  const sent: Plan[] = []
  let nowMs = 0
  const outcome = await findCapacity({ ...PLAN, load: { ...PLAN.load, warmupMs } }, capacity, {
    send: async (probe) => {
      sent.push(probe)
      nowMs += 8_000
      const { pace } = probe.load ?? expect.fail('a probe is a load test')
      const ended = model(pace.kind === 'closed' ? pace.concurrency : expect.fail(pace.kind), sent.length)
      if (ended instanceof Error) throw ended
      return createProbeSummary(ended)
    },
    onJudged: async () => {},
    pause: async (ms) => {
      nowMs += ms
    },
    isInterrupted: () => sent.length >= interruptAfter,
    nowMs: () => nowMs,
  })
  return { outcome, names: sent.map(({ name }) => name) }
}

interface SearchChanges {
  capacity?: Partial<CapacityPlan>
  interruptAfter?: number
  warmupMs?: number
}

async function print(found: Awaited<ReturnType<typeof search>>, capacity = CAPACITY) {
  const { context, stdout } = createKeptContext({ env: { LANG: 'C.UTF-8' } })
  const outcome = found.outcome as CapacityOutcome
  const code = await printReport(context, { plan: PLAN, capacity, flags: {} }, outcome)
  return { code, text: stdout() }
}

describe('a capacity search', () => {
  it('ends at the highest level allowed, and never sends more', async () => {
    const capacity = { ...CAPACITY, max: 2 }
    const found = await search(() => HELD, { capacity })
    expect(found.names).toEqual(
      [1, 2, 2, 2].map((level, at) => `posts.csv, probe ${at + 1} at ${level} in flight`),
    )
    const { code, text } = await print(found, capacity)
    expect(code).toBe(0)
    expect(text).toMatch(/^Capacity +at least 2 requests in flight\n/)
    expect(text).toMatch(/The highest level allowed held: 2 in flight/)
    expect(text).toMatch(/http_req_duration by concurrency, ms/)
    expect(text).toMatch(/2 {2}✓ 3 of 3/)
  })

  it('exits with 0 if the capacity was found, with the time that probes and pauses took', async () => {
    const found = await search((concurrency) => (concurrency <= 5 ? HELD : FAILED))
    // 1, 2, 4, 8, 6, 5, then 5 and 6 twice more: ten probes with nine pauses between them.
    expect(found.outcome).toMatchObject({ end: 'found', elapsedMs: 10 * 8_000 + 9 * 2_000 })
    const { code, text } = await print(found)
    expect(code).toBe(0)
    expect(text).toMatch(/^Capacity +5 requests in flight\n/)
  })

  it('exits with 99 if no level holds', async () => {
    const found = await search(() => FAILED)
    expect(found.outcome).toMatchObject({ end: 'none_held' })
    expect((await print(found)).code).toBe(99)
  })

  it('exits with 1 if its limits end it, and with 130 if a person does', async () => {
    const limited = await search(() => HELD, { capacity: { maxProbes: 2 } })
    expect(limited.outcome).toMatchObject({ end: 'probe_limit' })
    expect((await print(limited)).code).toBe(1)
    const late = await search(() => HELD, { capacity: { maxTimeMs: 25_000 } })
    expect(late.outcome).toMatchObject({ end: 'time_limit', probes: [{ level: 1 }, { level: 2 }] })
    const paused = await search(() => HELD, { interruptAfter: 2 })
    expect(paused.outcome).toMatchObject({ end: 'interrupted', probes: [{ level: 1 }, { level: 2 }] })
    expect((await print(paused)).code).toBe(130)
  })

  it('ends after its first probe where nothing was answered, not even the first request', async () => {
    for (const warmup of [{}, { warmupAnswered: 0 }]) {
      const silent: ProbeParts = { ...FAILED, statuses: [null], firstStatus: null, ...warmup }
      const found = await search(() => silent, { warmupMs: 'warmupAnswered' in warmup ? 10_000 : 0 })
      expect(found.outcome).toMatchObject({
        end: 'broken_off',
        error:
          'The service answered neither the first request nor any of the 100 requests of the first probe. Check that it is up, then search again.',
      })
      expect(found.names).toHaveLength(1)
      expect((await print(found)).code).toBe(1)
    }
  })

  it('goes on where the first probe was answered in part, or only the first request was', async () => {
    for (const parts of [
      { statuses: [null, 503], firstStatus: null },
      { statuses: [null], firstStatus: 200 },
    ]) {
      const { outcome } = await search((_, number) => (number === 1 ? { ...FAILED, ...parts } : FAILED))
      expect(outcome).toMatchObject({ end: 'none_held' })
    }
  })

  it('goes on after a silent first probe whose warm-up was answered', async () => {
    const silent: ProbeParts = { ...FAILED, statuses: [null], firstStatus: null, warmupAnswered: 1 }
    const { outcome } = await search((concurrency) => (concurrency > 8 ? silent : HELD), {
      ...{ capacity: { start: 16 }, warmupMs: 10_000 },
    })
    expect(outcome).toMatchObject({ end: 'found' })
  })

  it('leaves out a probe that was interrupted', async () => {
    const { outcome } = await search((_, number) => (number === 2 ? { state: 'interrupted' } : HELD))
    expect(outcome).toMatchObject({ end: 'interrupted', probes: [{ level: 1 }] })
  })

  it('keeps what was measured if an error or a stopped run ends it', async () => {
    const error = new SluiceError({ id: 'run_deleted', runId: 'r' })
    const broken = await search((_, number) => (number === 3 ? error : HELD))
    expect(broken.outcome).toMatchObject({ end: 'broken_off', error: error.message })
    expect(broken.outcome).toMatchObject({ probes: [{ level: 1 }, { level: 2 }] })
    expect((await print(broken)).code).toBe(1)
    const stopped = await search((_, number) =>
      number === 2 ? { state: 'stopped', stopReason: 'The key was refused.' } : HELD,
    )
    expect(stopped.outcome).toMatchObject({ end: 'broken_off', error: 'The key was refused.' })
  })

  it('throws what ends its first probe, and hands over a first probe that sent nothing', async () => {
    const error = new SluiceError({ id: 'run_deleted', runId: 'r' })
    await expect(search(() => error)).rejects.toBe(error)
    const { outcome } = await search(() => ({ attempted: 0 }))
    expect(outcome).toMatchObject({ unsent: { requests: { sent: 0 } } })
  })

  it('goes on if a threshold stopped a probe early', async () => {
    const { outcome } = await search((concurrency) =>
      concurrency > 2 ? { ...FAILED, state: 'stopped' } : HELD,
    )
    expect(outcome).toMatchObject({ end: 'found' })
  })
})
