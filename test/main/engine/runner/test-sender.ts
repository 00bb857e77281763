import { onTestFinished } from 'vitest'
import type { Journal } from '../../../../src/main/engine/journal/journal.ts'
import { SecondMeter } from '../../../../src/main/engine/runner/second-meter.ts'
import { Sender, type SenderOptions } from '../../../../src/main/engine/runner/sender.ts'
import type { Exchange } from '../../../../src/main/engine/service/exchange.ts'
import { judgeTask } from '../../../../src/main/engine/service/judge-task.ts'
import {
  createServiceClient,
  type ServiceClient,
  type ServiceRequest,
} from '../../../../src/main/engine/service/service-client.ts'
import { LatencyMeter } from '../../../../src/shared/latency-meter.ts'
import { type PlanInput, planSchema } from '../../../../src/shared/plan.ts'
import { openReadyJournal, readRecord } from '../journal/test-journal.ts'

/** What a test may set of the sender it makes. */
export type TestSenderOptions = Partial<SenderOptions> & {
  rows?: number
  journal?: Journal
  baseUrl?: string
  parts?: Partial<PlanInput>
}

/** A sender over a journal of so many rows, each sent as the id of its item; closed when the test is finished. */
export function createTestSender(options: TestSenderOptions = {}) {
  const { rows = 3, baseUrl = 'http://127.0.0.1:1', parts = {}, journal = openReadyJournal(rows) } = options
  const plan = planSchema.parse({
    connection: { baseUrl, timeoutMs: 2_000 },
    source: { path: '/source.csv' },
    operation: { kind: 'task' },
    retry: { limit: 3, baseMs: 1, maxMs: 5, maxRetryAfterMs: 40 },
    ...parts,
  })
  const meter = new SecondMeter({
    total: new LatencyMeter(),
    nowUs: () => (performance.timeOrigin + performance.now()) * 1000,
  })
  const judgeOptions = { origin: baseUrl, deliveredCodes: [], nowMs: Date.now }
  const sender = new Sender({
    plan,
    journal,
    record: readRecord(journal),
    meter,
    createClient: () => createServiceClient({ baseUrl, apiKey: 'k', timeoutMs: 2_000, userAgent: 'test' }),
    toRequest: ({ item }) => toTestRequest(item),
    judge: (exchange) => judgeTask(exchange, judgeOptions),
    random: () => 0.5,
    ...options,
  })
  onTestFinished(async () => {
    meter.close()
    await sender.close()
  })
  return { sender, journal, plan }
}

/** The request of an item. */
export function toTestRequest(item: number): ServiceRequest {
  return { method: 'POST', path: '/task', body: JSON.stringify({ post_id: `p-${item}`, user_id: 'u' }) }
}

/** A client whose requests end when the test says so, with the answer of a service that took them. */
export function createHeldClient(held: (() => void)[]): ServiceClient {
  return {
    send: (_, onEnd) => {
      const sentAtUs = Math.round((performance.timeOrigin + performance.now()) * 1000)
      const timings = { sentAtUs, durationUs: 1_000, waitingUs: 500, connectUs: null, tlsUs: null }
      const headers = { contentType: 'application/json', retryAfter: null, location: null }
      const answer = JSON.stringify({ task_id: 't', post_id: 'p', user_id: 'u', triggered_rules: [] })
      held.push(() => onEnd({ kind: 'answer', status: 200, ...headers, body: answer, timings }))
    },
    destroy: async () => {},
  }
}

/** What a client tells of a service that refuses connections. */
export function toRefusal(): Exchange {
  const sentAtUs = Math.round((performance.timeOrigin + performance.now()) * 1000)
  const timings = { sentAtUs, durationUs: 100, waitingUs: null, connectUs: null, tlsUs: null }
  return { kind: 'breakdown', code: 'ECONNREFUSED', message: '', sent: false, status: null, timings }
}
