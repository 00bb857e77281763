import type { Answer, Breakdown } from '../../../../src/main/engine/service/exchange.ts'
import {
  createOperationExchange,
  type OperationExchange,
} from '../../../../src/main/engine/service/operation-exchange.ts'
import type { PlanInput } from '../../../../src/shared/plan/plan.ts'
import { toErrorAnswer } from '../../../helpers/fault-server.ts'
import { buildPlan } from '../mapping/build-plan.ts'

const TIMINGS = { sentAtUs: 1, durationUs: 1, waitingUs: null, connectUs: null, tlsUs: null }

/** An answer as received: a JSON body, or a text unchanged. */
export function toAnswer(status: number, body: unknown, headers: { retryAfter?: string } = {}): Answer {
  return {
    kind: 'answer',
    status,
    contentType: 'application/json',
    retryAfter: headers.retryAfter ?? null,
    location: null,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    timings: TIMINGS,
  }
}

/** An error answer (docs/interface.md §7). */
export function toError(status: number, errorCode: string, message = 'no'): Answer {
  return toAnswer(status, toErrorAnswer(status, errorCode, message))
}

/** A connection that broke while the request was on its way. */
export const LOST: Breakdown = {
  kind: 'breakdown',
  code: 'ECONNRESET',
  message: 'reset',
  sent: true,
  status: null,
  timings: TIMINGS,
}

/** A connection that was never established. */
export const REFUSED: Breakdown = { ...LOST, code: 'ECONNREFUSED', sent: false }

/** The requests and the judge of an operation, with an otherwise minimal plan. */
export function createTestExchange(
  operation: PlanInput['operation'],
  connection: Partial<PlanInput['connection']> = {},
): OperationExchange {
  const plan = buildPlan({ operation, connection: { baseUrl: 'https://service.test', ...connection } })
  return createOperationExchange(plan, { deliveredCodes: [], nowMs: () => 0 })
}
