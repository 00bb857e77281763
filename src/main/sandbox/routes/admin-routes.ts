import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { applyChange, behaviourChangeSchema } from '../../../shared/sandbox/behaviour.ts'
import {
  ADMIN_TOKEN_HEADER,
  answerNonce,
  isAdminToken,
  NONCE_MAX_CHARACTERS,
  PROOF_PATH,
} from '../admin-access.ts'
import { createBehaviour } from '../behaviour.ts'
import { isLoopbackAddress } from '../media-fetcher.ts'
import type { SandboxContext } from '../sandbox-context.ts'
import { SandboxRefusal } from '../sandbox-errors.ts'
import { LOGGED_ENDPOINTS } from '../store/request-store.ts'
import {
  registerAdminAppealRoutes,
  registerAdminIndexRoutes,
  registerAdminRuleRoutes,
  registerAdminTaskRoutes,
  registerAdminWatchlistRoutes,
  toCallbackDocument,
} from './admin-content-routes.ts'
import { pageSchema, parseAdminBody, parseAdminQuery } from './admin-request.ts'

const proofSchema = z.object({ nonce: z.string().min(1).max(NONCE_MAX_CHARACTERS) })

/**
 * Serves what replaces the service's dashboard to programs on this machine that send this start's admin
 * token; no API key is accepted. One route needs no token: with it, a sandbox proves its identity to whoever
 * started it.
 */
export function registerAdminRoutes(app: FastifyInstance, context: SandboxContext): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (!isLocalProgram(request)) {
      done(new SandboxRefusal('FORBIDDEN', 'the admin routes are for programs on this machine'))
    } else if (
      request.routeOptions.url !== PROOF_PATH &&
      !isAdminToken(request.headers[ADMIN_TOKEN_HEADER], context.adminToken)
    ) {
      const message = `the admin routes need the header ${ADMIN_TOKEN_HEADER} with the token of this start`
      done(new SandboxRefusal('FORBIDDEN', message))
    } else done()
  })
  app.get(PROOF_PATH.slice(app.prefix.length), async (request) => {
    const { nonce } = parseAdminQuery(proofSchema, request.query)
    return { proof: answerNonce(nonce, context.adminToken) }
  })
  registerAdminTaskRoutes(app, context)
  registerAdminKeyRoutes(app, context)
  registerAdminRuleRoutes(app, context)
  registerAdminWatchlistRoutes(app, context)
  registerAdminIndexRoutes(app, context)
  registerAdminAppealRoutes(app, context)
  registerAdminCallbackRoutes(app, context)
  registerAdminRequestRoutes(app, context)
  registerAdminArrivalRoutes(app, context)
  registerAdminBehaviourRoutes(app, context)
}

/** Web pages in a browser on this machine send an Origin, at least with requests that change anything. */
function isLocalProgram(request: FastifyRequest): boolean {
  return request.headers.origin === undefined && isLoopbackAddress(request.ip)
}

/** Shows latency, faults and rate, and changes them while the sandbox runs. */
function registerAdminBehaviourRoutes(app: FastifyInstance, context: SandboxContext): void {
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

const callbackQuerySchema = pageSchema.extend({
  state: z.enum(['pending', 'delivered', 'failed', 'dropped']).nullable().default(null),
  task_id: z.string().nullable().default(null),
})

/** Serves pending callbacks and the outcome of the others. */
function registerAdminCallbackRoutes(app: FastifyInstance, { store, callbacks }: SandboxContext): void {
  app.get('/callbacks', async (request) => {
    const { offset, limit, state, task_id: taskId } = parseAdminQuery(callbackQuerySchema, request.query)
    const filter = { state, taskId }
    return {
      counts: store.callbacks.counts(),
      total: store.callbacks.count(filter),
      callbacks: store.callbacks.page(filter, offset, limit).map(toCallbackDocument),
    }
  })

  app.post('/callbacks/send-now', async () => {
    callbacks.sendPending()
    return { pending: store.callbacks.counts().pending }
  })

  app.delete('/callbacks', async () => {
    callbacks.clear()
    return { message: 'every callback is forgotten, and what was pending is not sent' }
  })
}

const newKeySchema = z.strictObject({
  label: z.string().default(''),
  key: z.string().regex(/^\S+$/, 'must be one word').optional(),
})

/** Serves the project's API keys (docs/interface.md §5); a key is returned only once, when it is created. */
function registerAdminKeyRoutes(app: FastifyInstance, { store }: SandboxContext): void {
  app.get('/keys', async () => ({ keys: store.keys.list() }))

  app.post('/keys', async (request) => {
    const { label, key } = parseAdminBody(newKeySchema, request.body)
    const added = store.keys.add(label, key)
    if (added === null) throw new SandboxRefusal('CONFLICT', 'this key exists, or existed before')
    return { key_id: added.keyId, key: added.key }
  })

  app.post<{ Params: { keyId: string } }>('/keys/:keyId/refresh', async (request) => {
    const refreshed = store.keys.refresh(toKeyId(request.params.keyId))
    if (refreshed === null) throw toUnknownKey(request.params.keyId)
    return { key_id: refreshed.keyId, key: refreshed.key }
  })

  app.delete<{ Params: { keyId: string } }>('/keys/:keyId', async (request) => {
    if (!store.keys.remove(toKeyId(request.params.keyId))) throw toUnknownKey(request.params.keyId)
    return { message: 'the key is no longer valid' }
  })
}

function toKeyId(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : 0
}

function toUnknownKey(keyId: string): SandboxRefusal {
  return new SandboxRefusal('NOT_FOUND', `there is no valid key ${keyId}`)
}

const requestQuerySchema = pageSchema.extend({
  endpoint: z.enum(LOGGED_ENDPOINTS).nullable().default(null),
  subject: z.string().nullable().default(null),
})

/** Serves every request to indexes, watchlists and appeals, with its outcome. */
function registerAdminRequestRoutes(app: FastifyInstance, { store }: SandboxContext): void {
  app.get('/requests', async (request) => {
    const { offset, limit, endpoint, subject } = parseAdminQuery(requestQuerySchema, request.query)
    const filter = { endpoint, subject }
    return {
      total: store.requests.count(filter),
      requests: store.requests.page(filter, offset, limit).map((logged) => ({
        endpoint: logged.endpoint,
        subject: logged.subject,
        outcome: logged.outcome,
        task_id: logged.taskId,
        arrived_on: logged.arrivedOn.toISOString(),
        request: logged.body === null ? null : JSON.parse(logged.body),
      })),
    }
  })

  app.delete('/requests', async () => {
    store.requests.clear()
    return { message: 'every request is forgotten' }
  })
}

const arrivalQuerySchema = pageSchema.extend({
  endpoint: z.string().nullable().default(null),
  outcome: z.string().nullable().default(null),
})

/** Serves the arrivals at all endpoints, refused ones included, newest first. */
function registerAdminArrivalRoutes(app: FastifyInstance, { arrivals }: SandboxContext): void {
  app.get('/arrivals', async (request) => {
    const { offset, limit, endpoint, outcome } = parseAdminQuery(arrivalQuerySchema, request.query)
    return { counts: arrivals.counts(), ...arrivals.page({ endpoint, outcome }, offset, limit) }
  })

  app.delete('/arrivals', async () => {
    arrivals.clear()
    return { message: 'the list of arrivals is empty' }
  })
}
