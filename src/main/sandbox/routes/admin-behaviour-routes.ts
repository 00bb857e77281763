import type { FastifyInstance } from 'fastify'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { applyChange, behaviourChangeSchema, createBehaviour } from '../behaviour.ts'
import type { SandboxContext } from '../sandbox-context.ts'
import { SandboxRefusal } from '../sandbox-errors.ts'
import { parseAdminBody } from './parse-admin-body.ts'

/** Latency, faults and rate, to be looked at and changed while the sandbox runs. */
export function registerAdminBehaviourRoutes(app: FastifyInstance, context: SandboxContext): void {
  app.get('/behaviour', async () => context.behaviour.settings)

  app.patch('/behaviour', async (request) => {
    const change = parseAdminBody(behaviourChangeSchema, request.body)
    try {
      context.behaviour = createBehaviour(
        applyChange(context.behaviour.settings, change),
        context.clock.nowMs,
      )
    } catch (error) {
      if (error instanceof SluiceError)
        throw new SandboxRefusal('INVALID_PARAM', `${error.message}. ${error.hint}`)
      throw error
    }
    return context.behaviour.settings
  })
}
