import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { findFilesWith, holdsSecret } from '../../helpers/find-secret.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

const TOKEN = 'gateway-token-0123456789'
const FILED = 'filed-secret-9876543210'
const env = { SLUICE_API_KEY: 'the-default-key', GATEWAY: TOKEN }

/** A service that repeats each header in its answers, and a workspace with a source. */
async function open() {
  const service = await startFaultServer({
    onRequest: (request, wire) =>
      wire.send(200, { ...toTaskAnswer(request), task_id: Object.values(request.headers).join(' ') }),
  })
  const workspace = createTemporaryFolder()
  const source = writeSource(workspace, 'posts.csv', createRows(3))
  const run = (args: readonly string[], own: Record<string, string> = env) =>
    runInProcess([...args, '--workspace', join(workspace, 'work')], { workspace, env: own })
  return { service, workspace, source, run }
}

describe('headers of requests', () => {
  it('come from the command line, a variable and a file, whose values are in no file and no output', async () => {
    const { service, workspace, source, run } = await open()
    const file = writeSource(createTemporaryFolder(), 'secret.txt', `${FILED}\n`)
    const plan = join(workspace, 'saved.plan.json')
    const sent = await run([
      ...['task', source, '--base-url', service.baseUrl, '--json', '--save-plan', plan],
      ...['--header', 'X-Tenant: acme', '--header', 'X-Gateway: Bearer ${GATEWAY}'],
      ...['--header', `X-Filed: @${file}`, '--user-agent', 'trial/1'],
    ])
    expect(sent).toMatchObject({ code: 0 })
    expect(service.requests).toHaveLength(3)
    for (const { headers } of service.requests) {
      expect(headers).toMatchObject({
        'x-tenant': 'acme',
        'x-gateway': `Bearer ${TOKEN}`,
        'x-filed': FILED,
        'user-agent': 'trial/1',
      })
    }
    for (const secret of [TOKEN, FILED]) {
      expect(findFilesWith(workspace, secret)).toEqual([])
      expect(holdsSecret(sent.stdout + sent.stderr, secret)).toBe(false)
    }
    const again = await run(['plan', plan, '--trust-plan', '--quiet'])
    expect(again).toMatchObject({ code: 0 })
    expect(service.requests).toHaveLength(6)
    expect(service.requests[5]?.headers).toMatchObject({ 'x-gateway': `Bearer ${TOKEN}`, 'x-filed': FILED })
  })

  it('are taken out of answers in part, too: the token without its scheme, the session without its name', async () => {
    const service = await startFaultServer({
      onRequest: (request, wire) => {
        const token = String(request.headers['x-filed']).replace('Bearer ', '')
        const session = String(request.headers['x-session']).replace(/.*sid=|;.*/g, '')
        const [, basic] = String(request.headers['x-basic']).split(' ')
        wire.send(400, { error: true, code: 'BAD', message: `${token}, ${session} and ${basic} are unknown` })
      },
    })
    const workspace = createTemporaryFolder()
    const source = writeSource(workspace, 'posts.csv', createRows(1))
    const file = writeSource(createTemporaryFolder(), 'secret.txt', `Bearer ${FILED}\n`)
    const sent = await runInProcess(
      [
        ...['task', source, '--base-url', service.baseUrl, '--workspace', join(workspace, 'work')],
        ...[
          '--header',
          `X-Filed: @${file}`,
          '--header',
          'X-Session: ${SESSION}',
          '--header',
          'X-Basic: ${BASIC}',
        ],
      ],
      { workspace, env: { ...env, SESSION: `sid=${TOKEN}; lang=de`, BASIC: 'Basic dXNlcjpwYXNz' } },
    )
    expect(sent.stdout).toContain('[redacted], [redacted] and [redacted] are unknown')
    for (const secret of [TOKEN, FILED]) {
      expect(findFilesWith(workspace, secret)).toEqual([])
      expect(holdsSecret(sent.stdout + sent.stderr, secret)).toBe(false)
    }
  })

  it('go out with every request of a load test, over HTTP/1.1', async () => {
    onlyInLongForm()
    const { service, source, run } = await open()
    const load = ['load', source, '--base-url', service.baseUrl, '--concurrency', '2', '--requests', '10']
    await run([...load, '--header', 'X-Gateway: ${GATEWAY}', '--no-keepalive', '--quiet'])
    expect(service.requests).toHaveLength(11)
    expect(service.requests.every(({ headers }) => headers['x-gateway'] === TOKEN)).toBe(true)
    expect(service.requests.every(({ headers }) => headers['connection'] === 'close')).toBe(true)
    expect(service.connections).toBe(11)
  })

  it('are kept by a stored connection, and changed one by one', async () => {
    const { service, source, run } = await open()
    await run([
      'connection',
      'add',
      'live',
      '--base-url',
      service.baseUrl,
      '--header',
      'X-Gateway: ${GATEWAY}',
    ])
    await run(['connection', 'set', 'live', '--header', 'X-Tenant: acme'])
    expect(
      await run(['task', source, '--connection', 'live', '--header', 'x-tenant: other', '--quiet']),
    ).toMatchObject({
      code: 0,
    })
    expect(service.requests[0]?.headers).toMatchObject({ 'x-gateway': TOKEN, 'x-tenant': 'other' })
  })

  it('of a connection or plan are left out by name, for a run or for good', async () => {
    onlyInLongForm()
    const { service, workspace, source, run } = await open()
    const add = ['connection', 'add', 'live', '--base-url', service.baseUrl]
    await run([...add, '--header', 'X-Gateway: ${GATEWAY}', '--header', 'X-Tenant: acme'])
    const plan = join(workspace, 'saved.plan.json')
    const send = ['task', source, '--connection', 'live', '--quiet', '--set', 'post_id={{run}}-{{row}}']
    const listed = async (...args: string[]) => {
      const before = service.requests.length
      expect(await run([...args, '--quiet'])).toMatchObject({ code: 0 })
      const { headers = {} } = service.requests[before] ?? {}
      return ['x-gateway', 'x-tenant'].filter((name) => name in headers)
    }
    expect(await listed(...send.filter((one) => one !== '--quiet'), '--remove-header', 'x-gateway')).toEqual([
      'x-tenant',
    ])
    await run([...send, '--save-plan', plan, '--dry-run'])
    expect(await listed('plan', plan, '--remove-header', 'X-Tenant')).toEqual(['x-gateway'])
    const both = await listed('plan', plan, '--remove-header', 'X-Tenant', '--remove-header', 'X-Gateway')
    expect(both).toEqual([])
    await run(['connection', 'set', 'live', '--remove-header', 'X-Gateway', '--remove-header', 'X-Tenant'])
    expect(await listed(...send.filter((one) => one !== '--quiet'))).toEqual([])
  })

  it('to leave out are refused if they do not exist or are given as well', async () => {
    const { service, source, run } = await open()
    const send = ['task', source, '--base-url', service.baseUrl, '--remove-header', 'X-Tenat']
    expect((await run(send)).stderr).toContain('--remove-header X-Tenat: the connection has no headers')
    const both = await run([...send, '--header', 'X-Tenat: acme'])
    expect(both).toMatchObject({ code: 2 })
    expect(both.stderr).toContain('--header and --remove-header both name X-Tenat')
    const stored = ['connection', 'add', 'live', '--base-url', service.baseUrl]
    await run([...stored, '--header', 'X-Tenant: acme'])
    const left = ['task', source, '--connection', 'live', '--remove-header', 'X-Tenant']
    const saved = await run([...left, '--save-plan', 'saved.plan.json', '--dry-run'])
    expect(saved).toMatchObject({ code: 2 })
    expect(saved.stderr).toContain('--remove-header cannot be combined with --save-plan')
    expect(service.requests).toEqual([])
  })

  it.each([
    ['Authorization: token abc', 'is set from the API key'],
    ['Content-Length: 3', 'would change how the request is framed'],
    ['transfer-encoding: chunked', 'would change how the request is framed'],
    ['Host: other.example', 'is set by Sluice'],
    ['User-Agent: me', '--user-agent'],
    ['X-Api-Key: 0123456789abcdef', 'may be a secret'],
    ['X-Thing: Bearer 0123456789abcdef', 'may be a secret'],
    ['X-Thing: a\r\nX-Other: b', 'printable ASCII'],
    ['X-Thing: ${not a name}', 'no variable'],
    ['X-Thing: ${GATEWAY} ${GATEWAY:-0123456789abcdef}', 'no variable'],
    ['X-Api-Key: 0123456789abcdef${GATEWAY}', 'may be a secret'],
    ['Cookie: session=0123456789abcdef; t=${GATEWAY}', 'may be a secret'],
    ['X-Thing: Bearer 0123456789abcdef${GATEWAY}', 'may be a secret'],
    ['X-Thing: ghp_0123456789abcdef0123456789abcdef0123', 'may be a secret'],
    ['X-Thing: github_pat_11ABCDEFG00123456789abcdef', 'may be a secret'],
    ['X-Thing: glpat-0123456789abcdef0123', 'may be a secret'],
    ['X-Thing: xoxb-0123456789abcdef-0123456789', 'may be a secret'],
    ['X-Thing: sk_live_0123456789abcdef0123', 'may be a secret'],
    ['X-Thing: AKIA0123456789ABCDEF', 'may be a secret'],
    ['X-Thing: id=1 eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.0123456789abcdef', 'use ${VARIABLE} or @FILE'],
    ['X-Thing:', 'X-Thing has no value'],
    ['nothing', "expected 'Name: value'"],
  ])('refuse %j before anything is sent, and do not repeat its value', async (header, message) => {
    const { service, source, run } = await open()
    const refused = await run(['task', source, '--base-url', service.baseUrl, '--header', header])
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain(message)
    expect(refused.stderr).not.toContain('0123456789abcdef')
    expect(service.requests).toEqual([])
  })

  it('whose values only begin like tokens of well-known services are sent', async () => {
    onlyInLongForm()
    const { service, source, run } = await open()
    const values = {
      'x-region': 'sk-bratislava-west-1',
      'x-team': 'npm_config_registry',
      'x-plan': 'risk-sk-none',
    }
    const headers = Object.entries(values).flatMap(([name, value]) => ['--header', `${name}: ${value}`])
    expect(await run(['task', source, '--base-url', service.baseUrl, ...headers])).toMatchObject({ code: 0 })
    expect(service.requests[0]?.headers).toMatchObject(values)
  })

  it.each([
    ['X-Gateway: ${MISSING}', 'MISSING'],
    ['X-Gateway: @missing.txt', 'missing.txt'],
    ['X-Gateway: ${BROKEN}', 'cannot be sent'],
  ])(
    'end the run before its first request if the value of %j is missing or not valid',
    async (header, message) => {
      const { service, source, run } = await open()
      const own = { ...env, BROKEN: 'a\r\nx: b' }
      const refused = await run(['task', source, '--base-url', service.baseUrl, '--header', header], own)
      expect(refused).toMatchObject({ code: 2 })
      expect(refused.stderr).toContain(message)
      expect(service.requests).toEqual([])
    },
  )

  it('of a stored connection go to no other address', async () => {
    const { service, workspace, source, run } = await open()
    const stored = ['connection', 'add', 'live', '--base-url', 'https://live.example']
    await run([...stored, '--header', 'X-Gateway: Bearer ${GATEWAY}'])
    const plan = writeSource(
      workspace,
      'posts.plan.json',
      JSON.stringify({
        connection: { name: 'live', baseUrl: service.baseUrl },
        source: { path: 'posts.csv' },
        operation: { kind: 'task' },
      }),
    )
    for (const args of [
      ['task', source, '--connection', 'live', '--base-url', service.baseUrl],
      ['plan', plan, '--trust-plan'],
    ]) {
      const refused = await run([...args, '--api-key-env', 'OTHER'], { ...env, OTHER: 'another-key' })
      expect(refused).toMatchObject({ code: 2 })
      expect(refused.stderr).toContain('the headers belong to https://live.example')
    }
    expect(service.requests).toEqual([])
  })

  it("of somebody else's plan are not read from variables unless the plan is trusted", async () => {
    const { service, workspace, run } = await open()
    await run(['connection', 'add', 'live', '--base-url', service.baseUrl])
    const plan = writeSource(
      workspace,
      'other.plan.json',
      JSON.stringify({
        connection: { name: 'live', headers: { 'X-Taken': '${GATEWAY}' } },
        source: { path: 'posts.csv' },
        operation: { kind: 'task' },
      }),
    )
    const refused = await run(['plan', plan])
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('X-Taken (${GATEWAY})')
    expect(service.requests).toEqual([])
  })
})

