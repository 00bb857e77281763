import { describe, expect, it } from 'vitest'
import { readTaskResponse } from '../../../src/main/engine/service/task-reader.ts'
import { serviceErrorSchema } from '../../../src/shared/service/errors.ts'
import {
  asyncAcknowledgementSchema,
  defaultTaskResponseSchema,
  legacyTaskResponseSchema,
  v2TaskResponseSchema,
} from '../../helpers/answer-schemas.ts'
import { withCallbackReceiver } from '../../helpers/callback-receiver.ts'
import { type TestSandbox, withSandbox } from '../../helpers/sandbox.ts'

const SYNC = '/api/v2/task/sync'
const IMAGE = 'https://example.com/sandbox-hate-3.png'

let postNumber = 0
function createTask(fields: Record<string, unknown> = {}): Record<string, unknown> {
  postNumber += 1
  return { url: IMAGE, user_id: 'u1', post_id: `post-${postNumber}`, ...fields }
}

async function submit(sandbox: TestSandbox, fields: Record<string, unknown> = {}) {
  const answer = await sandbox.post(SYNC, createTask(fields))
  expect(answer.status).toBe(200)
  return v2TaskResponseSchema.parse(JSON.parse(answer.text))
}

async function refuse(sandbox: TestSandbox, fields: Record<string, unknown>) {
  const answer = await sandbox.post(SYNC, createTask(fields))
  expect(answer.status).toBe(400)
  return serviceErrorSchema.parse(JSON.parse(answer.text))
}

describe('a v2 task', () => {
  it("is answered with the default fields and a list of each model's findings", async () => {
    const sandbox = await withSandbox()
    const body = await submit(sandbox, { models: ['visual', 'ocr', 'deepfake', 'visual'] })
    expect(body).toMatchObject({
      user_id: 'u1',
      post_id: `post-${postNumber}`,
      triggered_rules: [
        { rule_id: 'rule-hate', rule_name: 'Hateful content' },
        { rule_id: 'rule-link', rule_name: 'Contains a link' },
      ],
    })
    expect(body.models?.map(({ model, status }) => `${model} ${status.code}`)).toEqual([
      'visual 0',
      'ocr 0',
      'deepfake 0',
    ])
    expect(readTaskResponse(body)).toMatchObject({
      taskId: body.task_id,
      classScores: expect.arrayContaining([{ className: 'hate', score: 3 }]),
      failures: [],
    })
  })

  it('runs the default model for its content if it names none', async () => {
    const sandbox = await withSandbox()
    const modelsOf = async (fields: Record<string, unknown>) =>
      (await submit(sandbox, fields)).models?.map(({ model }) => model)
    expect(await modelsOf({})).toEqual(['visual'])
    expect(await modelsOf({ models: [] })).toEqual(['visual'])
    expect(await modelsOf({ url: undefined, text_data: 'free prize' })).toEqual(['text'])
  })

  it("has no matches for a text, but has a custom index's scores for it", async () => {
    const sandbox = await withSandbox()
    const fields = { url: undefined, text_data: 'sandbox:hate:3', models: ['text', 'sandbox-index'] }
    const { models } = await submit(sandbox, fields)
    expect(models?.map(({ model }) => model)).toEqual(['text', 'sandbox-index'])
    for (const { response } of models ?? []) {
      expect(response).not.toHaveProperty('matches')
      expect(JSON.stringify(response?.output)).toContain('{"class":"hate","score":3}')
    }
  })

  it('is refused if its body begins with a byte-order mark, or a model is not a text', async () => {
    const sandbox = await withSandbox()
    const marked = await sandbox.post(SYNC, `\uFEFF${JSON.stringify(createTask())}`)
    expect(marked.status).toBe(400)
    expect(marked.text).toContain('INVALID_JSON')
    expect(await refuse(sandbox, { models: ['visual', 1] })).toMatchObject({
      error_code: 'PARAM_REQUIRED',
      message: 'models.1: is required',
    })
  })

  it('is from the cache if every one of its models analysed the content before', async () => {
    const sandbox = await withSandbox()
    expect((await submit(sandbox, { models: ['visual'] }))['from_cache']).toBe(false)
    expect((await submit(sandbox, { models: ['visual', 'ocr'] }))['from_cache']).toBe(false)
    expect((await submit(sandbox, { models: ['ocr', 'visual'] }))['from_cache']).toBe(true)
  })

  it.each([
    [
      { models: ['visual', 'no-such-index'] },
      'INVALID_PARAM',
      '"no-such-index" is not a model or a custom index',
    ],
    [{ models: 'visual' }, 'PARAM_REQUIRED', 'models'],
    [{ url: undefined }, 'PARAM_REQUIRED', 'url: is required'],
    [{ text_data: 'x' }, 'INVALID_PARAM', 'url: must not be sent together with text_data'],
    [{ text_data: 1, url: undefined }, 'PARAM_REQUIRED', 'text_data'],
    [{ user_id: undefined }, 'PARAM_REQUIRED', 'user_id: is required'],
    [{ post_id: 'a;b' }, 'INVALID_PARAM', 'post_id: must not contain `_` or `;`'],
    [{ url: 'nonsense' }, 'INVALID_PARAM', 'url: must be an http or https URL'],
    [{ content_metadata: [] }, 'PARAM_REQUIRED', 'content_metadata'],
  ])('such as %j is refused', async (fields, errorCode, message) => {
    const sandbox = await withSandbox()
    const error = await refuse(sandbox, fields)
    expect(error.error_code).toBe(errorCode)
    expect(error.message).toContain(message)
    expect(await sandbox.tasks()).toEqual([])
  })

  it('shares its post_ids with v1', async () => {
    const sandbox = await withSandbox()
    await sandbox.post('/api/v1/task/sync', { text_data: 'x', user_id: 'u', post_id: 'same' })
    expect((await refuse(sandbox, { post_id: 'same' })).error_code).toBe('DUPLICATE_POST_ID')
  })
})

