import { describe, expect, it } from 'vitest'
import { readTaskResponse } from '../../../src/main/engine/service/task-reader.ts'
import { serviceErrorSchema } from '../../../src/shared/service/errors.ts'
import { MODELS } from '../../../src/shared/service/models.ts'
import { TASK_FIELDS } from '../../../src/shared/service/tasks.ts'
import { defaultTaskResponseSchema, legacyTaskResponseSchema } from '../../helpers/answer-schemas.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { type TestSandbox, withSandbox } from '../../helpers/sandbox.ts'

const SYNC = '/api/v1/task/sync'

let postNumber = 0
function createTask(fields: Record<string, unknown> = {}): Record<string, unknown> {
  postNumber += 1
  return { text_data: 'good morning', user_id: 'u1', post_id: `post-${postNumber}`, ...fields }
}

async function postForError(sandbox: TestSandbox, body: unknown, headers?: Record<string, string>) {
  const answer = await sandbox.post(SYNC, body, headers)
  const error = serviceErrorSchema.parse(JSON.parse(answer.text))
  expect(error.status).toBe(answer.status)
  expect(error.show_alert).toBe(false)
  return { status: answer.status, errorCode: error.error_code, message: error.message }
}

async function findTriggered(sandbox: TestSandbox, fields: Record<string, unknown>): Promise<string[]> {
  const answer = await sandbox.post(SYNC, createTask(fields))
  expect(answer.status).toBe(200)
  return defaultTaskResponseSchema.parse(JSON.parse(answer.text)).triggered_rules.map((rule) => rule.rule_id)
}

describe('a v1 task', () => {
  it('is answered by default with its ids and the triggered rules', async () => {
    const sandbox = await withSandbox()
    const task = createTask({ text_data: 'sandbox:violence:3' })
    const answer = await sandbox.post(SYNC, task)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toContain('application/json')
    expect(defaultTaskResponseSchema.strict().parse(JSON.parse(answer.text))).toEqual({
      user_id: task['user_id'],
      post_id: task['post_id'],
      task_id: expect.any(String),
      triggered_rules: [{ rule_id: 'rule-violence', rule_name: 'Violent content' }],
    })
  })

  it('is answered with legacy=1 by a body that has user_id twice, the string first', async () => {
    const sandbox = await withSandbox()
    const { text } = await sandbox.post(`${SYNC}?legacy=1`, createTask({ text_data: 'sandbox:spam:2 hello' }))
    expect(text.match(/"user_id":"u1"/g)).toHaveLength(1)
    expect(text.indexOf('"user_id":"u1"')).toBeLessThan(text.search(/"user_id":\d+,"created_on"/))
    const body = legacyTaskResponseSchema.parse(JSON.parse(text))
    expect(body.user_id).toBeTypeOf('number')
    expect(body.id).toBe(body.task_id)
    expect(body.code).toBe(200)
    expect(readTaskResponse(body)).toMatchObject({
      triggeredRules: [{ ruleId: 'rule-spam', ruleName: 'Likely spam' }],
      classScores: expect.arrayContaining([
        { className: 'spam', score: 2 },
        { className: 'hate', score: 0 },
      ]),
      failures: [],
    })
  })

  it('is marked from_cache if the same content was analysed before', async () => {
    const sandbox = await withSandbox()
    const isFromCache = async (fields: Record<string, unknown>) =>
      JSON.parse((await sandbox.post(`${SYNC}?legacy=1`, createTask(fields))).text).from_cache
    expect(await isFromCache({ text_data: 'once' })).toBe(false)
    expect(await isFromCache({ text_data: 'once' })).toBe(true)
    expect(await isFromCache({ text_data: 'once', models: ['ai_generated_text'] })).toBe(false)
    expect(await isFromCache({ text_data: 'Once' })).toBe(false)
  })

  it('arrives exactly as it was sent', async () => {
    const sandbox = await withSandbox()
    const text = ' "quoted", line\r\nbreak\ttab \uFFFD 😀 \u0000 \\n  '
    const task = createTask({ text_data: text, user_metadata: { a: [1, { b: null }] } })
    await sandbox.post(SYNC, task)
    expect((await sandbox.findPost(String(task['post_id']))).task?.request).toEqual(task)
  })

  it('gets the same task_id under the same seed, and another under another', async () => {
    const readTaskId = async (seed: string) => {
      const sandbox = await withSandbox({ seed })
      const task = { text_data: 'x', user_id: 'u', post_id: 'same' }
      return JSON.parse((await sandbox.post(SYNC, task)).text).task_id
    }
    expect(await readTaskId('a')).toBe(await readTaskId('a'))
    expect(await readTaskId('a')).not.toBe(await readTaskId('b'))
  })

  it('may have every field of the interface at once', async () => {
    const sandbox = await withSandbox()
    const task = createTask({
      group_id: 'g',
      conversation_id: 'c',
      parent_id: 'a',
      content_metadata: { a: 1 },
      content_variant: 'live_chat',
      user_metadata: {},
      models: ['text'],
      callback_url: 'https://example.com/callback',
    })
    expect(Object.keys(task).toSorted()).toEqual(
      TASK_FIELDS.map(({ name }) => name)
        .filter((name) => name !== 'url')
        .toSorted(),
    )
    expect((await sandbox.post(SYNC, task)).status).toBe(200)
    expect((await sandbox.findPost(String(task['post_id']))).task?.request).toEqual(task)
    expect(await sandbox.callbacks()).toEqual([])
  })

  it("lists its model's findings in the legacy response", async () => {
    const sandbox = await withSandbox()
    const text = 'The free prize is a gift card for you: write to me@example.com or see www.example.com'
    const answer = await sandbox.post(`${SYNC}?legacy=1`, createTask({ text_data: text }))
    const { status } = legacyTaskResponseSchema.parse(JSON.parse(answer.text))
    expect(status).toEqual([
      {
        status: { code: '0', message: 'SUCCESS' },
        response: expect.objectContaining({
          input: expect.objectContaining({ model: 'sandbox_text', text, charge: 0 }),
          text_filters: [expect.objectContaining({ value: 'gift card' })],
          pii_entities: [expect.objectContaining({ value: 'me@example.com', type: 'EMAIL_ADDRESS' })],
          urls: ['www.example.com'],
          language: 'EN',
          moderated_classes: ['sexual', 'hate', 'violence', 'bullying', 'spam', 'promotions'],
          output: [expect.objectContaining({ time: 0, start_char_index: 0, end_char_index: text.length })],
        }),
      },
    ])
  })

  it('is analysed by text or visual moderation if it names no model', async () => {
    const sandbox = await withSandbox()
    const findModelOf = async (fields: Record<string, unknown>) => {
      const { text } = await sandbox.post(`${SYNC}?legacy=1`, createTask(fields))
      return JSON.parse(text).status[0].response.input.model
    }
    expect(await findModelOf({})).toBe('sandbox_text')
    expect(await findModelOf({ models: [] })).toBe('sandbox_text')
    expect(await findModelOf({ text_data: undefined, url: 'https://example.com/a.png' })).toBe(
      'sandbox_visual',
    )
    expect(await findModelOf({ models: ['ai_generated_text'] })).toBe('sandbox_ai_generated_text')
  })

  it.each(MODELS.map(({ value }) => value))('may name the model %s, sync and async', async (model) => {
    const sandbox = await withSandbox()
    for (const path of [SYNC, '/api/v1/task/async', '/api/v2/task/sync', '/api/v2/task/async']) {
      expect((await sandbox.post(path, createTask({ models: [model] }))).status).toBe(200)
    }
  })

  it('may not name an unknown model or the id of a custom index', async () => {
    const sandbox = await withSandbox({ indexes: ['my-index'] })
    expect(await postForError(sandbox, createTask({ models: ['no-model'] }))).toMatchObject({
      status: 400,
      errorCode: 'INVALID_PARAM',
    })
    expect(await postForError(sandbox, createTask({ models: ['my-index'] }))).toMatchObject({
      status: 400,
      errorCode: 'INVALID_PARAM',
    })
  })
})

