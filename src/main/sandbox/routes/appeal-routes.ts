import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isJsonObject } from '../../../shared/service/json-object.ts'
import { toAppealResponse } from '../appeals/appeal.ts'
import type { SandboxContext } from '../sandbox-context.ts'
import { SandboxRefusal } from '../sandbox-errors.ts'
import { type LoggedWork, registerLoggedRoute } from './logged-endpoint.ts'

/** Serves the status of appeals, without a key (docs/interface.md §4.7). */
export function registerAppealRoutes(app: FastifyInstance, context: SandboxContext): void {
  registerLoggedRoute(app, context, {
    endpoint: 'appeal-status',
    method: 'GET',
    path: '/api/v1/appeals/status/:appealId',
    needsKey: false,
    findSubject: findAppealId,
    check: (request) => checkAppeal(context, findAppealId(request)),
  })
}

function checkAppeal({ store, clock }: SandboxContext, appealId: string): LoggedWork {
  return {
    key: appealId,
    carryOut: () => {
      const found = store.appeals.find(appealId)
      if (found === null) throw new SandboxRefusal('INVALID_APPEAL', `there is no appeal "${appealId}"`)
      store.appeals.noteRead(appealId)
      const ageMs = clock.date().getTime() - found.createdOn.getTime()
      const answer = toAppealResponse(found.appeal, { reads: found.reads, ageMs })
      return { answer: JSON.stringify(answer), callback: null, taskId: null }
    },
  }
}

function findAppealId(request: FastifyRequest): string {
  const { params } = request
  return isJsonObject(params) && typeof params['appealId'] === 'string' ? params['appealId'] : ''
}
