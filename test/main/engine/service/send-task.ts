import { onTestFinished } from 'vitest'
import { ApiKey, readProxyCredentials } from '../../../../src/main/engine/secrets/bound-secret.ts'
import type { Exchange } from '../../../../src/main/engine/service/exchange.ts'
import type { Judgement } from '../../../../src/main/engine/service/judgement.ts'
import { createOperationExchange } from '../../../../src/main/engine/service/operation-exchange.ts'
import type { ServiceClient } from '../../../../src/main/engine/service/service-client.ts'
import type { PlanConnection } from '../../../../src/shared/plan/connection.ts'
import { createServiceClient } from '../../../helpers/create-service-client.ts'
import { buildPlan } from '../mapping/build-plan.ts'

/** The key of every test here; only the server of the base URL may receive it. */
export const TEST_KEY = 'key-of-the-test'

/** {@link TEST_KEY} for an address, or another given key. */
export function bindTestKey(baseUrl: string, key = TEST_KEY): ApiKey {
  return ApiKey.create(key, { baseUrl }, 'of the test')
}

/** How a task was sent, and its judgement. */
export interface SentTask {
  exchange: Exchange
  judgement: Judgement
}

/** A client that closes after the running test. */
export function createTestClient(
  baseUrl: string,
  timeoutMs = 2_000,
  way: Pick<PlanConnection, 'tls' | 'proxy'> = {},
): ServiceClient {
  const key = bindTestKey(baseUrl)
  const client = createServiceClient({
    baseUrl,
    connection: { timeoutMs, ...way },
    readApiKey: () => key,
    proxyCredentials: readProxyCredentials(process.env, way),
    userAgent: 'sluice/test',
  })
  onTestFinished(() => client.destroy())
  return client
}

/** Sends a task with a client, and waits until it has ended. */
export function sendOver(client: ServiceClient, postId = 'post-1', text = 'a text'): Promise<Exchange> {
  const body = JSON.stringify({ text_data: text, user_id: 'user', post_id: postId })
  return new Promise((resolve) => {
    client.send({ method: 'POST', path: '/api/v1/task/sync', body, isAnonymous: false }, resolve)
  })
}

/** Sends one task with a new client, and judges the result. */
export async function sendTask(
  baseUrl: string,
  options: {
    timeoutMs?: number
    text?: string
    deliveredCodes?: string[]
    nowMs?: number
    way?: Pick<PlanConnection, 'tls' | 'proxy'>
  } = {},
): Promise<SentTask> {
  const client = createTestClient(baseUrl, options.timeoutMs, options.way)
  const exchange = await sendOver(client, 'post-1', options.text)
  return { exchange, judgement: judgeTask(exchange, baseUrl, options) }
}

/** Judges an exchange as a run over this base URL would. */
export function judgeTask(
  exchange: Exchange,
  baseUrl: string,
  options: { deliveredCodes?: string[]; nowMs?: number } = {},
): Judgement {
  const plan = buildPlan({ connection: { baseUrl } })
  const { judge } = createOperationExchange(plan, {
    deliveredCodes: options.deliveredCodes ?? [],
    nowMs: () => options.nowMs ?? Date.now(),
  })
  return judge(exchange, [])
}
