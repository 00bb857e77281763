import { request as sendRequest } from 'node:http'
import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN_HEADER } from '../../../src/main/sandbox/admin-access.ts'
import { createArrivals, KEPT_ARRIVALS } from '../../../src/main/sandbox/arrivals.ts'
import { ruleSchema } from '../../../src/shared/sandbox/content.ts'
import { serviceErrorSchema } from '../../../src/shared/service/errors.ts'
import { type TestSandbox, withSandbox } from '../../helpers/sandbox.ts'

let postNumber = 0

const ADMIN_ROUTES = [
  ['GET', '/stats'],
  ['GET', '/tasks'],
  ['DELETE', '/tasks'],
  ['GET', '/keys'],
  ['POST', '/keys'],
  ['POST', '/keys/1/refresh'],
  ['DELETE', '/keys/1'],
  ['GET', '/rules'],
  ['PUT', '/rules/mine'],
  ['GET', '/watchlists'],
  ['DELETE', '/watchlists/sandbox_terms'],
  ['GET', '/indexes'],
  ['GET', '/appeals'],
  ['GET', '/callbacks'],
  ['POST', '/callbacks/send-now'],
  ['GET', '/requests'],
  ['GET', '/arrivals'],
  ['PATCH', '/behaviour'],
] as const

async function send(sandbox: TestSandbox, key: string, text = 'hello') {
  postNumber += 1
  const task = { text_data: text, user_id: 'u', post_id: `p-${postNumber}` }
  const answer = await sandbox.post('/api/v1/task/sync', task, { authorization: `token ${key}` })
  return { status: answer.status, body: JSON.parse(answer.text) }
}

async function findTriggered(sandbox: TestSandbox, text: string): Promise<string[]> {
  const { body } = await send(sandbox, sandbox.key, text)
  return body.triggered_rules.map((rule: { rule_id: string }) => rule.rule_id)
}

describe('API keys', () => {
  it('are interchangeable, and any other authorization gets 403', async () => {
    const sandbox = await withSandbox({ apiKeys: ['first', 'second'] })
    expect((await send(sandbox, 'first')).status).toBe(200)
    expect((await send(sandbox, 'second')).status).toBe(200)
    for (const header of ['token third', 'token', 'Bearer first', 'first', 'token first second', '']) {
      const answer = await sandbox.post('/api/v1/task/sync', {}, { authorization: header })
      expect(answer.status).toBe(403)
      expect(JSON.parse(answer.text).error_code).toBe('INVALID_API_KEY')
    }
    const without = await fetch(`${sandbox.baseUrl}/api/v1/task/sync`, { method: 'POST' })
    expect(without.status).toBe(403)
  })

  it.each([
    '/api/v1/task/sync',
    '/api/v1/task/async',
    '/api/v2/task/sync',
    '/api/v2/task/async',
    '/api/v1/custom_index/sandbox-index/add/sync',
    '/api/v1/custom_index/sandbox-index/add/async',
    '/api/v1/custom_index/sandbox-index/remove/sync',
    '/api/v1/custom_index/sandbox-index/remove/async',
    '/api/v1/watchlist/add',
    '/api/v1/watchlist/update',
  ])('are required by %s, before anything else is checked', async (path) => {
    const sandbox = await withSandbox()
    const refused = await sandbox.post(path, '{', { authorization: 'token wrong' })
    expect(refused.status).toBe(403)
    expect(serviceErrorSchema.parse(JSON.parse(refused.text)).error_code).toBe('INVALID_API_KEY')
    expect((await sandbox.post(path, '{')).status).toBe(400)
  })

  it('are refreshed and deleted at once, each separately', async () => {
    const sandbox = await withSandbox({ apiKeys: ['first', 'second'] })
    const refreshed = await sandbox.admin('POST', '/keys/1/refresh')
    const { key } = refreshed.body as { key: string }
    expect((await send(sandbox, 'first')).status).toBe(403)
    expect((await send(sandbox, key)).status).toBe(200)
    expect((await send(sandbox, 'second')).status).toBe(200)
    expect((await sandbox.admin('DELETE', '/keys/2')).status).toBe(200)
    expect((await send(sandbox, 'second')).status).toBe(403)
    expect((await send(sandbox, key)).status).toBe(200)
    expect((await sandbox.admin('DELETE', '/keys/2')).status).toBe(404)
    expect((await sandbox.admin('POST', '/keys/x/refresh')).status).toBe(404)
  })

  it('can be added, and are never shown again', async () => {
    const sandbox = await withSandbox()
    const added = await sandbox.admin('POST', '/keys', { label: 'rotation', key: 'chosen-key' })
    expect(added).toMatchObject({ status: 200, body: { key: 'chosen-key' } })
    expect((await send(sandbox, 'chosen-key')).status).toBe(200)
    expect((await sandbox.admin('POST', '/keys', { key: 'chosen-key' })).status).toBe(409)
    const { body } = await sandbox.admin('GET', '/keys')
    expect(body).toMatchObject({ keys: [{ label: 'key 1' }, { label: 'rotation' }] })
    expect(JSON.stringify(body)).not.toContain('chosen-key')
  })
})

