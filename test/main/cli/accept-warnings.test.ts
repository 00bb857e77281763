import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { firstOf, onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

const KEY = 'the-key'
const HEADER = 'post_id,user_id,text_data\n'
/** The second row has a byte that is invalid in the stated encoding. */
const CUT = Buffer.concat([Buffer.from(`${HEADER}p1,u1,one\np2,u1,caf`), Buffer.of(0xe9), Buffer.from('\n')])
const AS_UTF8 = ['--encoding', 'utf-8']

async function setUp(content: Uint8Array = CUT) {
  const sandbox = await withSandbox({ apiKeys: [KEY] })
  const workspace = createTemporaryFolder()
  const source = writeSource(workspace, 'posts.csv', content)
  const questions: string[] = []
  const run = (args: readonly string[], answer?: boolean) =>
    runInProcess(args, {
      workspace,
      env: { SLUICE_API_KEY: KEY },
      ...(answer !== undefined && {
        ask: (question: string) => {
          questions.push(question)
          return answer
        },
      }),
    })
  const send = (command: readonly string[], args: readonly string[] = [], answer?: boolean) =>
    run([...command, source, '--base-url', sandbox.baseUrl, ...AS_UTF8, ...args], answer)
  const countTasks = async () => (await sandbox.stats()).tasks
  return { run, send, countTasks, questions, workspace, sandbox }
}

it('without a terminal sends nothing if content may be cut, and says what to state and which option to add', async () => {
  const { send, run, countTasks } = await setUp()
  const refused = await send(['task'])
  expect(refused.code).toBe(2)
  expect(refused.stderr).toMatch(
    /content may be cut or replaced[\s\S]*1 row: has bytes that are not valid utf-8.*such as row 3\b.*--encoding NAME[\s\S]*--accept content_cut/,
  )
  expect(await countTasks()).toBe(0)
  expect((await run(['runs', '--json'])).stdout.trim()).toBe('[]')
  const asJson = JSON.parse((await send(['task'], ['--json'])).stdout)
  expect(asJson.error).toMatchObject({
    code: 'NOT_CONFIRMED',
    hint: expect.stringContaining('--accept content_cut'),
  })
})

it.each(
  firstOf(2, [
    ['load', ['load'], ['--requests', '2', '--concurrency', '1']],
    [
      'a capacity search',
      ['load'],
      ['--find-capacity', '--concurrency', '1', '--duration', '1s', '--threshold', 'p(95)<500'],
    ],
    ['index add', ['index', 'add'], ['--index', 'i1', '--set', 'url=https://example.com/{{text_data}}']],
    ['watchlist add', ['watchlist', 'add'], ['--watchlist', 'w1', '--map', 'term=text_data']],
    ['appeal', ['appeal'], ['--map', 'appeal_id=text_data']],
  ]),
)('asks about content that may be cut before %s sends anything', async (_, command, args) => {
  const { send, sandbox } = await setUp()
  const { code, stderr } = await send(command, args)
  expect({ code, asks: stderr.includes('--accept content_cut'), stderr }).toMatchObject({
    code: 2,
    asks: true,
  })
  expect((await sandbox.stats()).requests).toBe(0)
})

it('sends what was accepted, stores that with the run, and does not ask again in its retry or its resume', async () => {
  const { send, run, countTasks } = await setUp()
  const twice = ['--accept', 'ids_changed', '--accept', 'content_cut', '--dry-run']
  expect(await send(['task'], twice)).toMatchObject({ code: 0 })
  expect(await send(['task'], ['--accept', 'content_cut'])).toMatchObject({ code: 0 })
  expect(await countTasks()).toBe(2)
  for (const command of ['retry', 'resume']) {
    const { stderr, code } = await run([command, 'latest'])
    expect({ command, code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining('--accept'),
    })
  }
})

it('names the codes that can be accepted if another is given', async () => {
  const { send } = await setUp()
  const { code, stderr } = await send(['task'], ['--accept', 'everything'])
  expect(code).toBe(2)
  expect(stderr).toContain('content_cut, ids_changed, hidden_rows, encoding_uncertain')
})

it('asks one question on a terminal, and sends only after a yes', async () => {
  const { send, countTasks, questions } = await setUp()
  const declined = await send(['task'], [], false)
  expect(declined).toMatchObject({ code: 2, stderr: expect.stringContaining('Nothing was sent.') })
  expect(declined.stderr).toMatch(
    /Before sending[\s\S]*content may be cut or replaced[\s\S]*1 row: has bytes that are not valid/,
  )
  expect(await countTasks()).toBe(0)
  expect(await send(['task'], ['--yes'], true)).toMatchObject({ code: 0 })
  expect(questions).toEqual(['Send 2 rows as read?', 'Send 2 rows as read?'])
})

it('asks about production and about warnings in one question', async () => {
  onlyInLongForm()
  const { run, questions, sandbox, workspace } = await setUp()
  const marked = ['--base-url', sandbox.baseUrl, '--api-key-env', 'SLUICE_API_KEY', '--production']
  expect(await run(['connection', 'add', 'live', ...marked])).toMatchObject({ code: 0 })
  const source = join(workspace, 'posts.csv')
  const sent = await run(['task', source, '--connection', 'live', ...AS_UTF8], true)
  expect(sent).toMatchObject({ code: 0 })
  expect(sent.stderr).toContain('content may be cut or replaced')
  expect(questions).toEqual([expect.stringMatching(/^Send 2 rows to PRODUCTION/)])
})

it('asks nothing on a terminal if nothing has to be accepted', async () => {
  onlyInLongForm()
  const { send, questions } = await setUp(Buffer.from(`${HEADER}p1,u1,one\n`))
  expect(await send(['task'], [], false)).toMatchObject({ code: 0 })
  expect(questions).toEqual([])
})

it('asks nothing about warnings of rows that are not sent anyway', async () => {
  onlyInLongForm()
  const invalid = Buffer.concat([
    Buffer.from(`${HEADER}p1,u1,one\np_2,u1,caf`),
    Buffer.of(0xe9),
    Buffer.from('\n'),
  ])
  const { send, countTasks } = await setUp(invalid)
  expect(await send(['task'])).toMatchObject({ code: 1 })
  expect(await countTasks()).toBe(1)
})

it('lists in a dry run what would be asked', async () => {
  onlyInLongForm()
  const { send } = await setUp()
  const { stdout, code } = await send(['task'], ['--dry-run', '--json'])
  expect(code).toBe(0)
  expect(JSON.parse(stdout).to_accept).toMatchObject([
    { accept: 'content_cut', code: 'undecodable_bytes', rows: 1, examples: [{ row: 3, record: 2 }] },
  ])
  const shown = await send(['task'], ['--dry-run'])
  expect(shown.stdout).toMatch(/To confirm before sending[\s\S]*--accept content_cut/)
})

const UTF8_CAUSE = { problem: 'undecodable_bytes', args: { encoding: 'utf-8' } }
const COLUMNS = ['post_id', 'user_id', 'text_data']

/** A plan that accepts cut content in its source, whose rows can be changed. */
async function savePlan(...how: readonly string[]) {
  const set = await setUp()
  const plan = join(set.workspace, 'posts.plan.json')
  const saved = await set.send(['task'], ['--accept', 'content_cut', '--save-plan', plan, ...how])
  expect(saved).toMatchObject({ code: 0 })
  const runPlan = (answer?: boolean, ...args: readonly string[]) =>
    set.run(['plan', plan, '--trust-plan', ...args], answer)
  const write = (content: string | Uint8Array) =>
    writeSource(set.workspace, 'posts.csv', Buffer.from(content))
  return { ...set, plan, runPlan, write }
}

it.each([['--dry-run'], ['--quiet']])(
  'keeps the causes that were accepted in a plan file with %s',
  async (how) => {
    onlyInLongForm()
    const { plan, runPlan, countTasks } = await savePlan(how)
    const written = JSON.parse(readFileSync(plan, 'utf8'))
    expect(written.accepted).toEqual({ columns: COLUMNS, causes: [UTF8_CAUSE] })
    expect(written).not.toHaveProperty('accept')
    // The service knows the post_ids that were sent before.
    expect((await runPlan()).code).toBe(how === '--quiet' ? 1 : 0)
    expect(await countTasks()).toBe(2)
  },
)

it('says which accepted codes a saved plan omits, since the source has no such warnings', async () => {
  onlyInLongForm()
  const { send, workspace } = await setUp()
  const plan = join(workspace, 'posts.plan.json')
  const codes = 'content_cut,hidden_rows'
  const { stderr } = await send(['task'], ['--accept', codes, '--dry-run', '--save-plan', plan])
  expect(stderr).toContain('The plan does not accept hidden_rows, since the source has no such warnings.')
})

it('lets rows with an accepted cause pass, and says so before it sends them', async () => {
  const { runPlan, write, countTasks } = await savePlan('--dry-run')
  write(Buffer.concat([CUT, Buffer.from('p3,u1,na'), Buffer.of(0xef), Buffer.from('\n')]))
  const { code, stderr } = await runPlan()
  expect(code).toBe(0)
  expect(stderr).toMatch(/Accepted before[\s\S]*2 rows: has bytes that are not valid utf-8/)
  expect(await countTasks()).toBe(3)
})

it.each(
  firstOf(1, [
    ['another cause', `${HEADER}p1,u1,${'x'.repeat(32_767)}\n`, 'has exactly 32,767 characters'],
    ['another column', 'user_id,text,message\nu1,short title,the message\n', 'column `message` is not sent'],
    [
      'the same cause with another column',
      Buffer.concat([Buffer.from('user_id,text_data,note\nu1,caf'), Buffer.of(0xe9), Buffer.from(',a\n')]),
      'has bytes that are not valid utf-8',
    ],
  ]),
)('accepts no other warning with the code that a plan accepted, such as %s', async (_, content, said) => {
  const { runPlan, run, write, countTasks } = await savePlan('--dry-run')
  write(content)
  const refused = await runPlan()
  expect(refused.code).toBe(2)
  expect(refused.stderr.replace(/\s+/g, ' ')).toContain(said)
  expect(await countTasks()).toBe(0)
  expect((await run(['runs', '--json'])).stdout.trim()).toBe('[]')
  expect(await runPlan(undefined, '--accept', 'content_cut')).toMatchObject({ code: 0 })
})

it('lets every cause pass if a plan accepts the whole code, and lists what passes', async () => {
  onlyInLongForm()
  const { plan, runPlan, write, countTasks } = await savePlan('--dry-run')
  const { accepted: _causes, ...written } = JSON.parse(readFileSync(plan, 'utf8'))
  writeFileSync(plan, JSON.stringify({ ...written, accept: ['content_cut'] }))
  write('user_id,text,message\nu1,short title,the message\n')
  const { code, stderr } = await runPlan()
  expect(code).toBe(0)
  expect(stderr.replace(/\s+/g, ' ')).toMatch(/Accepted before.*column `message` is not sent/)
  expect(await countTasks()).toBe(1)
})

it('asks on a terminal about what a plan accepts, since it may be about other rows now', async () => {
  onlyInLongForm()
  const { runPlan, questions, countTasks } = await savePlan('--dry-run')
  expect(await runPlan(false)).toMatchObject({ code: 2 })
  expect(questions).toEqual(['Send 2 rows as read?'])
  expect(await countTasks()).toBe(0)
})

it('runs the same source again without asking, and asks if it has changed', async () => {
  onlyInLongForm()
  const { send, run, workspace } = await setUp()
  expect(await send(['task'], ['--accept', 'content_cut'])).toMatchObject({ code: 0 })
  expect(await run(['run-again', 'latest'])).toMatchObject({ code: 0 })
  writeSource(
    workspace,
    'posts.csv',
    Buffer.concat([CUT, Buffer.from('p3,u1,na'), Buffer.of(0xef), Buffer.from('\n')]),
  )
  const changed = await run(['run-again', 'latest'])
  expect(changed).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('2 rows: has bytes that are not valid utf-8'),
  })
})
