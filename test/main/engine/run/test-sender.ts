import { onTestFinished } from 'vitest'
import type { Journal } from '../../../../src/main/engine/journal/journal.ts'
import { ItemClaims } from '../../../../src/main/engine/run/journal/item-claims.ts'
import { Sender, type SenderOptions } from '../../../../src/main/engine/run/sender.ts'
import { ApiKey } from '../../../../src/main/engine/secrets/bound-secret.ts'
import { SecondMeter } from '../../../../src/main/engine/sending/second-meter.ts'
import type { Exchange } from '../../../../src/main/engine/service/exchange.ts'
import { createOperationExchange } from '../../../../src/main/engine/service/operation-exchange.ts'
import type { ServiceClient } from '../../../../src/main/engine/service/service-client.ts'
import { LatencyMeter } from '../../../../src/shared/load/latency-meter.ts'
import { type PlanInput, planSchema } from '../../../../src/shared/plan/plan.ts'
import { toUnixMs } from '../../../../src/shared/unix-clock.ts'
import { createServiceClient } from '../../../helpers/create-service-client.ts'
import { openReadyJournal, readRecord } from '../journal/test-journal.ts'

/** Options of a test's sender. */
export type TestSenderOptions = Partial<SenderOptions> & {
  rows?: number
  journal?: Journal
  baseUrl?: string
  parts?: Partial<PlanInput>
}

/** A sender over a journal with that many rows, each sent as its item's id; closes after the test. */
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
    nowUs: () => toUnixMs() * 1000,
  })
  const apiKey = ApiKey.create('k', plan.connection, 'of the test')
  const { judge } = createOperationExchange(plan, { deliveredCodes: [], nowMs: Date.now })
  const sender = new Sender({
    plan,
    journal,
    claims: new ItemClaims(journal, readRecord(journal)),
    settler: null,
    meter,
    createClient: () =>
      createServiceClient({
        baseUrl,
        connection: plan.connection,
        readApiKey: () => apiKey,
        userAgent: 'test',
      }),
    readKeySource: () => apiKey.source,
    toRequest: ({ item }) => toTestRequest(item),
    judge,
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
export function toTestRequest(item: number): ReturnType<SenderOptions['toRequest']> {
  const body = JSON.stringify({ post_id: `p-${item}`, user_id: 'u' })
  return { request: { method: 'POST', path: '/task', body, isAnonymous: false }, rowKeys: [] }
}

/** A client whose requests end on the test's command, with the answer of a service that accepted them. */
export function createHeldClient(held: (() => void)[]): ServiceClient {
  return {
    send: (_, onEnd) => {
      const sentAtUs = Math.round(toUnixMs() * 1000)
      const timings = { sentAtUs, durationUs: 1_000, waitingUs: 500, connectUs: null, tlsUs: null }
      const headers = { contentType: 'application/json', retryAfter: null, location: null }
      const answer = JSON.stringify({ task_id: 't', triggered_rules: [] })
      held.push(() => onEnd({ kind: 'answer', status: 200, ...headers, body: answer, timings }))
    },
    retire: () => {},
    destroy: async () => {},
  }
}

/**
 * Waits until that many requests are in flight: marks reach the disk before the requests they cover go out.
 */
export async function untilHeld(held: readonly unknown[], count: number): Promise<void> {
  while (held.length < count) await new Promise((resolve) => setImmediate(resolve))
}

/** Ends every request, including later ones, until the sender has ended. */
export async function endAll<End>(held: (() => void)[], ended: Promise<End>): Promise<End> {
  let isOver = false
  const noteEnd = (): void => {
    isOver = true
  }
  ended.then(noteEnd, noteEnd)
  while (!isOver) {
    held.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return ended
}

/** A client's report of a service that refuses connections. */
export function toRefusal(): Exchange {
  return { kind: 'breakdown', code: 'ECONNREFUSED', message: '', sent: false, status: null, ...toTimings() }
}

/** A client's report of a service that answers with only this status. */
export function toStatus(status: number): Exchange {
  const headers = { contentType: 'text/plain', retryAfter: null, location: null }
  return { kind: 'answer', status, ...headers, body: '', ...toTimings() }
}

function toTimings(): Pick<Exchange, 'timings'> {
  const sentAtUs = Math.round(toUnixMs() * 1000)
  return { timings: { sentAtUs, durationUs: 100, waitingUs: null, connectUs: null, tlsUs: null } }
}