describe('rules', () => {
  it('are listed, replaced, switched off and removed with effect on the next request', async () => {
    const sandbox = await withSandbox()
    const rule = {
      rule_name: 'Greeting',
      conditions: [{ subject: 'watchlist', watchlist: 'greetings' }],
    }
    expect((await sandbox.admin('PUT', '/rules/greeting', rule)).status).toBe(200)
    expect(await findTriggered(sandbox, 'hello there')).toEqual([])
    await sandbox.admin('PUT', '/watchlists/greetings', { terms: [{ term: 'Hello There', notes: 'n' }] })
    expect(await findTriggered(sandbox, 'hello there')).toEqual(['greeting'])
    await sandbox.admin('PUT', '/rules/greeting', { ...rule, active: false })
    expect(await findTriggered(sandbox, 'hello there')).toEqual([])
    expect((await sandbox.admin('DELETE', '/rules/greeting')).status).toBe(200)
    expect((await sandbox.admin('GET', '/rules/greeting')).status).toBe(404)
    const { body } = await sandbox.admin('GET', '/rules')
    expect((body as { rules: unknown[] }).rules.map((listed) => ruleSchema.parse(listed).rule_id)).toContain(
      'rule-spam',
    )
  })

  it('that make no sense are refused with every problem', async () => {
    const sandbox = await withSandbox()
    const refused = await sandbox.admin('PUT', '/rules/bad', { conditions: [{ subject: 'class_score' }] })
    expect(refused.status).toBe(400)
    expect((refused.body as { message: string }).message).toContain('rule_name: is required')
    expect((refused.body as { message: string }).message).toContain('conditions.0.class')
  })
})

describe('watchlists', () => {
  it('are listed, replaced and removed', async () => {
    const sandbox = await withSandbox()
    await sandbox.admin('PUT', '/watchlists/mine', { terms: [{ term: 'One' }, { term: 'TWO', notes: 'n' }] })
    expect((await sandbox.admin('GET', '/watchlists/mine')).body).toEqual({
      watchlist: 'mine',
      terms: [
        { term: 'one', notes: null },
        { term: 'two', notes: 'n' },
      ],
    })
    await sandbox.admin('PUT', '/watchlists/mine', { terms: [] })
    expect((await sandbox.admin('GET', '/watchlists/mine')).body).toEqual({ watchlist: 'mine', terms: [] })
    expect((await sandbox.admin('GET', '/watchlists')).body).toEqual({
      watchlists: ['mine', 'sandbox_terms'],
    })
    expect((await sandbox.admin('DELETE', '/watchlists/mine')).status).toBe(200)
    expect((await sandbox.admin('DELETE', '/watchlists/mine')).status).toBe(404)
  })
})

describe('the behaviour', () => {
  it('can be read and changed while the sandbox runs', async () => {
    const sandbox = await withSandbox({ latency: '1ms' })
    expect((await sandbox.admin('PATCH', '/behaviour', { faults: ['503=100%'] })).body).toEqual({
      latency: '1ms',
      faults: ['503=100%'],
      ratePerSecond: null,
      slots: null,
      callbacks: '',
      maxTermsPerRequest: null,
      failedTerms: 'objects',
      watchlistAddCodes: 'consistent',
    })
    expect((await send(sandbox, sandbox.key)).status).toBe(503)
    const refused = await sandbox.admin('PATCH', '/behaviour', { latency: 'slow' })
    expect(refused).toMatchObject({ status: 400, body: { error_code: 'INVALID_PARAM' } })
    expect((await sandbox.admin('PATCH', '/behaviour', { faults: [] })).body).toMatchObject({
      latency: '1ms',
    })
    expect((await send(sandbox, sandbox.key)).status).toBe(200)
  })
})

