import { join } from 'node:path'
import { expect, test } from 'vitest'
import { updateRunRecord } from '../../../src/main/engine/journal/run-record.ts'
import { createWorkspaceFolders } from '../../../src/main/engine/workspace/workspace-files.ts'
import { startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { startHeldAnswers } from '../../helpers/held-answers.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { waitFor } from '../../helpers/wait-for.ts'
import { openRun } from '../../helpers/write-run.ts'
import { insertTestRun } from '../engine/journal/test-journal.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

/** Starts a run of five rows without waiting for its end. */
function startRun(baseUrl: string, ...args: string[]) {
  const folder = createTemporaryFolder()
  const options = { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: 'key' } }
  const sluice = (...command: string[]) => runInProcess(command, options)
  const source = writeSource(folder, 'posts.csv', createRows(5))
  const ended = sluice('task', source, '--base-url', baseUrl, '--json', ...args)
  const untilRows = (rows: Record<string, number>) =>
    waitFor(async () => {
      const shown = await sluice('show', 'latest', '--json')
      expect(JSON.parse(shown.stdout).rows).toMatchObject(rows)
    })
  return { sluice, ended, untilRows, at: (name: string) => join(folder, name) }
}

test('an export of a run that is still sending says how many rows have no result yet', async () => {
  const service = await startHeldAnswers()
  const { sluice, ended, untilRows, at } = startRun(service.baseUrl)
  service.release([1, 2])
  await untilRows({ read: 5, succeeded: 2 })
  const written = await sluice('export', 'latest', at('all.csv'))
  expect(written.stdout).toContain('3 rows of the run had no result yet when this was written')
  const narrowed = ['export', 'latest', at('some.csv'), '--state', 'succeeded', '--json']
  expect(JSON.parse((await sluice(...narrowed)).stdout)).toMatchObject({ rows: 2, rows_without_result: 3 })
  const both = await sluice('export', 'latest', at('good.csv'), '--errors', at('bad.csv'))
  expect(both.stdout.match(/had no result yet/g)).toHaveLength(1)
  const piped = await sluice('export', 'latest', '-')
  expect(piped.stderr).toContain('3 rows of the run had no result yet')

  service.release([3, 4, 5])
  expect(await ended).toMatchObject({ code: 0 })
  const whole = await sluice('export', 'latest', at('whole.csv'), '--json')
  expect(JSON.parse(whole.stdout)).not.toHaveProperty('rows_without_result')
})

test('resume and retry of a run that is still sending report that, and nothing about its rows', async () => {
  const waiting: (() => void)[] = []
  const service = await startFaultServer({
    onRequest: (request, wire) => {
      if (/number 1"/.test(request.body)) wire.reset()
      else waiting.push(() => wire.send(200, toTaskAnswer(request)))
    },
  })
  const { sluice, ended, untilRows } = startRun(service.baseUrl, '--retries', '0')
  await untilRows({ read: 5, unknown: 1 })
  for (const command of ['resume', 'retry']) {
    const refused = await sluice(command, 'latest')
    expect(refused, command).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toMatch(/^sluice: run \S+ is already running/)
    expect(refused.stderr).not.toContain('unknown outcome')
  }
  await service.arrivals(5)
  for (const answer of waiting) answer()
  expect(JSON.parse((await ended).stdout).rows).toMatchObject({ succeeded: 4, unknown: 1 })
})

test('a run whose source was not read to its end says so, and cannot be exported', async () => {
  const workspace = createTemporaryFolder()
  createWorkspaceFolders(workspace)
  const journal = openRun(workspace, { runId: 'run-1' })
  insertTestRun(journal)
  journal.transact('process', () => {
    const insert = journal.db.prepare('INSERT INTO row (id, cells, item) VALUES (?, ?, ?)')
    for (const row of [1, 2, 3]) insert.run(row, JSON.stringify([`text ${row}`]), row)
    updateRunRecord(journal.db, { rows_read: 3, items: 3 })
  })
  journal.close()
  const sluice = (...args: string[]) => runInProcess(args, { workspace })
  const shown = await sluice('show', 'run-1', '--json')
  expect(JSON.parse(shown.stdout)).toMatchObject({
    rows: { read: 3 },
    warnings: [{ code: 'SOURCE_UNREAD', message: expect.stringContaining('not been read to its end') }],
  })
  for (const command of [
    ['export', 'run-1', join(workspace, 'out.csv')],
    ['show', 'run-1', '--row', '2'],
  ]) {
    const refused = await sluice(...command)
    expect(refused, command.join(' ')).toMatchObject({ code: 2 })
    expect(refused.stderr).toMatch(/^sluice: the rows of run run-1 have not all been read\n/)
  }
})
