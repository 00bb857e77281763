import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Fix } from '../../../src/shared/plan/fixes.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'

const from = (cells: number): Fix => ({ kind: 'join_cells', from: cells, with: ',' })

/** Files of one run with its plan's fixes: what is offered, and what is sent. */
async function setUp(files: Record<string, string>, fixes: readonly Fix[], more: object = {}) {
  const sandbox = await withSandbox({ apiKeys: ['the-key'] })
  const workspace = createTemporaryFolder()
  const paths = Object.entries(files).map(([name, text]) => {
    const path = join(workspace, name)
    writeFileSync(path, text)
    return path
  })
  const run = (...words: string[]) => runInProcess(words, { workspace, env: { SLUICE_API_KEY: 'the-key' } })
  const plan = join(workspace, 'joined.plan.json')
  const command = ['task', ...paths, '--base-url', sandbox.baseUrl, '--dry-run']
  const tried = await run(...command, '--save-plan', plan)
  const { default: saved } = await import(plan, { with: { type: 'json' } })
  writeFileSync(plan, JSON.stringify({ ...saved, ...more, fixes }))
  const sent = await run('plan', plan, '--trust-plan', '--json')
  const listSent = async () =>
    Object.fromEntries(
      (await sandbox.tasks()).map(({ request }) => [request?.['user_id'], request?.['text_data']]),
    )
  return { tried: tried.stdout, code: sent.code, document: JSON.parse(sent.stdout), listSent, run }
}

const TWO = 'user_id,text_data\n'
const NOTED = 'user_id,text_data,note\n'

it('joins surplus cells only in their own rows, whatever other files have there', async () => {
  const files = {
    'a.csv': `${TWO}u1,Hello, world\nu2,fine\n`,
    'b.csv': `${NOTED}u3,good text,private note\n`,
    'c.jsonl': '{"user_id":"u4","text_data":"from JSON","lang":"en"}\n',
  }
  const { code, document, listSent } = await setUp(files, [from(2)])
  expect(await listSent()).toEqual({ u1: 'Hello, world', u2: 'fine', u3: 'good text', u4: 'from JSON' })
  expect({ code, rows: document.rows.succeeded, corrected: document.corrected }).toMatchObject({
    code: 0,
    rows: 4,
    corrected: { rows: 1 },
  })
})

it('accepts one fix for each file with other columns, and leaves rows invalid that none covers', async () => {
  onlyInLongForm()
  const files = {
    'a.csv': `${TWO}u1,a, b\nu2,c\n`,
    'b.csv': 'note,user_id,text_data\nn,u5,d,e\n',
  }
  const both = await setUp(files, [from(2), from(3)])
  expect(await both.listSent()).toEqual({ u1: 'a, b', u2: 'c', u5: 'd,e' })
  const one = await setUp(files, [from(3)])
  expect(one.document.rows).toMatchObject({ invalid: 1, succeeded: 2 })
  expect(await one.listSent()).toEqual({ u2: 'c', u5: 'd,e' })
})

it('neither offers to join nor joins if the last column fills no sent text', async () => {
  const files = { 'a.csv': 'user_id,text_data,lang\nu1,fine,en\nu2,nice, but I will, find you,en\n' }
  const { tried, document, listSent } = await setUp(files, [from(3)])
  expect(tried).toContain('must have at most 3 cells')
  expect(tried).not.toContain('join_cells')
  expect(document.rows).toMatchObject({ invalid: 1, succeeded: 1 })
  expect(await listSent()).toEqual({ u1: 'fine' })
})

it("joins nothing with a delimiter that is not the file's, or from another column", async () => {
  onlyInLongForm()
  const files = { 'a.csv': `${TWO}u1,a, b\nu2,c\n` }
  for (const fix of [from(3), { ...from(2), with: ';' } as Fix]) {
    expect((await setUp(files, [fix])).document.rows).toMatchObject({ invalid: 1, succeeded: 1 })
  }
  const { tried, listSent } = await setUp(files, [from(2)])
  expect(tried).toContain('{"kind":"join_cells","from":2,"with":","}')
  expect(await listSent()).toEqual({ u1: 'a, b', u2: 'c' })
})

it('joins a text that begins like JSON, whatever marks its row has', async () => {
  onlyInLongForm()
  const { document, listSent } = await setUp({ 'a.csv': `${TWO}u1,[Admin] hello, world\n` }, [from(2)])
  expect(await listSent()).toEqual({ u1: '[Admin] hello, world' })
  expect(document.rows).toMatchObject({ succeeded: 1 })
})

it('sends joined texts in a load test, too', async () => {
  onlyInLongForm()
  const files = { 'a.csv': `${TWO}u1,nice photo, kill\nu2,fine\n` }
  const load = { pace: { kind: 'closed', concurrency: 1 }, requests: 2 }
  const { code, listSent } = await setUp(files, [from(2)], { load })
  expect(code).toBe(0)
  expect(await listSent()).toEqual({ u1: 'nice photo, kill', u2: 'fine' })
})