describe('tasks', () => {
  it('are listed by page, and deleted on request', async () => {
    const sandbox = await withSandbox()
    for (const text of ['a', 'b', 'c']) await send(sandbox, sandbox.key, text)
    const { body } = await sandbox.admin('GET', '/tasks?offset=1&limit=1')
    expect(body).toMatchObject({ total: 3, tasks: [{ request: { text_data: 'b' } }] })
    expect((await sandbox.admin('GET', '/tasks?limit=none')).status).toBe(400)
    await sandbox.admin('DELETE', '/tasks')
    expect(await sandbox.stats()).toMatchObject({ requests: 0, tasks: 0, outcomes: {} })
  })
})

describe('requests to indexes, watchlists and appeals', () => {
  it('are logged as they came, counted by outcome, and deleted on request', async () => {
    const sandbox = await withSandbox({ keepRequestBytes: 60 })
    const small = { watchlist: 'sandbox_terms', terms: [{ term: 'a' }] }
    await sandbox.post('/api/v1/watchlist/add', small)
    await sandbox.post('/api/v1/watchlist/add', { ...small, terms: [{ term: 'x'.repeat(60) }] })
    await sandbox.post('/api/v1/watchlist/update', '{')
    await sandbox.get('/api/v1/appeals/status/none')
    expect(await sandbox.requests()).toMatchObject([
      { endpoint: 'watchlist-add', subject: 'sandbox_terms', outcome: 'accepted', request: small },
      { endpoint: 'watchlist-add', subject: 'sandbox_terms', outcome: 'accepted', request: null },
      { endpoint: 'watchlist-update', subject: '', outcome: 'rejected:INVALID_JSON', request: null },
      { endpoint: 'appeal-status', subject: 'none', outcome: 'rejected:INVALID_APPEAL', request: null },
    ])
    expect(await sandbox.stats()).toMatchObject({
      requests: 0,
      endpoints: {
        'watchlist-add': { accepted: 2 },
        'watchlist-update': { 'rejected:INVALID_JSON': 1 },
        'appeal-status': { 'rejected:INVALID_APPEAL': 1 },
      },
    })
    const { body } = await sandbox.admin('GET', '/requests?subject=none&limit=1')
    expect(body).toMatchObject({ total: 1, requests: [{ subject: 'none' }] })
    expect((await sandbox.admin('GET', '/requests?endpoint=task')).status).toBe(400)
    await sandbox.admin('DELETE', '/requests')
    expect(await sandbox.requests()).toEqual([])
  })
})

/** fetch cannot set Host or Origin, so this does. */
function readStatus(
  url: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    sendRequest(url, { method, headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
      .on('error', reject)
      .end()
  })
}

describe('the admin routes', () => {
  it('answer programs on this machine, but not web pages', async () => {
    const sandbox = await withSandbox()
    const url = `${sandbox.baseUrl}/sandbox/admin/keys`
    const token = { [ADMIN_TOKEN_HEADER]: sandbox.adminToken }
    expect(await readStatus(url, token)).toBe(200)
    expect(await readStatus(url, { ...token, host: `localhost:${sandbox.port}` })).toBe(200)
    expect(await readStatus(url, { ...token, host: 'rebound.example' })).toBe(421)
    expect(await readStatus(url, { ...token, origin: 'https://example.com' })).toBe(403)
  })

  it('all require the token of this start, and a new start has another', async () => {
    const sandbox = await withSandbox()
    const other = await withSandbox()
    expect(sandbox.adminToken).toMatch(/^[\w-]{32,}$/)
    expect(other.adminToken).not.toBe(sandbox.adminToken)
    for (const headers of [{}, { [ADMIN_TOKEN_HEADER]: other.adminToken }, { [ADMIN_TOKEN_HEADER]: '' }]) {
      for (const [method, path] of ADMIN_ROUTES) {
        const url = `${sandbox.baseUrl}/sandbox/admin${path}`
        expect(await readStatus(url, headers, method), `${method} ${path}`).toBe(403)
      }
    }
    expect((await sandbox.admin('GET', '/stats')).status).toBe(200)
  })
})

