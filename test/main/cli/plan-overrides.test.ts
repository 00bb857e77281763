import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

const startService = () =>
  startFaultServer({ onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)) })

const LOAD = { pace: { kind: 'closed', concurrency: 1 }, requests: 4, thresholds: ['p(99)<60000'] }

/**
 * A workspace with a plan that leads to a service of its own, and a stored connection that leads to another.
 */
async function open(changes: Record<string, unknown> = {}) {
  const [planned, stored] = [await startService(), await startService()]
  const workspace = createTemporaryFolder()
  writeSource(workspace, 'posts.csv', createRows(2))
  const env: Record<string, string> = { SLUICE_API_KEY: 'the-default-key', STORED_KEY: 'the-stored-key' }
  const work = join(workspace, 'work')
  const run = async (args: readonly string[], more: Record<string, string> = {}) =>
    runInProcess([...args, '--workspace', work], { workspace, env: { ...env, ...more } })
  await run(['connection', 'add', 'stored', '--base-url', stored.baseUrl, '--api-key-env', 'STORED_KEY'])
  const plan = writeSource(
    workspace,
    'posts.plan.json',
    JSON.stringify({
      name: 'Planned',
      connection: { baseUrl: planned.baseUrl, headers: { 'X-Tenant': 'acme' } },
      source: { path: 'posts.csv' },
      operation: { kind: 'task' },
      ...changes,
    }),
  )
  const send = (args: readonly string[], more?: Record<string, string>) => run(['plan', plan, ...args], more)
  return { planned, stored, run, send }
}

