import { describe, expect, it } from 'vitest'
import { decideFault, parseFaults, toFaultOutcome } from '../../../src/main/sandbox/faults.ts'
import { createDraw } from '../../../src/main/sandbox/seeded-draw.ts'
import { SluiceError } from '../../../src/shared/messages/errors.ts'
import { serviceErrorSchema } from '../../../src/shared/service/errors.ts'
import { type TestSandbox, withSandbox } from '../../helpers/sandbox.ts'

const SYNC = '/api/v1/task/sync'

function send(sandbox: TestSandbox, postId: string) {
  return sandbox.post(SYNC, { text_data: 'hello', user_id: 'u', post_id: postId })
}

/** A request as a client sees it: its status, or that the connection broke. */
async function observe(sandbox: TestSandbox, postId: string): Promise<string> {
  try {
    return String((await send(sandbox, postId)).status)
  } catch {
    return 'broken'
  }
}

describe('fault settings', () => {
  it('name a share, and may have settings of their own', () => {
    expect(parseFaults(['429=3%,retry-after=2,tries=1', '503=0.5%'])).toEqual([
      {
        kind: 'status',
        name: '429',
        share: 0.03,
        moment: 'before',
        status: 429,
        retryAfterS: 2,
        tries: 1,
        stallMs: null,
      },
      {
        kind: 'status',
        name: '503',
        share: 0.005,
        moment: 'before',
        status: 503,
        retryAfterS: null,
        tries: null,
        stallMs: null,
      },
    ])
  })

  it('may be combined in one text', () => {
    const faults = parseFaults(['5xx=3%,429=3%,reset=1%,stall-after=1%,for=2s,html=1%,status=502'])
    expect(faults.map(({ name, moment }) => `${name} ${moment}`)).toEqual([
      '5xx before',
      '429 before',
      'reset before',
      'stall-after after',
      'html before',
    ])
    expect(faults.map(({ stallMs }) => stallMs)).toEqual([null, null, null, 2000, null])
    expect(faults[4]?.status).toBe(502)
  })

  it.each([
    '',
    '5xx',
    '5xx=3',
    '5xx=101%',
    '5xx=1%=2',
    'flood=1%',
    '302=1%',
    'html-after=1%',
    'retry-after=1',
    'reset=1%,retry-after=1',
    '429=1%,retry-after=soon',
    '429=1%,tries=0',
    '5xx=1%,for=1s',
    '5xx=60%,reset=50%',
  ])('such as "%s" are refused with a hint', (text) => {
    expect(() => parseFaults([text])).toThrow(SluiceError)
    expect(() => parseFaults([text])).toThrow(`fault "${text}": expected`)
  })

  it('apply to their share of the posts, at most one fault each', () => {
    const faults = parseFaults(['5xx=3%', '429=3%', 'reset=1%', 'stall=1%'])
    const counts: Record<string, number> = {}
    const posts = 50_000
    for (let i = 0; i < posts; i++) {
      const decided = decideFault(faults, 1, createDraw('seed', `post-${i}`, 1))
      const outcome = decided === null ? 'none' : toFaultOutcome(decided)
      counts[outcome] = (counts[outcome] ?? 0) + 1
    }
    const share = (outcome: string) => (counts[outcome] ?? 0) / posts
    expect(share('fault:5xx')).toBeCloseTo(0.03, 2)
    expect(share('fault:429')).toBeCloseTo(0.03, 2)
    expect(share('fault:reset')).toBeCloseTo(0.01, 2)
    expect(share('fault:stall-before')).toBeCloseTo(0.005, 2)
    expect(share('fault:stall-after')).toBeGreaterThan(0.003)
    expect(share('none')).toBeCloseTo(0.92, 2)
  })
})

