import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { toJournalFile } from '../../../src/main/engine/workspace/workspace-files.ts'
import { firstOf } from '../../helpers/long-form.ts'
import { openTestFolder } from '../../helpers/test-folder.ts'
import { openRun, writeRun } from '../../helpers/write-run.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

const folder = openTestFolder()
const workspace = join(folder, 'runs')
const source = writeSource(folder, 'rows.csv', createRows(2))
const KEYS = { LIVE_KEY: 'key-of-production', OTHER_KEY: 'key-of-another' }

const sluice = (...args: string[]) => runInProcess(args, { workspace, env: KEYS })

beforeAll(async () => {
  const live = ['--base-url', 'https://api.production.invalid', '--api-key-env', 'LIVE_KEY', '--production']
  expect(await sluice('connection', 'add', 'live', ...live)).toMatchObject({ code: 0 })
  const other = ['--base-url', 'http://api.production.invalid.:8080', '--api-key-env', 'OTHER_KEY']
  expect(await sluice('connection', 'add', 'other', ...other)).toMatchObject({ code: 0 })
})

const refusal = (code: number, stderr: string) => ({
  code,
  asksFirst: /connection live is production/i.test(stderr) || stderr.includes('--yes'),
})

test.each(
  firstOf(2, [
    ['another scheme', ['--base-url', 'http://api.production.invalid', '--api-key-env', 'OTHER_KEY']],
    ['another port', ['--base-url', 'https://API.production.invalid.:8443', '--api-key-env', 'OTHER_KEY']],
    ['a connection that is not marked', ['--connection', 'other']],
    [
      'a second host',
      [
        ...['--base-url', 'http://127.0.0.1:1', '--api-key-env', 'OTHER_KEY'],
        ...['--task-base-url', 'http://api.production.invalid:81'],
      ],
    ],
  ]),
)('production that is named by %s is asked about before anything is sent', async (_, where) => {
  for (const command of [
    ['task', source],
    ['load', source, '--requests', '1', '--rate', '1'],
  ]) {
    const { code, stderr } = await sluice(...command, ...where)
    expect({ command, ...refusal(code ?? 0, stderr), stderr }).toMatchObject({ code: 2, asksFirst: true })
  }
})

test('a plan file that names production by another port is asked about', async () => {
  const plan = join(folder, 'plan.json')
  const where = ['--base-url', 'http://api.production.invalid:8080', '--api-key-env', 'OTHER_KEY']
  const saved = await sluice('task', source, ...where, '--save-plan', plan, '--dry-run')
  expect(saved).toMatchObject({ code: 0 })
  const { code, stderr } = await sluice('plan', plan, '--trust-plan')
  expect(refusal(code ?? 0, stderr)).toEqual({ code: 2, asksFirst: true })
})

test('a run that went to production by another scheme is asked about when it is sent again', async () => {
  const runId = '20261101-000000-000bbbb'
  const connection = { baseUrl: 'http://api.production.invalid', apiKeyEnv: 'OTHER_KEY' }
  writeRun(workspace, { runId, state: 'interrupted', plan: { connection, source: { path: source } } })
  const journal = openRun(workspace, { runId })
  journal.transact('process', () => {
    journal.db.exec(`INSERT INTO row (id, cells, item) VALUES (1, '[]', 1)`)
    journal.db.exec('UPDATE run SET items = 1')
  })
  journal.close()
  expect(toJournalFile(workspace, runId)).toContain(runId)
  for (const command of [
    ['resume', runId],
    ['retry', runId],
    ['run-again', runId],
  ]) {
    const { code, stderr } = await sluice(...command)
    expect({ command, ...refusal(code ?? 0, stderr), stderr }).toMatchObject({ code: 2, asksFirst: true })
  }
})