describe('plan', () => {
  it.each([
    [{ resolve: ['live.example:443:203.0.113.9'] }, ' by live.example:443:203.0.113.9'],
    [{ tls: { caFile: 'own.pem' } }, 'trusting the certificates in'],
  ])('names in its question how a plan reaches an address that is stored: %j', async (way, told) => {
    const { run, send } = await open({ connection: { baseUrl: 'https://live.example', ...way } })
    await run(['connection', 'add', 'live', '--base-url', 'https://live.example'])
    const refused = await send([])
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('https://live.example')
    expect(refused.stderr).toContain(told)
  })

  it('sends the file that it was saved with, though its name looks like a variable', async () => {
    onlyInLongForm()
    const { stored, run } = await open()
    const folder = dirname(writeSource(createTemporaryFolder(), 'posts-1.csv', createRows(5)))
    const source = writeSource(folder, 'posts-${N}.csv', createRows(3))
    const saved = join(folder, 'saved.plan.json')
    const task = ['task', source, '--connection', 'stored', '--name', 'x $${USER} ${N}']
    expect(await run([...task, '--save-plan', saved, '--dry-run'])).toMatchObject({ code: 0 })
    const again = await run(['plan', saved, '--json'], { N: '1' })
    expect(again).toMatchObject({ code: 0 })
    expect(JSON.parse(again.stdout)).toMatchObject({ name: 'x $${USER} ${N}' })
    expect(stored.requests).toHaveLength(3)
  })

  it('does not repeat the value of a variable in a message', async () => {
    const { send } = await open({ retry: { limit: '${RETRIES}' } })
    const refused = await send(['--trust-plan'], { RETRIES: 'hunter2-secret' })
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('retry.limit')
    expect(refused.stderr).not.toContain('hunter2')
  })

  it.each([
    'GITHUB_PAT',
    'DB_PASS',
    'PGPASS',
    'SMTP_PWD',
    'SESSION_COOKIE',
    'BASIC_AUTH',
    'ACCESS_KEY_2',
    'SENTRY_DSN',
  ])('does not fill in %s, which may be a secret', async (name) => {
    const { send } = await open({ name: `\${${name}}` })
    const refused = await send(['--trust-plan'], { [name]: 'hunter2-secret' })
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('may be a secret')
  })

  it('sends to the connection that an option names instead, with its key and without what the plan has', async () => {
    const { planned, stored, send } = await open()
    const sent = await send(['--connection', 'stored', '--name', 'Nightly', '--json'])
    expect(sent).toMatchObject({ code: 0 })
    expect(JSON.parse(sent.stdout)).toMatchObject({ name: 'Nightly' })
    expect(planned.requests).toEqual([])
    expect(stored.requests).toHaveLength(2)
    expect(stored.requests[0]?.headers).toMatchObject({ authorization: 'token the-stored-key' })
    expect(stored.requests[0]?.headers).not.toHaveProperty('x-tenant')
  })

  it('sends to the URL that an option gives without being asked to trust the plan', async () => {
    onlyInLongForm()
    const { planned, stored, send } = await open()
    expect(await send(['--base-url', stored.baseUrl, '--quiet'])).toMatchObject({ code: 0 })
    expect(planned.requests).toEqual([])
    expect(stored.requests[0]?.headers).toMatchObject({ authorization: 'token the-default-key' })
  })

  it('still asks about a plan if options change only part of its connection', async () => {
    const { planned, send } = await open()
    expect(await send(['--timeout', '5s'])).toMatchObject({ code: 2 })
    expect(planned.requests).toEqual([])
    expect(await send(['--timeout', '5s', '--trust-plan', '--header', 'x-tenant: other'])).toMatchObject({
      code: 0,
    })
    expect(planned.requests[0]?.headers).toMatchObject({ 'x-tenant': 'other' })
  })

  it('replaces the pace, the length and the thresholds of a load test', async () => {
    onlyInLongForm()
    const { stored, send } = await open({ load: LOAD })
    const to = ['--connection', 'stored', '--json']
    const crossed = await send([
      ...to,
      '--concurrency',
      '2',
      '--requests',
      '3',
      '--threshold',
      'p(99)<0.0001',
    ])
    expect(crossed).toMatchObject({ code: 99 })
    expect(JSON.parse(crossed.stdout)).toMatchObject({
      requests: { sent: 3 },
      thresholds: [{ expression: 'p(99)<0.0001', ok: false }],
    })
    const rated = await send([...to, '--rate', '20', '--duration', '200ms'])
    expect(rated).toMatchObject({ code: 0 })
    // The first of each test goes before the load.
    expect(stored.requests.length).toBe(4 + 5)
    const refused = await send([...to, '--rate', '20', '--concurrency', '2'])
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('cannot be combined')
  })

  it.each([
    [['--rate', '5', '--requests', '2'], 'at most 3 in flight, dropping when full'],
    [['--stages', '5@1s'], 'at most 3 in flight, dropping when full'],
    [['--stages', 'concurrency:2@1s'], 'closed, requests in flight: 2 for 1 s'],
  ])('keeps the limit of requests in flight with another rate: %j', async (args, told) => {
    const stages = [{ from: 9, to: 9, durationMs: 1_000 }]
    const { send } = await open({
      load: { pace: { kind: 'stages', of: 'rate', stages }, maxInFlight: 3, whenFull: 'drop' },
    })
    const tried = await send([...args, '--connection', 'stored', '--dry-run'])
    expect(tried).toMatchObject({ code: 0 })
    expect(tried.stdout.replaceAll(/\s+/g, ' ')).toContain(told)
  })

  it('refuses options of a load test for a plan of a run', async () => {
    const { stored, send } = await open()
    const refused = await send(['--connection', 'stored', '--threshold', 'p(99)<500'])
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('--threshold only works with the plan of a load test')
    expect(stored.requests).toEqual([])
  })

  it('fills in variables, also where a number is expected, and leaves content alone', async () => {
    onlyInLongForm()
    const { stored, send } = await open({
      name: 'Build ${BUILD:-unknown} of $${BUILD}',
      connection: { name: '${TARGET}', timeoutMs: '${TIMEOUT_MS}' },
      mapping: { text_data: { kind: 'template', template: '{{text_data}} for ${BUILD}' } },
      pace: { kind: 'closed', concurrency: '${IN_FLIGHT:-1}' },
    })
    const sent = await send(['--json'], { TARGET: 'stored', TIMEOUT_MS: '5000', BUILD: '17' })
    expect(sent).toMatchObject({ code: 0 })
    expect(JSON.parse(sent.stdout)).toMatchObject({ name: 'Build 17 of ${BUILD}' })
    expect(JSON.parse(stored.requests[0]?.body ?? '')).toMatchObject({
      text_data: 'Text number 1 for ${BUILD}',
    })
  })

  it('names each variable that is missing or may be a secret, with its place, and sends nothing', async () => {
    const { planned, send } = await open({
      name: '${BUILD}',
      source: { path: '${MY_TOKEN}' },
      pace: { kind: 'closed', concurrency: '${IN_FLIGHT}' },
    })
    const refused = await send(['--trust-plan'], { MY_TOKEN: 'very-secret-token', IN_FLIGHT: 'many' })
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('name: the environment variable BUILD is not set')
    expect(refused.stderr).toContain('source.path: ${MY_TOKEN} may be a secret')
    expect(refused.stderr).not.toContain('very-secret-token')
    const wrong = await send(['--trust-plan'], { BUILD: '1', IN_FLIGHT: 'many' })
    expect(wrong.stderr).not.toContain('BUILD is not set')
    expect(planned.requests).toEqual([])
  })
})