describe('a fault', () => {
  it('of 5xx comes in the error shape before the task is stored, so a retry is accepted', async () => {
    const sandbox = await withSandbox({ faults: ['5xx=100%,tries=2'] })
    for (const _ of [1, 2]) {
      const answer = await send(sandbox, 'p')
      expect([500, 502, 503, 504]).toContain(answer.status)
      expect(serviceErrorSchema.parse(JSON.parse(answer.text)).status).toBe(answer.status)
      expect(await sandbox.tasks()).toEqual([])
    }
    expect((await send(sandbox, 'p')).status).toBe(200)
    expect((await sandbox.findPost('p')).outcomes).toEqual({ 'fault:5xx': 2, accepted: 1 })
  })

  it('of 5xx-after stores the task first, so a retry is a duplicate', async () => {
    const sandbox = await withSandbox({ faults: ['5xx-after=100%,tries=1'] })
    expect((await send(sandbox, 'p')).status).toBeGreaterThanOrEqual(500)
    const again = await send(sandbox, 'p')
    expect(again.status).toBe(400)
    expect(JSON.parse(again.text).error_code).toBe('DUPLICATE_POST_ID')
  })

  it('of 429 carries Retry-After', async () => {
    const sandbox = await withSandbox({ faults: ['429=100%,retry-after=7'] })
    const answer = await send(sandbox, 'p')
    expect(answer.status).toBe(429)
    expect(answer.headers.get('retry-after')).toBe('7')
    expect(JSON.parse(answer.text).error_code).toBe('RATE_LIMITED')
  })

  it('of reset breaks the connection, with or without the task stored', async () => {
    const sandbox = await withSandbox({ faults: ['reset-before=50%,tries=1', 'reset-after=50%,tries=1'] })
    const posts = Array.from({ length: 20 }, (_, i) => `p-${i}`)
    for (const post of posts) expect(await observe(sandbox, post)).toBe('broken')
    const { tasks, outcomes } = await sandbox.stats()
    expect(tasks).toBe(outcomes['fault:reset-after'])
    expect(tasks).toBeGreaterThan(0)
    expect(tasks).toBeLessThan(posts.length)
    for (const post of posts) {
      const wasStored = (await sandbox.findPost(post)).task !== null
      expect(await observe(sandbox, post)).toBe(wasStored ? '400' : '200')
    }
  })

  it('of stall keeps the client waiting, for ever or for a while', async () => {
    const sandbox = await withSandbox({ faults: ['stall-after=100%'] })
    const body = JSON.stringify({ text_data: 'x', user_id: 'u', post_id: 'p' })
    const request = fetch(sandbox.baseUrl + SYNC, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `token ${sandbox.key}` },
      body,
      signal: AbortSignal.timeout(100),
    })
    await expect(request).rejects.toThrow(/timeout/)
    expect((await sandbox.findPost('p')).task).not.toBeNull()

    sandbox.behave({ faults: ['stall-after=100%,for=20ms'] })
    expect((await send(sandbox, 'q')).status).toBe(200)
    sandbox.behave({ faults: ['stall-before=100%,for=20ms'] })
    expect((await send(sandbox, 'r')).status).toBe(504)
  })

  it('of broken-json is a 200 that cannot be parsed, of html a page', async () => {
    const sandbox = await withSandbox({ faults: ['broken-json=100%'] })
    const broken = await send(sandbox, 'p')
    expect(broken.status).toBe(200)
    expect(broken.headers.get('content-type')).toContain('application/json')
    expect(() => JSON.parse(broken.text)).toThrow()
    expect((await sandbox.findPost('p')).task).not.toBeNull()

    sandbox.behave({ faults: ['html=100%'] })
    const page = await send(sandbox, 'q')
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toContain('text/html')
    expect((await sandbox.findPost('q')).task).toBeNull()
  })

  it('of truncated ends the connection during the body', async () => {
    const sandbox = await withSandbox({ faults: ['truncated=100%'] })
    expect(await observe(sandbox, 'p')).toBe('broken')
    expect((await sandbox.findPost('p')).task).not.toBeNull()
  })

  it('hits the same tries of the same posts in any order of arrival', async () => {
    const faults = ['5xx=20%', '429=10%', 'reset=10%']
    const posts = Array.from({ length: 60 }, (_, i) => `p-${i}`)
    const observeAll = async (order: string[], isConcurrent: boolean) => {
      const sandbox = await withSandbox({ faults, seed: 'again' })
      const seen: [string, string][] = []
      const observeTwice = async (post: string) => {
        seen.push([post, `${await observe(sandbox, post)} ${await observe(sandbox, post)}`])
      }
      if (isConcurrent) await Promise.all(order.map(observeTwice))
      else for (const post of order) await observeTwice(post)
      return Object.fromEntries(seen)
    }
    const inOrder = await observeAll(posts, false)
    expect(await observeAll(posts.toReversed(), true)).toEqual(inOrder)
    expect(new Set(Object.values(inOrder)).size).toBeGreaterThan(4)
  })
})

describe('retries against faults', () => {
  it('deliver every post exactly once', async () => {
    const sandbox = await withSandbox({ faults: ['5xx=3%', '429=3%,retry-after=0', 'reset-before=1%'] })
    const deliver = async (post: string): Promise<void> => {
      for (let tries = 0; tries < 7; tries++) if ((await observe(sandbox, post)) === '200') return
    }
    const posts = Array.from({ length: 500 }, (_, i) => `p-${i}`)
    await Promise.all(posts.map(deliver))
    const { tasks, outcomes } = await sandbox.stats()
    expect(tasks).toBe(500)
    expect(outcomes['accepted']).toBe(500)
    expect(outcomes['fault:5xx']).toBeGreaterThan(0)
    expect(outcomes['rejected:DUPLICATE_POST_ID']).toBeUndefined()
  })
})
