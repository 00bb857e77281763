import { expect, it } from 'vitest'
import { type FaultServer, startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

const env = { LIVE_KEY: 'the-key-of-live', SLUICE_API_KEY: 'the-default-key', OTHER: 'another-secret' }

const startService = () =>
  startFaultServer({ onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)) })

/** A workspace that knows the connection `live`, and how to run a plan in it. */
async function openWorkspace(live: FaultServer) {
  const workspace = createTemporaryFolder()
  writeSource(workspace, 'posts.csv', createRows(1))
  await runInProcess(['connection', 'add', 'live', '--base-url', live.baseUrl, '--key', 'main=LIVE_KEY'], {
    workspace,
  })
  return (
    connection: Record<string, unknown>,
    flags: readonly string[] = [],
    ask?: (question: string) => boolean,
  ) => {
    const plan = { connection, source: { path: 'posts.csv' }, operation: { kind: 'task' } }
    const file = writeSource(workspace, 'plan.json', JSON.stringify(plan))
    return runInProcess(['plan', file, ...flags], {
      workspace,
      env,
      ...(ask === undefined ? {} : { ask }),
    })
  }
}

it.each<[string, (live: FaultServer, other: FaultServer) => Record<string, unknown>]>([
  ['a variable with an address', (_, other) => ({ baseUrl: other.baseUrl, apiKeyEnv: 'OTHER' })],
  ['an address alone, for the default variable', (_, other) => ({ baseUrl: other.baseUrl })],
  ['a stored connection with another address', (_, other) => ({ name: 'live', baseUrl: other.baseUrl })],
  [
    'a stored connection with another second host',
    (_, other) => ({ name: 'live', taskBaseUrl: other.baseUrl }),
  ],
  ["a variable that is none of the connection's", () => ({ name: 'live', apiKeyEnv: 'OTHER' })],
  [
    "a stored connection's variable with another address",
    (_, other) => ({
      baseUrl: other.baseUrl,
      apiKeyEnv: 'LIVE_KEY',
    }),
  ],
  ['a proxy of its own', (_, other) => ({ name: 'live', proxy: { url: other.baseUrl } })],
  [
    'proxy credentials',
    (_, other) => ({ name: 'live', proxy: { url: other.baseUrl, credentialsEnv: 'OTHER' } }),
  ],
])('refuses a plan that names %s, unless it is trusted', async (_what, toConnection) => {
  const live = await startService()
  const other = await startService()
  const runPlan = await openWorkspace(live)
  const connection = toConnection(live, other)
  const refused = await runPlan(connection)
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toContain('--trust-plan')
  const declined = await runPlan(connection, [], () => false)
  expect(declined).toMatchObject({ code: 2 })
  expect(declined.stderr).toContain('Nothing was sent.')
  expect([...live.requests, ...other.requests]).toEqual([])
})

it.each([
  ['callback_url', 'https://collect.example/{{text_data}}', 'the callback of each row to'],
  ['callback_url', 'https://collect.example/', 'the callback of each row to'],
  ['url', ' HTTPS://collect.example/{{text_data}}', 'cells of each row to'],
])(
  'refuses a plan that has the service take cells to addresses of its own: %s',
  async (field, template, what) => {
    const live = await startService()
    const workspace = createTemporaryFolder()
    writeSource(workspace, 'posts.csv', createRows(1))
    await runInProcess(['connection', 'add', 'live', '--base-url', live.baseUrl, '--key', 'main=LIVE_KEY'], {
      workspace,
    })
    const mapping = { [field]: { kind: 'template', template } }
    const operation = { kind: 'task', mode: 'async' }
    const plan = { connection: { name: 'live' }, source: { path: 'posts.csv' }, operation, mapping }
    const file = writeSource(workspace, 'plan.json', JSON.stringify(plan))
    const refused = await runInProcess(['plan', file], { workspace, env })
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr.replaceAll(/\s+/g, ' ')).toContain(`${what} ${template.trim()}`)
    expect(live.requests).toEqual([])
  },
)

it('asks about a plan on a terminal, naming the key and where it goes, and sends after a yes', async () => {
  const live = await startService()
  const runPlan = await openWorkspace(live)
  const other = await startService()
  const questions: string[] = []
  const ran = await runPlan({ baseUrl: other.baseUrl, apiKeyEnv: 'OTHER' }, [], (question) => {
    questions.push(question)
    return true
  })
  expect(ran.code).toBe(0)
  expect(questions).toEqual([expect.stringContaining(other.baseUrl)])
  expect(questions[0]).toContain('OTHER')
  expect(other.requests).toMatchObject([{ headers: { authorization: 'token another-secret' } }])
})

it('runs a trusted plan without asking, and one that keeps to its stored connection', async () => {
  onlyInLongForm()
  const live = await startService()
  const other = await startService()
  const runPlan = await openWorkspace(live)
  expect((await runPlan({ baseUrl: other.baseUrl }, ['--trust-plan'])).code).toBe(0)
  expect(other.requests).toMatchObject([{ headers: { authorization: 'token the-default-key' } }])
  expect((await runPlan({ name: 'live' })).code).toBe(0)
  expect((await runPlan({ name: 'live', baseUrl: `${live.baseUrl}/` })).code).toBe(0)
  expect((await runPlan({ baseUrl: live.baseUrl, apiKeyEnv: 'LIVE_KEY' })).code).toBe(0)
  expect(new Set(live.requests.map(({ headers }) => headers['authorization']))).toEqual(
    new Set(['token the-key-of-live']),
  )
})

