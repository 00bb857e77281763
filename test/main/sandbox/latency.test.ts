import { describe, expect, it } from 'vitest'
import { createRateLimiter, createSlots } from '../../../src/main/sandbox/behaviour.ts'
import { chooseDelayMs, parseLatency } from '../../../src/main/sandbox/latency.ts'
import { createDraw } from '../../../src/main/sandbox/seeded-draw.ts'
import { SluiceError } from '../../../src/shared/messages/errors.ts'
import { withSandbox } from '../../helpers/sandbox.ts'

const POSTS = 20_000

/** Delays of many posts, sorted. */
function chooseMany(text: string): number[] {
  const latency = parseLatency(text)
  return Array.from({ length: POSTS }, (_, i) =>
    chooseDelayMs(latency, createDraw('seed', `p-${i}`, 1)),
  ).sort((a, b) => a - b)
}

describe('a latency', () => {
  it('may be one value, in milliseconds or seconds', () => {
    expect(new Set(chooseMany('40ms'))).toEqual(new Set([40]))
    expect(new Set(chooseMany('1.5s'))).toEqual(new Set([1500]))
    expect(new Set(chooseMany('0'))).toEqual(new Set([0]))
  })

  it.each(['40ms±10ms', '40ms+-10ms', '40ms+/-10ms', ' 40ms ± 10ms '])(
    'written "%s" is spread evenly',
    (text) => {
      const delays = chooseMany(text)
      expect(delays[0]).toBeGreaterThanOrEqual(30)
      expect(delays[0]).toBeLessThan(30.1)
      expect(delays[POSTS / 4]).toBeCloseTo(35, 0)
      expect(delays[POSTS / 2]).toBeCloseTo(40, 0)
      expect(delays.at(-1)).toBeLessThanOrEqual(50)
      expect(delays.at(-1)).toBeGreaterThan(49.9)
    },
  )

  it('may have rarer modes, each with its share', () => {
    const delays = chooseMany('20ms|200ms±50ms@5%|2s@1%')
    const share = (from: number, to: number) => delays.filter((ms) => ms >= from && ms <= to).length / POSTS
    expect(share(20, 20)).toBeCloseTo(0.94, 2)
    expect(share(150, 250)).toBeCloseTo(0.05, 2)
    expect(share(2000, 2000)).toBeCloseTo(0.01, 2)
  })

  it.each([
    '',
    '40 apples',
    '-1ms',
    '10ms±20ms',
    '10ms±1ms±1ms',
    '10ms|20ms',
    '1ms|2ms@60%|3ms@50%',
    '1ms|2ms@120%',
    '2h',
    '4000s',
  ])('written "%s" is refused with a hint', (text) => {
    expect(() => parseLatency(text)).toThrow(SluiceError)
    expect(() => parseLatency(text)).toThrow(`latency "${text}": expected`)
  })

  it('passes before the answer', async () => {
    const sandbox = await withSandbox({ latency: '40ms' })
    const startedAt = performance.now()
    await sandbox.post('/api/v1/task/sync', { text_data: 'x', user_id: 'u', post_id: 'p' })
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(38)
  })
})

describe('chance', () => {
  it('depends only on seed, post_id, try and purpose', () => {
    const draw = (seed: string, key: string, tryNumber: number, purpose: string) =>
      createDraw(seed, key, tryNumber)(purpose)
    const first = draw('s', 'p', 1, 'fault')
    expect(draw('s', 'p', 1, 'fault')).toBe(first)
    const others = [
      draw('t', 'p', 1, 'fault'),
      draw('s', 'q', 1, 'fault'),
      draw('s', 'p', 2, 'fault'),
      draw('s', 'p', 1, 'x'),
    ]
    expect(new Set([first, ...others]).size).toBe(5)
    expect(draw('ab', 'c', 1, 'x')).not.toBe(draw('a', 'bc', 1, 'x'))
  })

  it('is spread evenly over similar post_ids, and over the tries of one', () => {
    for (const draw of [
      (i: number) => createDraw('sluice', `run-${i}`, 1)('fault'),
      (i: number) => createDraw('sluice', 'post', i)('fault'),
    ]) {
      const tenths = new Array<number>(10).fill(0)
      for (let i = 0; i < POSTS; i++) {
        const tenth = Math.floor(draw(i) * 10)
        tenths[tenth] = (tenths[tenth] ?? 0) + 1
      }
      for (const count of tenths) expect(count / POSTS).toBeCloseTo(0.1, 1.7)
    }
  })
})

describe('a rate limit', () => {
  it("lets one second's worth through at once, then one per interval", () => {
    let atMs = 0
    const limiter = createRateLimiter(4, () => atMs)
    expect([1, 2, 3, 4].map(() => limiter.take())).toEqual([0, 0, 0, 0])
    expect(limiter.take()).toBe(1)
    atMs += 250
    expect([limiter.take(), limiter.take()]).toEqual([0, 1])
    atMs += 60_000
    expect([1, 2, 3, 4, 5].map(() => limiter.take())).toEqual([0, 0, 0, 0, 1])
  })

  it('names the whole seconds until the next', () => {
    const limiter = createRateLimiter(0.1, () => 0)
    expect(limiter.take()).toBe(0)
    expect(limiter.take()).toBe(10)
  })

  it('is answered 429 with Retry-After in the error shape, and stores nothing', async () => {
    let atMs = 0
    const clock = { nowMs: () => atMs, date: () => new Date(0) }
    const sandbox = await withSandbox({ ratePerSecond: 1 }, clock)
    const send = (postId: string) =>
      sandbox.post('/api/v1/task/sync', { text_data: 'x', user_id: 'u', post_id: postId })
    expect((await send('p1')).status).toBe(200)
    const refused = await send('p2')
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(JSON.parse(refused.text)).toMatchObject({ error: true, status: 429, error_code: 'RATE_LIMITED' })
    atMs += 1_000
    expect((await send('p2')).status).toBe(200)
    expect((await sandbox.stats()).outcomes).toEqual({ accepted: 2, 'rejected:RATE_LIMITED': 1 })
  })
})

describe('slots', () => {
  it('work on a number of requests at once, and admit the others in order of arrival', () => {
    const slots = createSlots(2)
    const begun: string[] = []
    const releases = new Map<string, () => void>()
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      slots.take((release) => {
        begun.push(name)
        releases.set(name, release)
      })
    }
    expect(begun).toEqual(['a', 'b'])
    releases.get('b')?.()
    expect(begun).toEqual(['a', 'b', 'c'])
    releases.get('c')?.()
    releases.get('a')?.()
    releases.get('d')?.()
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'e'])
    releases.get('e')?.()
    // Both slots are free again.
    for (const name of ['f', 'g', 'h']) slots.take(() => begun.push(name))
    expect(begun.slice(5)).toEqual(['f', 'g'])
  })

  it('answer every request in turn if there is only one', async () => {
    const sandbox = await withSandbox({ latency: '2ms', slots: 1 })
    const order: number[] = []
    await Promise.all(
      [1, 2, 3].map(async (n) => {
        const answer = await sandbox.post('/api/v1/task/sync', {
          text_data: 'hello',
          user_id: 'u',
          post_id: `p-${n}`,
        })
        expect(answer.status).toBe(200)
        order.push(n)
      }),
    )
    expect(order).toHaveLength(3)
  })
})
