import { expect, onTestFinished, test } from 'vitest'
import { Redactor } from '../../../../src/main/engine/secrets/redactor.ts'
import { createOperationExchange } from '../../../../src/main/engine/service/operation-exchange.ts'
import { redactAnswer } from '../../../../src/main/engine/service/redact-answer.ts'
import type { PlanInput } from '../../../../src/shared/plan/plan.ts'
import { SERVICE_ERRORS } from '../../../../src/shared/service/errors.ts'
import { createServiceClient } from '../../../helpers/create-service-client.ts'
import { startFaultServer, toErrorAnswer } from '../../../helpers/fault-server.ts'
import { buildPlan } from '../mapping/build-plan.ts'
import { bindTestKey, sendOver } from './send-task.ts'

const RULES = [
  { rule_id: 'rule-profanity', rule_name: 'Profanity in names' },
  { rule_id: 'rule-violence', rule_name: 'triggered_rules' },
]

type Operation = NonNullable<PlanInput['operation']>

const TASK: Operation = { kind: 'task', mode: 'sync', api: 'v1' }
const TASK_V2: Operation = { kind: 'task', mode: 'sync', api: 'v2' }
const WATCHLIST: Operation = { kind: 'watchlist-add', watchlist: 'a-list' }

const ANSWERS: readonly [string, Operation, number, object, readonly string[]][] = [
  [
    'a task',
    TASK,
    200,
    { task_id: 'task-1234567', post_id: 'post-1', user_id: 'a-user-of-it', triggered_rules: RULES },
    [],
  ],
  [
    'a v2 task',
    TASK_V2,
    200,
    {
      task_id: 'task-1234567',
      triggered_rules: RULES,
      models: [
        {
          model: 'text_moderation',
          response: { output: [{ classes: [{ class: 'sexual_text', score: 0.12345678 }] }] },
        },
      ],
    },
    [],
  ],
  ['an error', TASK, 400, toErrorAnswer(400, 'PARAM_REQUIRED', 'A parameter is missing: text_data'), []],
  ['an unknown error', TASK, 400, toErrorAnswer(400, 'SOMETHING_ELSE', 'Unheard of'), []],
  [
    'terms of a watchlist',
    WATCHLIST,
    200,
    { message: 'Some terms failed.', failed_terms: [{ term: 'second term', reason: 'duplicate' }] },
    ['first term', 'second term'],
  ],
]

/** Every word of an answer that is long enough for a key: names, values, and parts of both. */
function listWords(value: unknown): string[] {
  if (typeof value === 'number') return [String(value)]
  if (typeof value === 'string') return [value, ...value.split(/[^A-Za-z]/)]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => [
    ...(Array.isArray(value) ? [] : [name, ...name.split('_')]),
    ...listWords(member),
  ])
}

const toKeys = (body: object) =>
  [...new Set(listWords(body))].filter((word) => word.length >= 8 && !/\s/.test(word))

/** The texts among the values of a JSON value, and the rest without texts and numbers. */
function takeTexts(value: unknown): { texts: string[]; structure: string } {
  const texts: string[] = []
  const structure = JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== 'string' && typeof member !== 'number') return member
    texts.push(String(member))
    return ''
  })
  return { texts, structure }
}

/** A judgement without the texts that a service chose. */
function toResult(judgement: object): string {
  return JSON.stringify(judgement, (name, value: unknown) =>
    ['message', 'taskId', 'customIndexItemId', 'ruleId', 'ruleName', 'className'].includes(name) ||
    (name === 'errorCode' && !SERVICE_ERRORS.some(({ errorCode }) => errorCode === value))
      ? typeof value
      : value,
  )
}

test.each(ANSWERS)(
  'a key that equals a word of the answer about %s changes no result, and is in no value of it',
  async (_about, operation, status, body, rowKeys) => {
    const server = await startFaultServer({ onRequest: (_, wire) => wire.send(status, body) })
    const send = async (key: string) => {
      let redactions = 0
      const apiKey = bindTestKey(server.baseUrl, key)
      const client = createServiceClient({
        baseUrl: server.baseUrl,
        connection: { timeoutMs: 2_000 },
        readApiKey: () => apiKey,
        userAgent: 'sluice/test',
        onRedacted: () => {
          redactions += 1
        },
      })
      onTestFinished(() => client.destroy())
      const exchange = await sendOver(client)
      const plan = buildPlan({ operation, connection: { baseUrl: server.baseUrl } })
      const { judge } = createOperationExchange(plan, { deliveredCodes: [], nowMs: () => 0 })
      if (exchange.kind === 'breakdown') throw new Error(exchange.message)
      return { judgement: judge(exchange, rowKeys), stored: JSON.parse(exchange.body) as unknown, redactions }
    }
    const usual = await send('a-key-of-none-of-them')
    expect(usual.redactions).toBe(0)
    const keys = toKeys(body)
    expect(keys.length).toBeGreaterThan(1)
    for (const key of keys) {
      const { judgement, stored, redactions } = await send(key)
      expect({ key, result: toResult(judgement) }).toEqual({ key, result: toResult(usual.judgement) })
      expect(takeTexts(stored).structure, key).toBe(takeTexts(usual.stored).structure)
      const kept = SERVICE_ERRORS.map(({ errorCode }) => errorCode)
      const texts = [...takeTexts(stored).texts, ...takeTexts({ ...judgement, classes: null }).texts].filter(
        (text) => !kept.includes(text),
      )
      // Sluice's own words are not words of the answer.
      expect(
        texts.filter((text) => text.includes(key) && !/^(succeeded|rejected|ambiguous)$/.test(text)),
        key,
      ).toEqual([])
      const isInValue = takeTexts(body).texts.some((text) => text.includes(key) && !kept.includes(text))
      expect({ key, redactions }).toEqual({ key, redactions: isInValue ? 1 : 0 })
    }
  },
)

test.each(['MyStagingKeyOfLettersAlone', 'staging_secret_key'])(
  'a key of only letters, such as %s, is removed from the names of members too',
  (key) => {
    const redactor = new Redactor()
    redactor.add(key)
    const body = JSON.stringify({ limits: { [key]: 5 }, post_id: 'post-1' })
    const redacted = redactAnswer(redactor, body)
    expect(redacted).not.toContain(key)
    expect(JSON.parse(redacted)).toEqual({ limits: { '[redacted]': 5 }, post_id: 'post-1' })
  },
)
