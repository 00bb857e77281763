import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/main/engine/engine.ts'
import { createRowHash } from '../../../src/main/engine/mapping/row-hash.ts'
import { ApiKey } from '../../../src/main/engine/secrets/bound-secret.ts'
import type { Fix } from '../../../src/shared/plan/fixes.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'

const toHash = createRowHash(['user_id', 'text_data'])
const AAA = toHash(['u1', 'aaa'])
const SPAM = toHash(['u2', 'spam'])
const FIXES: Fix[] = [
  { kind: 'cell', record: 1, rowHash: AAA, field: 'text_data', value: 'corrected' },
  { kind: 'leave_out_row', record: 2, rowHash: SPAM },
]
const ROWS = ['u1,aaa', 'u2,spam', 'u3,ccc']

/** A plan with fixes for a source whose rows can be changed, and the rows that the service received. */
async function setUp(fixes: readonly Fix[], rows: readonly string[] = ROWS) {
  const sandbox = await withSandbox({ apiKeys: ['the-key'] })
  const workspace = createTemporaryFolder()
  const source = join(workspace, 'posts.csv')
  const file = join(workspace, 'posts.plan.json')
  const write = (changed: readonly string[]) =>
    writeFileSync(source, `user_id,text_data\n${changed.join('\n')}\n`)
  write(rows)
  writeFileSync(
    file,
    JSON.stringify({
      connection: { baseUrl: sandbox.baseUrl },
      source: { path: 'posts.csv' },
      operation: { kind: 'task' },
      fixes,
    }),
  )
  const run = (...args: string[]) => runInProcess(args, { workspace, env: { SLUICE_API_KEY: 'the-key' } })
  const plan = (...args: string[]) => run('plan', file, '--trust-plan', ...args)
  const planAsked = (ask: (question: string) => boolean) =>
    runInProcess(['plan', file, '--trust-plan'], { workspace, env: { SLUICE_API_KEY: 'the-key' }, ask })
  const listSent = async () => (await sandbox.tasks()).map(({ request }) => request?.['text_data']).sort()
  return { workspace, write, run, plan, planAsked, listSent }
}

it('fixes of single rows change their own rows', async () => {
  const { plan, listSent } = await setUp(FIXES)
  expect(await plan()).toMatchObject({ code: 0 })
  expect(await listSent()).toEqual(['ccc', 'corrected'])
})

it('a fix changes no other row with its number after rows were inserted, and nothing is sent without asking', async () => {
  const { write, plan, listSent } = await setUp(FIXES)
  write(['u0,inserted', ...ROWS])
  const refused = await plan()
  expect({ code: refused.code, sent: await listSent() }).toEqual({ code: 2, sent: [] })
  expect(refused.stderr).toMatch(
    /1 row: text_data is not corrected, because the row has other cells[\s\S]*row 3 has those\s+cells now \("record": 2\)/,
  )
  expect(refused.stderr).toMatch(/is not left out[\s\S]*row 4 has those\s+cells now \("record": 3\)/)
  expect(refused.stderr).toContain('--accept fixes_do_not_fit')
  const sent = await plan('--accept', 'fixes_do_not_fit', '--json')
  expect(sent.code).toBe(0)
  expect(await listSent()).toEqual(['aaa', 'ccc', 'inserted', 'spam'])
  expect(JSON.parse(sent.stdout).warnings).toContainEqual(
    expect.objectContaining({
      code: 'unfit_fix',
      rows: 1,
      message: expect.stringContaining('text_data: is not'),
    }),
  )
})

it('a dry run reports a fix with its row, and what was expected and found', async () => {
  onlyInLongForm()
  const { write, plan } = await setUp(FIXES)
  write(['u2,spam', 'u3,ccc'])
  const { stdout, code } = await plan('--dry-run', '--json')
  expect(code).toBe(0)
  const found = JSON.parse(stdout)
  expect(found.to_accept.map((group: { accept: string }) => group.accept)).toEqual([
    'fixes_do_not_fit',
    'fixes_do_not_fit',
  ])
  const [cell] = found.to_accept.filter(({ field }: { field: string | null }) => field === 'text_data')
  expect(cell.examples).toMatchObject([
    { row: 2, record: 1, found: 'spam', message: expect.stringContaining(`expected ${AAA}, found ${SPAM}`) },
  ])
  expect(cell.examples[0].message).toContain('no row has those cells now')
})

it('a correction whose record is missing, or whose text has changed, is asked about', async () => {
  const { plan, listSent } = await setUp([
    { kind: 'cell', record: 1, rowHash: AAA, field: 'text_data', value: 'x', was: 'another' },
    { kind: 'cell', record: 9, rowHash: AAA, field: 'text_data', value: 'x' },
    { kind: 'leave_out_row', record: 10, rowHash: SPAM },
  ])
  const refused = await plan()
  expect({ code: refused.code, sent: await listSent() }).toEqual({ code: 2, sent: [] })
  expect(refused.stderr).toMatch(/is not corrected, because it has another text than the correction is of/)
  expect(refused.stderr).toMatch(/text_data is not corrected, because the source has no such row/)
  expect(refused.stderr).toMatch(/1 row: is not left out, because the source has no such row/)
})