it('asks where an appeal plan sends the cells of its source, though no key goes with them', async () => {
  onlyInLongForm()
  const service = await startFaultServer({
    onRequest: (_request, wire) => wire.send(400, { error_code: 'INVALID_APPEAL' }),
  })
  const workspace = createTemporaryFolder()
  writeSource(workspace, 'notes.txt', 'a private line\n')
  const mapping = { appeal_id: { kind: 'column', column: 1 } }
  const source = { path: 'notes.txt', format: 'csv', header: false }
  const operation = { kind: 'appeal-status' }
  const runPlan = (connection: object, ask?: (question: string) => boolean, ...flags: string[]) => {
    const file = writeSource(
      workspace,
      'plan.json',
      JSON.stringify({ connection, source, mapping, operation }),
    )
    return runInProcess(['plan', file, ...flags], { workspace, ...(ask === undefined ? {} : { ask }) })
  }
  const { baseUrl } = service
  const refused = await runPlan({ baseUrl })
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toContain('--trust-plan')
  const questions: string[] = []
  const declined = await runPlan({ baseUrl }, (question) => {
    questions.push(question)
    return false
  })
  expect(declined.code).toBe(2)
  expect(questions).toEqual([
    `This plan sends the appeal_id of each row of notes.txt (column 1) to ${baseUrl}. Trust it?`,
  ])
  expect(service.requests).toEqual([])
  expect((await runPlan({ baseUrl }, undefined, '--trust-plan')).code).toBe(1)
  expect(service.requests).toHaveLength(1)
  await runInProcess(['connection', 'add', 'live', '--base-url', baseUrl], { workspace })
  expect((await runPlan({ baseUrl })).code).toBe(1)
  expect(service.requests).toHaveLength(2)
})

it('says in a dry run that a run would be refused, and not once the plan is trusted', async () => {
  const [live, other] = await Promise.all([startService(), startService()])
  const run = await openWorkspace(live)
  const connection = { baseUrl: other.baseUrl, apiKeyEnv: 'OTHER' }
  const { refusal } = JSON.parse((await run(connection, ['--dry-run', '--json', '--quiet'])).stdout)
  expect(refusal).toMatchObject({ code: 'BAD_PLAN', message: expect.stringContaining(other.baseUrl) })
  expect(refusal.hint).toContain('--trust-plan')
  const trusted = await run(connection, ['--dry-run', '--trust-plan'])
  expect(trusted.stdout).not.toContain('refused')
  expect((await run(connection, ['--dry-run'])).stdout).toMatch(/A run would be refused\n.*OTHER/)
  expect(other.requests).toEqual([])
})

it('names the path that requests go to, with the values of variables in it', async () => {
  const other = await startService()
  const workspace = createTemporaryFolder()
  writeSource(workspace, 'posts.csv', createRows(1))
  const connection = { baseUrl: `${other.baseUrl}/collect/\${HOST_OF_BUILD}/`, apiKeyEnv: 'OTHER' }
  const plan = { connection, source: { path: 'posts.csv' }, operation: { kind: 'task' } }
  const file = writeSource(workspace, 'plan.json', JSON.stringify(plan))
  const questions: string[] = []
  await runInProcess(['plan', file], {
    workspace,
    env: { ...env, HOST_OF_BUILD: 'build-7.internal' },
    ask: (question) => {
      questions.push(question)
      return false
    },
  })
  expect(questions).toEqual([
    expect.stringContaining(`the API key in OTHER to ${other.baseUrl}/collect/build-7.internal`),
  ])
  expect(other.requests).toEqual([])
})

it('says that a user agent with the value of a variable goes there, and does not repeat the value', async () => {
  const other = await startService()
  const runPlan = await openWorkspace(await startService())
  const questions: string[] = []
  const connection = { baseUrl: other.baseUrl, apiKeyEnv: 'OTHER', userAgent: '${OTHER}' }
  await runPlan(connection, [], (question) => {
    questions.push(question)
    return false
  })
  expect(questions).toEqual([expect.stringContaining(`the user agent of the plan to ${other.baseUrl}`)])
  expect(questions[0]).not.toContain(env.OTHER)
  expect(other.requests).toEqual([])
})

it('names a host by the letters that are looked up, which another host may only look like', async () => {
  const workspace = createTemporaryFolder()
  writeSource(workspace, 'posts.csv', createRows(1))
  const connection = { baseUrl: 'https://\u0430pi.example.com/v', apiKeyEnv: 'OTHER' }
  const plan = { connection, source: { path: 'posts.csv' }, operation: { kind: 'task' } }
  const file = writeSource(workspace, 'plan.json', JSON.stringify(plan))
  const questions: string[] = []
  await runInProcess(['plan', file], {
    workspace,
    env,
    ask: (question) => {
      questions.push(question)
      return false
    },
  })
  expect(questions).toEqual([expect.stringContaining('OTHER to https://xn--pi-6kc.example.com/v')])
})
