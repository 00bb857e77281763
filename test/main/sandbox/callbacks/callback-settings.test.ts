import { describe, expect, it } from 'vitest'
import { createDueQueue, hurryDueQueue } from '../../../../src/main/sandbox/callbacks/callback-queue.ts'
import {
  parseCallbacks,
  planCallbacks,
  toRetryWaitMs,
} from '../../../../src/main/sandbox/callbacks/callback-settings.ts'
import { createDraw } from '../../../../src/main/sandbox/seeded-draw.ts'
import { SluiceError } from '../../../../src/shared/messages/errors.ts'

const TASKS = 20_000

function planMany(text: string, seed = 'seed') {
  const settings = parseCallbacks(text)
  return Array.from({ length: TASKS }, (_, i) => planCallbacks(settings, createDraw(seed, `p-${i}`, 1)))
}

describe('callback settings', () => {
  it('default to one delivery without delay', () => {
    expect(parseCallbacks('')).toMatchObject({ attempts: 12, backoffMs: 200, connections: 32 })
    expect(new Set(planMany('').map((plan) => JSON.stringify(plan)))).toEqual(
      new Set([JSON.stringify([{ timing: 'normal', waitMs: 0 }])]),
    )
  })

  it('are parts separated by commas', () => {
    const text =
      ' delay=50ms±20ms|1s@1% , shuffle=2s,double=5%,early=6%,late=1%@2s,drop=0.5%,attempts=3,backoff=1s,timeout=5s,connections=8'
    expect(parseCallbacks(text)).toEqual({
      delay: [
        { baseMs: 50, jitterMs: 20, share: 0.99 },
        { baseMs: 1000, jitterMs: 0, share: 0.01 },
      ],
      shuffleMs: 2000,
      doubleShare: 0.05,
      earlyShare: 0.06,
      lateShare: 0.01,
      lateMs: 2000,
      dropShare: 0.005,
      attempts: 3,
      backoffMs: 1000,
      timeoutMs: 5000,
      connections: 8,
    })
    expect(parseCallbacks('shuffle').shuffleMs).toBe(500)
  })

  it.each([
    ',',
    'shuffle,shuffle',
    'delay',
    'delay=soon',
    'shuffle=soon',
    'early=5',
    'early=1%=2',
    'late=5%',
    'late=5%@soon',
    'late=5%@1s@2s',
    'attempts=0',
    'timeout=0',
    'connections=0',
    'connections=100000',
    'hurry=1%',
    'early=50%,late=40%@1s,drop=20%',
  ])('such as "%s" are refused with a hint', (text) => {
    expect(() => parseCallbacks(text)).toThrow(SluiceError)
    expect(() => parseCallbacks(text)).toThrow(/expected/)
  })
})

describe('the plan of a callback', () => {
  it('applies each setting to its share of the tasks', () => {
    const plans = planMany('early=5%,late=1%@2s,drop=2%,double=10%')
    const share = (holds: (plan: (typeof plans)[number]) => boolean) => plans.filter(holds).length / TASKS
    expect(share(([first]) => first?.timing === 'early')).toBeCloseTo(0.05, 2)
    expect(share(([first]) => first?.timing === 'late' && first.waitMs === 2000)).toBeCloseTo(0.01, 2)
    expect(share(([first]) => first?.timing === 'dropped')).toBeCloseTo(0.02, 2)
    expect(share((plan) => plan.length === 2)).toBeCloseTo(0.1, 2)
    expect(
      share(([first, second]) => first?.timing === 'early' && second?.timing === 'normal'),
    ).toBeGreaterThan(0)
    expect(share(([first, second]) => first?.timing === 'dropped' && second !== undefined)).toBe(0)
  })

  it('depends on the seed only', () => {
    const text = 'delay=50ms±20ms,shuffle,double=5%,early=5%,late=1%@2s'
    const first = JSON.stringify(planMany(text, 'a'))
    expect(JSON.stringify(planMany(text, 'a')) === first).toBe(true)
    expect(JSON.stringify(planMany(text, 'b')) === first).toBe(false)
  })

  it('shuffles by an additional wait, separately for each copy', () => {
    const plans = planMany('delay=10ms,shuffle=100ms,double=100%')
    const waits = plans.map(([first]) => first?.waitMs ?? 0)
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(10)
    expect(Math.max(...waits)).toBeLessThanOrEqual(110)
    expect(waits.toSorted((a, b) => a - b)[TASKS / 2]).toBeCloseTo(60, -1)
    const swapped = plans.filter(([first, second]) => (first?.waitMs ?? 0) > (second?.waitMs ?? 0))
    expect(swapped.length / TASKS).toBeCloseTo(0.5, 1)
  })
})

describe('the wait before another attempt', () => {
  const failed = { status: 500, error: null, retryAfterMs: null, isReusedSocketClosed: false }
  const wait = (attempts: number, result = failed) =>
    toRetryWaitMs(result, { attempts, backoffMs: 200, draw: createDraw('seed', 'task', attempts) })

  it('doubles, with a quarter of jitter, up to 30 s', () => {
    for (const attempts of [1, 2, 3, 4, 5, 6, 7]) {
      const middle = 200 * 2 ** (attempts - 1)
      expect(wait(attempts)).toBeGreaterThanOrEqual(middle * 0.75)
      expect(wait(attempts)).toBeLessThanOrEqual(middle * 1.25)
    }
    expect(wait(50)).toBe(30_000)
  })

  it('is at least Retry-After, up to 30 s, and none if the receiver closed the reused connection', () => {
    expect(wait(1, { ...failed, retryAfterMs: 5_000 } as never)).toBe(5_000)
    expect(wait(6, { ...failed, retryAfterMs: 1_000 } as never)).toBeGreaterThan(4_000)
    expect(wait(1, { ...failed, retryAfterMs: 600_000 } as never)).toBe(30_000)
    expect(wait(9, { ...failed, isReusedSocketClosed: true })).toBe(0)
  })
})

describe('the queue of what is due', () => {
  it('gives what is due first, first', () => {
    const queue = createDueQueue()
    const draw = createDraw('seed', 'heap', 1)
    const entries = Array.from({ length: 1_000 }, (_, id) => ({ id, dueMs: Math.floor(draw(`${id}`) * 100) }))
    for (const entry of entries) queue.push(entry)
    expect(queue.length).toBe(1_000)
    const taken = Array.from({ length: 1_000 }, () => queue.pop())
    expect(taken).toEqual(entries.toSorted((a, b) => a.dueMs - b.dueMs || a.id - b.id))
    expect(queue.pop()).toBeUndefined()
  })

  it('gives expedited callbacks in the order of their ids', () => {
    const entries = [500, 900, 20, 700].map((dueMs, id) => ({ id, dueMs }))
    const queue = hurryDueQueue(createDueQueue(entries), 100)
    queue.push({ id: 4, dueMs: 50 })
    expect(Array.from({ length: 5 }, () => queue.pop()?.id)).toEqual([2, 4, 0, 1, 3])
  })
})
