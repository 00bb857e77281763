import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'

const KEY = 'the-key'

async function writePlan(fixes: unknown) {
  const sandbox = await withSandbox({ apiKeys: [KEY] })
  const workspace = createTemporaryFolder()
  writeFileSync(
    join(workspace, 'posts.csv'),
    'text_data,user_id,post_id\nhello there,u_1,p1\nhow are you,,p2\nfine thanks,u3,p1\n',
  )
  const file = join(workspace, 'plan.json')
  const plan = {
    connection: { baseUrl: sandbox.baseUrl },
    source: { path: 'posts.csv' },
    operation: { kind: 'task' },
    fixes,
  }
  writeFileSync(file, JSON.stringify(plan))
  const run = (...args: string[]) => runInProcess(args, { workspace, env: { SLUICE_API_KEY: KEY } })
  return { file, run, sandbox, workspace }
}

const FIXES = [
  { kind: 'substitute', field: 'user_id' },
  { kind: 'value', problem: 'required', field: 'user_id', value: 'anon-{{row}}' },
  { kind: 'leave_out', problem: 'not_unique', field: 'post_id' },
]

it('checks and runs a plan with fixes, and counts the corrected cells', async () => {
  const { file, run, sandbox } = await writePlan(FIXES)
  const checked = await run('plan', file, '--dry-run', '--trust-plan')
  expect(checked.stdout).toContain('3 read, 2 can be sent, 0 invalid, 1 left out')
  expect(checked.stdout).toContain('2 cells in 2 rows (user_id 2)')
  expect(checked.code).toBe(0)
  const { stdout, code } = await run('plan', file, '--trust-plan', '--json')
  expect(JSON.parse(stdout)).toMatchObject({
    rows: { read: 3, succeeded: 2, invalid: 0, left_out: 1 },
    corrected: { rows: 2, cells: 2 },
  })
  expect(code).toBe(0)
  expect((await sandbox.findPost('p2')).task?.request).toMatchObject({ user_id: 'anon-2' })
  const shown = await run('show', 'latest', '--row', '2')
  expect(shown.stdout).toMatch(/Sent as\s+user_id: `u~5F1`, in the source `u_1`/)
  const summary = await run('show', 'latest')
  expect(summary.stdout).toContain('2 cells in 2 rows (user_id 2)')
  expect(summary.stdout).toMatch(/left out\s+1/)
})

it('says which fix of a plan file cannot be applied, and why', async () => {
  const { file, run } = await writePlan([
    { kind: 'cell', row: 1, field: 'user', value: 'x' },
    { kind: 'cell', row: 0, field: 'user_id', value: 'x' },
  ])
  const shape = await run('plan', file, '--dry-run', '--trust-plan')
  expect(shape.code).toBe(2)
  expect(shape.stderr).toContain('fixes[1].row: expected a whole number of at least 1, found 0')
  const other = await writePlan([
    { kind: 'cell', row: 1, field: 'user_di', value: 'x' },
    { kind: 'value', problem: 'required', field: 'user_id', value: '{{nobody}}' },
  ])
  const field = await other.run('plan', other.file, '--dry-run', '--trust-plan')
  expect(field.code).toBe(2)
  expect(field.stderr).toContain('fixes[0].field: task has no field `user_di`; did you mean user_id?')
})

it('names the fix for each problem that has one, which then helps in a plan', async () => {
  onlyInLongForm()
  const { run, sandbox, workspace } = await writePlan([])
  const source = join(workspace, 'ids.csv')
  const rows = ['1001.0,a', '7.65612E+16,b', 'nan,c', 'u_4,d', ' u5,e', 'u6,f,g', 'u7,h']
  writeFileSync(source, `user_id,text_data\n${rows.join('\n')}\n`)
  const file = join(workspace, 'ids.plan.json')
  const first = await run('task', source, '--base-url', sandbox.baseUrl, '--dry-run', '--save-plan', file)
  const fixes = [...first.stdout.matchAll(/^ +[^:{}]+: (\{"kind".*\})$/gm)].map(([, fix]) =>
    JSON.parse(fix ?? ''),
  )
  expect(fixes).toEqual(
    expect.arrayContaining([
      { kind: 'drop_fraction', field: 'user_id' },
      { kind: 'leave_out', problem: 'lost_id', field: 'user_id' },
      { kind: 'substitute', field: 'user_id' },
      { kind: 'trim', field: 'user_id' },
      { kind: 'join_cells', from: 2, with: ',' },
    ]),
  )
  expect(first.stdout).toContain('Add such a fix to "fixes" of a plan, which --save-plan FILE writes')
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), fixes }))
  const { stdout } = await run('plan', file, '--dry-run', '--trust-plan', '--json')
  const found = JSON.parse(stdout)
  expect(found.rows).toMatchObject({ read: 7, sendable: 5, invalid: 0, left_out: 2 })
  expect(found.problems.map(({ code }: { code: string }) => code)).toEqual(['recommended'])
})

it('suggests no fix for ids with a fault that only all rows together show, since none would help', async () => {
  onlyInLongForm()
  const { run, sandbox, workspace } = await writePlan([])
  const source = join(workspace, 'dates.csv')
  writeFileSync(source, 'user_id,text_data\nMar-5,a\nu2,b\nu3,c\nu4,d\n')
  const { stdout } = await run('task', source, '--base-url', sandbox.baseUrl, '--dry-run')
  expect(stdout).toContain('looks like a date')
  expect(stdout).not.toContain('"kind"')
})
