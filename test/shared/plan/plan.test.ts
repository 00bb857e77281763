import { describe, expect, test } from 'vitest'
import { type PlanInput, planSchema } from '../../../src/shared/plan/plan.ts'

const SMALLEST: PlanInput = {
  connection: { baseUrl: 'https://moderation.test' },
  source: { path: '/source.csv' },
  operation: { kind: 'task' },
}

describe('a plan', () => {
  test('has every default filled in', () => {
    expect(planSchema.parse(SMALLEST)).toEqual({
      version: 1,
      connection: {
        baseUrl: 'https://moderation.test',
        apiKeyEnv: 'SLUICE_API_KEY',
        timeoutMs: 60_000,
        deliveredCodes: [],
      },
      source: { path: '/source.csv', header: true },
      mapping: {},
      operation: { kind: 'task', mode: 'sync', api: 'v1', legacy: false, models: [] },
      callback: { host: '127.0.0.1', timeoutMs: 600_000, maxBytes: 5 * 1024 * 1024 },
      pace: { kind: 'closed', concurrency: 4 },
      retry: { limit: 3, baseMs: 200, maxMs: 10_000, maxRetryAfterMs: 60_000 },
    })
  })

  test('is unchanged after storing', () => {
    const plan = planSchema.parse(SMALLEST)
    expect(planSchema.parse(JSON.parse(JSON.stringify(plan)))).toEqual(plan)
  })

  test.each<[string, Partial<Record<keyof PlanInput, unknown>>]>([
    ['a base URL of another scheme', { connection: { baseUrl: 'ftp://moderation.test' } }],
    ['no base URL', { connection: { baseUrl: '' } }],
    ['no time-out', { connection: { baseUrl: 'https://moderation.test', timeoutMs: 0 } }],
    ['a key where its variable belongs', { connection: { baseUrl: 'https://m.test', apiKeyEnv: 'sk-1-2' } }],
    ['half a client certificate', { connection: { baseUrl: 'https://m.test', tls: { certFile: '/c.pem' } } }],
    ['a source without a path', { source: { path: '' } }],
    ['a delimiter of two characters', { source: { path: '/s.csv', delimiter: '||' } }],
    ['another version', { version: 2 }],
    ['nothing in flight', { pace: { kind: 'closed', concurrency: 0 } }],
    ['too much in flight', { pace: { kind: 'closed', concurrency: 10_001 } }],
    ['a rate of none', { pace: { kind: 'open', ratePerSecond: 0, maxInFlight: 1 } }],
    ['a column that is no column', { mapping: { post_id: { kind: 'column', column: 0 } } }],
    ['retries without end', { retry: { limit: 101 } }],
    // A timer for more than 24 days fires at once.
    ['a back-off beyond what a timer bears', { retry: { maxMs: 2 ** 31 } }],
    ['a Retry-After beyond what a timer bears', { retry: { maxRetryAfterMs: 2 ** 31 } }],
  ])('with %s is refused', (_, parts) => {
    expect(planSchema.safeParse({ ...SMALLEST, ...parts }).success).toBe(false)
  })
})