describe('an async task', () => {
  async function callBack(path: string, fields: Record<string, unknown> = {}) {
    const receiver = await withCallbackReceiver()
    const sandbox = await withSandbox()
    const answer = await sandbox.post(path, createTask({ ...fields, callback_url: receiver.url }))
    expect(answer.status).toBe(200)
    const { task_id } = asyncAcknowledgementSchema.parse(JSON.parse(answer.text))
    await sandbox.waitForCallbacks()
    const [task] = await sandbox.tasks()
    expect(task).toMatchObject({
      task_id,
      endpoint: path.slice('/api/'.length).replace(/^(v\d)\/task\/(\w+).*/, 'task/$1/$2'),
    })
    expect(receiver.received).toHaveLength(1)
    expect(receiver.received[0]?.body['task_id']).toBe(task_id)
    return receiver.received[0]
  }

  it('of v1 is acknowledged with a task_id, and its result posted in the default shape', async () => {
    const received = await callBack('/api/v1/task/async', { models: ['visual'] })
    expect(defaultTaskResponseSchema.strict().parse(received?.body).triggered_rules).toHaveLength(2)
  })

  it('of v1 with legacy=1 gets its result in that shape', async () => {
    const received = await callBack('/api/v1/task/async?legacy=1')
    expect(legacyTaskResponseSchema.parse(received?.body).code).toBe(200)
    expect(received?.text.match(/"user_id"/g)?.length).toBeGreaterThan(2)
  })

  it('of v2 gets a list of models', async () => {
    const received = await callBack('/api/v2/task/async?legacy=1', { models: ['visual', 'ocr'] })
    expect(v2TaskResponseSchema.parse(received?.body).models).toHaveLength(2)
  })

  it('with an invalid callback_url is refused', async () => {
    const sandbox = await withSandbox()
    for (const path of ['/api/v1/task/async', '/api/v2/task/async']) {
      const answer = await sandbox.post(path, createTask({ callback_url: 'mailto:a@example.com' }))
      expect(JSON.parse(answer.text).error_code).toBe('INVALID_PARAM')
    }
  })
})

describe('the second host', () => {
  async function postThere(sandbox: TestSandbox, path: string, headers: Record<string, string>) {
    return await fetch(sandbox.taskBaseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(createTask()),
    })
  }

  it('serves only the v2 tasks, with the same key', async () => {
    const sandbox = await withSandbox()
    const headers = { authorization: `token ${sandbox.key}` }
    expect(sandbox.taskBaseUrl).not.toBe(sandbox.baseUrl)
    expect((await postThere(sandbox, '/api/v2/task/sync', headers)).status).toBe(200)
    expect((await postThere(sandbox, '/api/v2/task/async', headers)).status).toBe(200)
    expect((await postThere(sandbox, '/api/v2/task/sync', {})).status).toBe(403)
    for (const path of [
      '/api/v1/task/sync',
      '/api/v1/watchlist/add',
      '/api/v1/custom_index/sandbox-index/add/sync',
      '/sandbox/admin/appeals',
    ]) {
      expect((await postThere(sandbox, path, headers)).status).toBe(404)
    }
    expect((await fetch(`${sandbox.taskBaseUrl}/api/v1/appeals/status/appeal-1`)).status).toBe(404)
    expect(await sandbox.tasks()).toHaveLength(2)
  })
})
