import type { FastifyInstance } from 'fastify'
import { isJsonObject } from '../../../shared/service/json-object.ts'
import { toReceivedJson } from '../json-body.ts'
import { ruleSchema } from '../rules/rule.ts'
import type { SandboxContext } from '../sandbox-context.ts'
import { SandboxRefusal } from '../sandbox-errors.ts'
import { parseAdminBody } from './parse-admin-body.ts'

/** The project's moderation rules. */
export function registerAdminRuleRoutes(app: FastifyInstance, { store, moderation }: SandboxContext): void {
  app.get('/rules', async () => ({ rules: store.rules.list() }))

  app.get<{ Params: { ruleId: string } }>('/rules/:ruleId', async (request) => {
    const rule = store.rules.get(request.params.ruleId)
    if (rule === null) throw toUnknownRule(request.params.ruleId)
    return rule
  })

  app.put<{ Params: { ruleId: string } }>('/rules/:ruleId', async (request) => {
    const received = toReceivedJson(request.body)
    const value = isJsonObject(received?.value) ? received.value : {}
    const rule = parseAdminBody(ruleSchema, {
      text: '',
      value: { ...value, rule_id: request.params.ruleId },
    })
    store.rules.put(rule)
    moderation.reload()
    return rule
  })

  app.delete<{ Params: { ruleId: string } }>('/rules/:ruleId', async (request) => {
    if (!store.rules.remove(request.params.ruleId)) throw toUnknownRule(request.params.ruleId)
    moderation.reload()
    return { message: 'the rule is removed' }
  })
}

function toUnknownRule(ruleId: string): SandboxRefusal {
  return new SandboxRefusal('NOT_FOUND', `there is no rule "${ruleId}"`)
}