describe('the Host header', () => {
  it('must mean this machine on every route of both hosts, so that a rebound name reaches nothing', async () => {
    const sandbox = await withSandbox()
    const authorization = `token ${sandbox.key}`
    const urls = [
      `${sandbox.baseUrl}/api/v1/task/sync`,
      `${sandbox.baseUrl}/api/v1/watchlist/add`,
      `${sandbox.baseUrl}/api/v1/custom_index/sandbox-index/add/sync`,
      `${sandbox.baseUrl}/no/such/path`,
      `${sandbox.taskBaseUrl}/api/v2/task/async`,
    ]
    for (const url of urls) {
      for (const host of ['rebound.example', `127.0.0.1.rebound.example:${sandbox.port}`, '192.0.2.1']) {
        expect(await readStatus(url, { host, authorization }, 'POST'), `${url} by ${host}`).toBe(421)
      }
      for (const host of [`localhost:${sandbox.port}`, '127.0.0.1', `[::1]:${sandbox.port}`]) {
        expect(await readStatus(url, { host, authorization }, 'POST'), `${url} by ${host}`).not.toBe(421)
      }
    }
    const appeal = `${sandbox.baseUrl}/api/v1/appeals/status/appeal-1`
    expect(await readStatus(appeal, { host: 'rebound.example' })).toBe(421)
    expect(await readStatus(appeal, {})).toBe(200)
  })

  it('may be any address, but no other name, if the sandbox listens beyond this machine', async () => {
    const sandbox = await withSandbox({ host: '0.0.0.0' })
    const appeal = `http://127.0.0.1:${sandbox.port}/api/v1/appeals/status/appeal-1`
    expect(await readStatus(appeal, { host: '192.0.2.1' })).toBe(200)
    expect(await readStatus(appeal, { host: 'rebound.example' })).toBe(421)
  })
})

describe('arrivals', () => {
  it('are listed newest first, including refused ones and those with a fault, and counted by endpoint', async () => {
    const sandbox = await withSandbox({ faults: ['503-after=100%,tries=1'] })
    const task = { text_data: 'hello', user_id: 'u', post_id: 'p-arrived' }
    await sandbox.post('/api/v1/task/sync', task)
    await sandbox.post('/api/v1/task/sync?legacy=1', task)
    await sandbox.post('/api/v2/task/async', '{', { authorization: 'token wrong' })
    await sandbox.get('/api/v1/appeals/status/none')
    const arrived = await sandbox.admin('GET', '/arrivals?limit=3')
    expect(arrived.body).toMatchObject({
      total: 4,
      arrivals: [
        {
          number: 4,
          endpoint: 'appeal-status',
          subject: 'none',
          outcome: 'rejected:INVALID_APPEAL',
          body: null,
        },
        { number: 3, endpoint: 'task/v2/async', subject: '', outcome: 'rejected:INVALID_API_KEY' },
        {
          number: 2,
          endpoint: 'task/v1/sync',
          subject: 'p-arrived',
          outcome: 'rejected:DUPLICATE_POST_ID',
          body: JSON.stringify(task),
        },
      ],
      counts: [
        { endpoint: 'task/v1/sync', outcome: 'fault:503-after', requests: 1 },
        { endpoint: 'task/v1/sync', outcome: 'rejected:DUPLICATE_POST_ID', requests: 1 },
        { endpoint: 'task/v2/async', outcome: 'rejected:INVALID_API_KEY', requests: 1 },
        { endpoint: 'appeal-status', outcome: 'rejected:INVALID_APPEAL', requests: 1 },
      ],
    })
    const faults = await sandbox.admin('GET', '/arrivals?outcome=fault:503-after&endpoint=task/v1/sync')
    expect(faults.body).toMatchObject({ total: 1, arrivals: [{ number: 1 }] })
    await sandbox.admin('DELETE', '/arrivals')
    expect((await sandbox.admin('GET', '/arrivals')).body).toEqual({ total: 0, arrivals: [], counts: [] })
  })

  it('keep only the newest thousand, and no long bodies, in memory', async () => {
    const arrivals = createArrivals()
    const note = (subject: string, body: string | null) =>
      arrivals.note({ endpoint: 'watchlist-add', subject, outcome: 'accepted', arrivedOn: new Date(0), body })
    for (let n = 1; n <= KEPT_ARRIVALS + 5; n += 1)
      note(`s${n}`, 'x'.repeat(n === KEPT_ARRIVALS ? 16_385 : 1))
    const { total, arrivals: newest } = arrivals.page({ endpoint: null, outcome: null }, 0, 10_000)
    expect(total).toBe(KEPT_ARRIVALS)
    expect(newest.at(0)?.subject).toBe(`s${KEPT_ARRIVALS + 5}`)
    expect(newest.at(-1)?.subject).toBe('s6')
    expect(newest.find(({ subject }) => subject === `s${KEPT_ARRIVALS}`)?.body).toBeNull()
    expect(arrivals.counts()).toEqual([
      { endpoint: 'watchlist-add', outcome: 'accepted', requests: KEPT_ARRIVALS + 5 },
    ])
  })
})
