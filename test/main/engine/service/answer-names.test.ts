import { describe, expect, it } from 'vitest'
import { createRedaction } from '../../../../src/main/engine/service/redact-exchange.ts'
import { createRandom } from '../../../../src/shared/lookback/seeded-random.ts'
import {
  NO_NAMES,
  readAnswerNames,
  readTaskFindings,
} from '../../../../src/shared/service/answer-findings.ts'
import { createTestExchange, toAnswer, toError } from './answers.ts'
import { bindTestKey } from './send-task.ts'

const LEGACY = {
  task_id: 't',
  post_id: 'p',
  status: [
    { status: { code: '0' }, response: { input: { model: 'text' }, language: 'EN' } },
    { status: { code: '0' }, response: { input: { model: 'ocr' }, language: 'DE' } },
    { status: { code: '0' }, response: { input: { model: 'text' }, language: 'EN' } },
  ],
  from_cache: true,
}
const NAMES = { fromCache: true, languages: ['DE', 'EN'], models: ['ocr', 'text'] }

describe('what an answer names', () => {
  it('includes each language and model once, in alphabetical order, and whether it came from the cache', () => {
    expect(createTestExchange({ kind: 'task', legacy: true }).judge(toAnswer(200, LEGACY), []).names).toEqual(
      NAMES,
    )
  })

  it('is read from refusals too', () => {
    const { judge } = createTestExchange({ kind: 'task' })
    expect(judge(toAnswer(400, { error: true, message: 'no', language: 'FR' }), []).names.languages).toEqual([
      'FR',
    ])
    expect(judge(toError(400, 'PARAM_REQUIRED'), []).names).toEqual(NO_NAMES)
  })

  it('is in the callback of an async task, not in its acknowledgement', () => {
    const { judge, judgeCallback } = createTestExchange({ kind: 'task', mode: 'async' })
    expect(judge(toAnswer(200, LEGACY), []).names).toEqual(NO_NAMES)
    expect(judgeCallback(JSON.stringify(LEGACY))?.names).toEqual(NAMES)
  })

  it('is empty in the answer of another row, or to another operation', () => {
    const { judge, toRowKeys } = createTestExchange({ kind: 'task' })
    const judged = judge(toAnswer(200, { ...LEGACY, from_cache: false }), toRowKeys([{ post_id: 'other' }]))
    expect(judged).toMatchObject({ errorCode: 'ECHO_MISMATCH', names: NO_NAMES })
    const add = createTestExchange({ kind: 'index-add', indexId: 'i' })
    expect(add.judge(toAnswer(200, LEGACY), []).names).toEqual(NO_NAMES)
  })

  it('contains no secret', () => {
    const key = bindTestKey('https://service.test', 'german-of-old')
    const { redact } = createRedaction(() => key, { proxyCredentials: null, headerValues: null })
    const { judge } = createTestExchange({ kind: 'task' })
    const exchange = redact(toAnswer(200, { task_id: 't', language: 'german-of-old' }))
    const { languages } = judge(exchange, []).names
    expect(languages).toHaveLength(1)
    expect(languages[0]).not.toContain('german-of-old')
  })

  it('equals the result of parsing the full answer, whatever that contains', () => {
    const random = createRandom(3)
    const pick = <Value>(values: readonly Value[]): Value =>
      values[Math.floor(random() * values.length)] as Value
    const draw = (depth: number): unknown => {
      if (random() < 0.1 + depth * 0.12) return pick(['EN', '', 'text', true, false, null, 5])
      if (random() < 0.3) return Array.from({ length: 3 }, () => draw(depth + 1))
      const names = [
        'language',
        'model',
        'from_cache',
        'status',
        'response',
        'input',
        'urls',
        'metadata',
        'x',
      ]
      return Object.fromEntries(Array.from({ length: 3 }, () => [pick(names), draw(depth + 1)]))
    }
    for (let round = 0; round < 500; round += 1) {
      const body = draw(0)
      const { fromCache, languages, models } = readTaskFindings(body)
      expect(readAnswerNames(JSON.stringify(body), () => body)).toEqual({
        fromCache: fromCache === true,
        languages: languages.toSorted(),
        models: [...new Set(models.map(({ model }) => model))].sort(),
      })
    }
  })
})