describe('rules', () => {
  it('trigger by class score, watchlist term, link and language', async () => {
    const sandbox = await withSandbox()
    expect(await findTriggered(sandbox, { text_data: 'You WON a free ringtone' })).toEqual(['rule-spam'])
    expect(await findTriggered(sandbox, { text_data: 'send me a Gift  Card' })).toEqual(['rule-watchlist'])
    expect(await findTriggered(sandbox, { text_data: 'see www.example.com' })).toEqual(['rule-link'])
    expect(await findTriggered(sandbox, { text_data: 'hola, ¿cómo está? muy bien gracias' })).toEqual([
      'rule-language',
    ])
    expect(await findTriggered(sandbox, { text_data: 'see you at lunch' })).toEqual([])
  })

  it('trigger by content variant, and only if every condition holds', async () => {
    const sandbox = await withSandbox()
    const text = 'what a loser'
    expect(await findTriggered(sandbox, { text_data: text })).toEqual(['rule-bullying'])
    expect(await findTriggered(sandbox, { text_data: text, content_variant: 'live_chat' })).toEqual([
      'rule-bullying',
      'rule-live-chat',
    ])
    expect(await findTriggered(sandbox, { text_data: 'hello', content_variant: 'live_chat' })).toEqual([])
  })

  it('match test phrases in the address of an image', async () => {
    const sandbox = await withSandbox()
    const task = { text_data: undefined, url: 'https://example.com/sandbox-hate-3/cat.png' }
    expect(await findTriggered(sandbox, task)).toEqual(['rule-hate', 'rule-link'])
  })
})