describe('the way to the service', () => {
  it('is the address that stands for a host, whose name stays in the request', async () => {
    onlyInLongForm()
    const { service, source, run } = await open()
    const named = `http://moderation.test:${service.port}`
    const sent = await run([
      ...['task', source, '--base-url', named, '--quiet'],
      ...['--resolve', `moderation.test:${service.port}:127.0.0.1`],
    ])
    expect(sent).toMatchObject({ code: 0 })
    expect(service.requests[0]?.headers['host']).toBe(`moderation.test:${service.port}`)
  })

  it('refuses an address for a host that nothing is sent to', async () => {
    const { service, source, run } = await open()
    const to = ['task', source, '--base-url', service.baseUrl]
    const refused = await run([...to, '--resolve', 'other.test:443:127.0.0.1'])
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('--resolve: other.test:443:127.0.0.1 is for another host or port')
    expect(await run([...to, '--resolve', 'other.test:443:nowhere'])).toMatchObject({ code: 2 })
  })

  it.skipIf(process.platform === 'win32')('is a unix socket', async () => {
    onlyInLongForm()
    const { workspace, source, run } = await open()
    const path = join(workspace, 'service.sock')
    const hosts: (string | undefined)[] = []
    const server = createServer((request, response) => {
      hosts.push(request.headers.host)
      let body = ''
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString()
      })
      request.on('end', () => {
        const { post_id, user_id } = JSON.parse(body) as Record<string, string>
        response.end(JSON.stringify({ task_id: 't', post_id, user_id, triggered_rules: [] }))
      })
    })
    await new Promise<void>((resolve) => server.listen(path, resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const sent = await run([
      ...['task', source, '--base-url', 'http://moderation.test', '--quiet', '--unix-socket', path],
    ])
    expect(sent).toMatchObject({ code: 0 })
    expect(hosts).toEqual(['moderation.test', 'moderation.test', 'moderation.test'])
  })
})