it('a fix that does not match is asked about even if the row with its number is invalid or left out', async () => {
  const { write, plan, listSent } = await setUp([
    ...FIXES,
    { kind: 'leave_out', problem: 'required', field: 'user_id' },
  ])
  write([',no user', 'u9,', 'u1,aaa'])
  const refused = await plan()
  expect({ code: refused.code, sent: await listSent() }).toEqual({ code: 2, sent: [] })
  expect(refused.stderr).toContain('is not corrected')
  expect(refused.stderr).toContain('is not left out')
})

it('a fix that does not match is asked about on a terminal even if no row can be sent', async () => {
  onlyInLongForm()
  const { write, planAsked } = await setUp(FIXES)
  write(['u1,'])
  const questions: string[] = []
  const answerTo = (answer: boolean) => (question: string) => {
    questions.push(question)
    return answer
  }
  const declined = await planAsked(answerTo(false))
  expect(declined).toMatchObject({ code: 2, stderr: expect.stringContaining('Nothing was sent.') })
  const accepted = await planAsked(answerTo(true))
  expect(accepted).toMatchObject({ code: 2, stdout: expect.stringContaining('All rows are invalid') })
  expect(questions).toEqual(['Send 0 rows as read?', 'Send 0 rows as read?'])
})

it('a fix that only names a number is applied, but asked about, since it is uncertain which row was meant', async () => {
  onlyInLongForm()
  const { plan, listSent } = await setUp([
    { kind: 'cell', record: 1, field: 'text_data', value: 'corrected', was: 'aaa' },
    { kind: 'leave_out_row', record: 2 },
  ])
  const refused = await plan()
  expect({ code: refused.code, sent: await listSent() }).toEqual({ code: 2, sent: [] })
  expect(refused.stderr).toContain(`add "rowHash": "${AAA}" to the fix`)
  expect(refused.stderr).toContain(`add "rowHash": "${SPAM}" to the fix`)
  expect(await plan('--accept', 'fixes_do_not_fit')).toMatchObject({ code: 0 })
  expect(await listSent()).toEqual(['ccc', 'corrected'])
})

it('a run-again knows the rows of fixes from the journal, whether or not the source has changed', async () => {
  onlyInLongForm()
  const { write, run, plan, listSent } = await setUp([
    { kind: 'cell', record: 1, field: 'text_data', value: 'corrected' },
    { kind: 'leave_out_row', record: 2 },
  ])
  expect(await plan('--accept', 'fixes_do_not_fit')).toMatchObject({ code: 0 })
  write([...ROWS, 'u4,added'])
  const again = await run('run-again', 'latest')
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('has changed') })
  expect((await listSent()).filter((text) => text === 'corrected')).toHaveLength(2)
  write(['u0,inserted', ...ROWS])
  const refused = await run('run-again', 'latest')
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('is not left out') })
  expect(await listSent()).not.toContain('inserted')
})

it('a run-again uses the corrections of the newest sent retry, whichever run of the whole is named', async () => {
  onlyInLongForm()
  const { workspace, run, plan, listSent } = await setUp([], ['u1,aaa', 'u_2,spam', 'u3,ccc', 'u_4,ddd'])
  expect(await plan()).toMatchObject({ code: 1 })
  const engine = createEngine({ workspace })
  onTestFinished(() => engine.close())
  const [first] = (await engine.runs.listRuns()).runs
  const runId = first?.run_id ?? ''
  const apiKey = ApiKey.create('the-key', (await engine.runs.readPlan(runId)).connection, 'of a test')
  const corrected: Fix = { kind: 'cell', record: 2, field: 'user_id', value: 'u2' }
  const fixes: Fix[] = [corrected, { kind: 'leave_out_row', record: 1 }]
  const retry = await engine.runs.retryRun(runId, { apiKey, onUnknown: 'skip', fixes })
  await retry.ended
  expect(await listSent()).toEqual(['aaa', 'ccc', 'spam'])
  // A correction that was begun but not sent does not count.
  const begun: Fix[] = [...fixes, { kind: 'leave_out_row', record: 3 }]
  const held = await engine.runs.retryRun(runId, { apiKey, onUnknown: 'skip', fixes: begun, hold: true })
  await held.ready
  // Row 4 is still invalid.
  for (const named of [retry.runId, runId]) expect(await run('run-again', named)).toMatchObject({ code: 1 })
  held.stop()
  await held.ended
  expect((await listSent()).toSorted()).toEqual(['aaa', 'ccc', 'ccc', 'ccc', 'spam', 'spam', 'spam'])
})

it('the hash that a fix needs is shown with its row', async () => {
  onlyInLongForm()
  const { run, plan } = await setUp(FIXES)
  await plan()
  const { stdout } = await run('show', 'latest', '--row', '2', '--json')
  expect(JSON.parse(stdout).row_hash).toBe(AAA)
})

it('of two fixes that leave out rows under one number, the matching one is applied, wherever it stands', async () => {
  onlyInLongForm()
  const { plan, listSent } = await setUp([
    { kind: 'leave_out_row', record: 2, rowHash: SPAM },
    { kind: 'leave_out_row', record: 2, rowHash: AAA },
  ])
  expect(await plan('--accept', 'fixes_do_not_fit')).toMatchObject({ code: 0 })
  expect(await listSent()).toEqual(['aaa', 'ccc'])
})