describe('a task that breaks a rule', () => {
  it.each([
    [{ user_id: undefined }, 'PARAM_REQUIRED', 'user_id: is required'],
    [{ post_id: undefined }, 'PARAM_REQUIRED', 'post_id: is required'],
    [{ post_id: 12 }, 'PARAM_REQUIRED', 'post_id'],
    [{ text_data: undefined }, 'PARAM_REQUIRED', 'text_data or url is required'],
    [{ url: 'https://example.com/' }, 'INVALID_PARAM', 'url: must not be sent together with text_data'],
    [{ user_id: 'a_b' }, 'INVALID_PARAM', 'user_id: must not contain `_` or `;`'],
    [{ post_id: 'a;b' }, 'INVALID_PARAM', 'post_id: must not contain `_` or `;`'],
    [{ group_id: 'p', post_id: 'p' }, 'INVALID_PARAM', 'group_id'],
    [{ group_id: 'p', parent_id: 'p' }, 'INVALID_PARAM', 'group_id'],
    [{ models: ['text', 'ocr'] }, 'INVALID_PARAM', 'models'],
    [{ text_data: undefined, url: 'nonsense' }, 'INVALID_PARAM', 'url: must be an http or https URL'],
    [{ user_metadata: '{}' }, 'PARAM_REQUIRED', 'user_metadata'],
  ])('such as %j is refused and not stored', async (fields, errorCode, message) => {
    const sandbox = await withSandbox()
    const refused = await postForError(sandbox, createTask(fields))
    expect(refused).toMatchObject({ status: 400, errorCode })
    expect(refused.message).toContain(message)
    expect(await sandbox.tasks()).toEqual([])
  })

  it.each(TASK_FIELDS.map(({ name }) => name))(
    'by a %s of another type is refused, in either version and mode',
    async (name) => {
      const sandbox = await withSandbox()
      for (const path of [SYNC, '/api/v1/task/async', '/api/v2/task/sync', '/api/v2/task/async']) {
        // v2 lists fewer fields and lets others pass.
        if (path.startsWith('/api/v2') && ['group_id', 'conversation_id', 'parent_id'].includes(name))
          continue
        const task = createTask({ ...(name === 'url' ? { text_data: undefined } : {}), [name]: 5 })
        const answer = await sandbox.post(path, task)
        expect(answer.status).toBe(400)
        const error = serviceErrorSchema.parse(JSON.parse(answer.text))
        expect(error.error_code).toBe('PARAM_REQUIRED')
        expect(error.message).toContain(`${name}: `)
      }
      expect(await sandbox.tasks()).toEqual([])
    },
  )

  it('by repeating a post_id is refused, whatever else it has', async () => {
    const sandbox = await withSandbox()
    const task = createTask()
    expect((await sandbox.post(SYNC, task)).status).toBe(200)
    expect(await postForError(sandbox, { ...task, text_data: 'other' })).toMatchObject({
      status: 400,
      errorCode: 'DUPLICATE_POST_ID',
    })
    expect(await sandbox.findPost(String(task['post_id']))).toMatchObject({
      requests: 2,
      outcomes: { accepted: 1, 'rejected:DUPLICATE_POST_ID': 1 },
      task: { request: task },
    })
  })
})

describe('a hostile request', () => {
  it.each(['', '{', 'null', '[]', '"text"', '{"a":1}}', '\uFEFF{}'])(
    'with the body %j is answered 400',
    async (body) => {
      const sandbox = await withSandbox()
      expect(await postForError(sandbox, body)).toMatchObject({ status: 400 })
    },
  )

  it('with deeply nested JSON is answered like any other', async () => {
    const sandbox = await withSandbox()
    const nested = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
    const answer = await sandbox.post(
      SYNC,
      `{"text_data":"x","user_id":"u","post_id":"p","content_metadata":${nested}}`,
    )
    expect(answer.status).toBe(200)
    expect((await sandbox.post(SYNC, createTask())).status).toBe(200)
  })

  it('with another content type is answered 415', async () => {
    const sandbox = await withSandbox()
    expect(await postForError(sandbox, 'a=b', { 'content-type': 'text/plain' })).toMatchObject({
      status: 415,
      errorCode: 'UNSUPPORTED_MEDIA_TYPE',
    })
  })

  it('over the body limit is read to its end and answered 413', async () => {
    const sandbox = await withSandbox({ bodyLimitBytes: 1_000 })
    const task = createTask({ text_data: 'x'.repeat(20_000_000) })
    expect(await postForError(sandbox, task)).toMatchObject({ status: 413, errorCode: 'BODY_TOO_LARGE' })
    expect((await sandbox.post(SYNC, createTask())).status).toBe(200)
  })

  it('with a text of 40 MB is accepted', async () => {
    onlyInLongForm()
    const sandbox = await withSandbox()
    const task = createTask({ text_data: 'free '.repeat(8_000_000) })
    expect((await sandbox.post(SYNC, task)).status).toBe(200)
    expect((await sandbox.findPost(String(task['post_id']))).task?.request).toBeNull()
  })

  it('to an unknown endpoint is answered 404 in the error shape', async () => {
    const sandbox = await withSandbox()
    for (const path of ['/api/v3/task/sync', '/api/v1/task', '/api/v1/watchlist/remove', '/%zz', '/']) {
      const answer = await sandbox.post(path, createTask())
      const error = serviceErrorSchema.parse(JSON.parse(answer.text))
      expect(error.status).toBe(answer.status)
      expect(error.error_code).toBe(path === '/%zz' ? 'INVALID_PARAM' : 'NOT_FOUND')
    }
  })
})
