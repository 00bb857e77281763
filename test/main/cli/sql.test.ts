import { join } from 'node:path'
import { expect, it } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { writeRun } from '../../helpers/write-run.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

const ROWS = [
  'post_id,user_id,text_data,state',
  'p1,u1,win a free prize now,=here',
  'p2,u2,see you at lunch,',
]

it('answers a statement about the rows of runs as a table, CSV or JSON lines', async () => {
  const folder = createTemporaryFolder()
  const workspace = join(folder, 'workspace')
  const sandbox = await withSandbox()
  const source = writeSource(folder, 'posts.csv', `${ROWS.join('\n')}\n`)
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace, env: { SLUICE_API_KEY: sandbox.key } })
  const send = () => sluice('task', source, '--legacy', '--base-url', sandbox.baseUrl, '--quiet')
  await send()

  const columns = 'row, post_id, "state (source)" AS cell, state, status'
  const rows = `SELECT ${columns} FROM rows ORDER BY record`
  expect((await sluice('sql', 'latest', rows)).stdout.split('\n')).toEqual([
    'row  post_id  cell   state      status',
    '2    p1       =here  succeeded  200',
    '3    p2              succeeded  200',
    '',
    '2 rows',
    '',
  ])
  expect((await sluice('sql', 'latest', rows, '--format', 'csv')).stdout).toBe(
    "row,post_id,cell,state,status\r\n2,p1,'=here,succeeded,200\r\n3,p2,,succeeded,200\r\n",
  )
  expect((await sluice('sql', 'latest', rows, '--format', 'jsonl')).stdout).toBe(
    '{"row":2,"post_id":"p1","cell":"=here","state":"succeeded","status":200}\n' +
      '{"row":3,"post_id":"p2","cell":"","state":"succeeded","status":200}\n',
  )

  const joined = 'SELECT a.row, b.row, 1 AS "row (2)", b.row FROM rows a JOIN rows b USING (post_id) LIMIT 1'
  expect((await sluice('sql', 'latest', joined, '--format', 'jsonl')).stdout).toBe(
    '{"row":2,"row (3)":2,"row (2)":1,"row (4)":2}\n',
  )
  for (const nothing of ['', ' ; ', '/* none */']) {
    const empty = await sluice('sql', 'latest', nothing)
    expect(empty).toMatchObject({ code: 2, stderr: expect.stringContaining('the statement gives no rows') })
  }

  const { run_id: first } = JSON.parse((await sluice('show', 'latest', '--json')).stdout)
  await send()
  const counted = await sluice(
    'sql',
    first,
    'latest',
    'SELECT count(DISTINCT run) AS runs, count(*) AS n FROM tries',
  )
  expect(counted).toMatchObject({ code: 0, stdout: 'runs  n\n2     4\n\n1 row\n' })
  const refused = await sluice('sql', 'latest', 'SELECT * FROM runs')
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('no such table: runs') })
  const incomplete = await sluice('sql', 'SELECT 1')
  expect(incomplete).toMatchObject({ code: 2, stderr: expect.stringContaining('missing the run') })
})

it('says that the output is incomplete if the statement fails after some of its rows', async () => {
  onlyInLongForm()
  const folder = createTemporaryFolder()
  const workspace = join(folder, 'workspace')
  writeRun(workspace, { runId: '20261101-000000-000bbbb' })
  const numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000)'
  const ask = (last: string, ...args: string[]) => {
    const sql = `${numbers} SELECT CASE WHEN i < 100000 THEN i ELSE ${last} END AS i FROM n`
    return runInProcess(['sql', 'latest', sql, ...args], { workspace })
  }
  const [failed, whole, table] = [
    await ask('abs(-9223372036854775807 - 1)', '--format', 'csv'),
    await ask('0', '--format', 'csv'),
    await ask('abs(-9223372036854775807 - 1)'),
  ]
  const written = failed.stdout.trimEnd().split('\r\n').length - 1
  expect(failed.code).toBe(2)
  expect(failed.stderr).toContain(
    `The output is incomplete: it ends after ${written.toLocaleString('en-US')} rows.\nsluice: `,
  )
  expect(whole).toMatchObject({ code: 0, stderr: '' })
  expect(table.stderr).not.toContain('incomplete')
})

it('has every column of a source whose names differ only in case', async () => {
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox()
  const rows = ['post_id,user_id,text_data,Note,note,note (2),State,state', 'p1,u1,good morning,a,b,c,d,e']
  const source = writeSource(folder, 'posts.csv', `${rows.join('\n')}\n`)
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'w'), env: { SLUICE_API_KEY: sandbox.key } })
  await sluice('task', source, '--base-url', sandbox.baseUrl, '--quiet')
  const columns = 'Note, "note (3)", "note (2)", "State (source)", "state (2)", state'
  const { stdout } = await sluice('sql', 'latest', `SELECT ${columns} FROM rows`, '--format', 'csv')
  expect(stdout).toBe('Note,note (3),note (2),State (source),state (2),state\r\na,b,c,d,e,succeeded\r\n')
})

it('asks each of several runs by itself, where all of them answer with the same columns', async () => {
  const folder = createTemporaryFolder()
  const workspace = join(folder, 'workspace')
  const sandbox = await withSandbox()
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace, env: { SLUICE_API_KEY: sandbox.key } })
  const send = async (name: string, ...lines: string[]) => {
    const source = writeSource(folder, name, `${lines.join('\n')}\n`)
    await sluice('task', source, '--base-url', sandbox.baseUrl, '--quiet')
    return JSON.parse((await sluice('show', 'latest', '--json')).stdout).run_id as string
  }
  const runs: string[] = []
  for (let rows = 1; rows <= 2; rows += 1) {
    const posts = Array.from({ length: rows }, (_, index) => `p${index},u1,hello`)
    runs.push(await send(`posts-${rows}.csv`, 'post_id,user_id,text_data', ...posts))
  }

  const counted = await sluice('sql', ...runs, '--each', 'SELECT count(*) AS n FROM rows', '--format', 'csv')
  const lines = runs.map((run, index) => `${run},${index + 1}\r\n`)
  expect(counted).toMatchObject({ code: 0, stdout: `run,n\r\n${lines.join('')}` })

  const ownColumn = 'SELECT upper(post_id) AS shown, run FROM rows WHERE record = 1'
  const named = await sluice('sql', ...runs, '--each', ownColumn, '--format', 'csv')
  expect(named.stdout).toBe(`shown,run\r\n${runs.map((run) => `P0,${run}\r\n`).join('')}`)

  const other = await send('other.csv', 'post_id,user_id,text_data,lang', 'p1,u1,hello,en')
  const differs = await sluice('sql', runs[0] ?? '', other, '--each', 'SELECT * FROM rows')
  expect(differs).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining(`run ${other} answers with other columns`),
  })
  const lacks = await sluice('sql', other, runs[0] ?? '', '--each', 'SELECT lang FROM rows')
  expect(lacks).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining(`no such column: lang (run ${runs[0]})`),
  })
})

it('refuses a load test, whose rows have no results of their own', async () => {
  onlyInLongForm()
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox()
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'w'), env: { SLUICE_API_KEY: sandbox.key } })
  const source = writeSource(folder, 'posts.csv', 'post_id,user_id,text_data\np1,u1,hello\n')
  const load = ['load', source, '--base-url', sandbox.baseUrl, '--rate', '10', '--duration', '200ms']
  await sluice(...load, '--quiet')
  const asked = await sluice('sql', 'latest', 'SELECT * FROM rows')
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('is a load test') })
})
