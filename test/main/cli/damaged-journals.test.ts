import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { deflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { toJournalFile } from '../../../src/main/engine/workspace/workspace-files.ts'
import { startFaultServer, toErrorAnswer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { firstOf, onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { writeRun } from '../../helpers/write-run.ts'
import { connectWindow, withBridge } from '../bridge/connect.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

const OTHER = '20261101-000000-000bbbb'

/** A workspace with a run of six rows, of which the service refused the third, and another run. */
async function openDamagedRun(sql: string) {
  const folder = createTemporaryFolder()
  const workspace = join(folder, 'workspace')
  const server = await startFaultServer({
    onRequest: (request, wire) =>
      request.body.includes('"p3"')
        ? wire.send(400, toErrorAnswer(400, 'INVALID', 'no'))
        : wire.send(200, toTaskAnswer(request)),
  })
  const source = writeSource(folder, 'posts.csv', createRows(6))
  const options = { workspace, env: { SLUICE_API_KEY: 'key' } }
  const sluice = (...args: string[]) => runInProcess(args, options)
  const sent = await sluice('task', source, '--base-url', server.baseUrl, '--json')
  const { run_id: runId } = JSON.parse(sent.stdout)
  writeRun(workspace, { runId: OTHER })
  const file = toJournalFile(workspace, runId)
  const db = new DatabaseSync(file)
  db.exec(sql)
  db.close()
  return { sluice, runId, file, server, workspace }
}

const CELLS = "UPDATE row SET cells = 'posts' WHERE id = 3"
const CAUSE = "UPDATE facet SET value = '[' WHERE kind = 'error'"
const LATENCY = "UPDATE latency SET histogram = 'HISTFAAA'"

test.each(
  firstOf(2, [
    ['cells', CELLS, 'the cells of record 3 cannot be read', [['show', '--row', '4'], ['retry']]],
    [
      'the cells of a row in another shape',
      `UPDATE row SET cells = '{"0":"a"}' WHERE id = 3`,
      'the cells of record 3',
      [['retry']],
    ],
    [
      'the cause of an error',
      CAUSE,
      'the cause of an error cannot be read',
      [['show'], ['show', '--json'], ['retry']],
    ],
    ['a latency', LATENCY, 'the latency http_req_', [['show'], ['report', '--json']]],
    [
      'the plan',
      "UPDATE run SET plan = '{}'",
      'its plan is damaged',
      [['show'], ['retry'], ['resume'], ['export', '-']],
    ],
  ]),
)('a journal with damage in %s is named with the place by every command that needs it', async (...given) => {
  const [, sql, said, commands] = given
  const { sluice, runId, file, server } = await openDamagedRun(sql)
  const before = server.requests.length
  for (const [command = '', ...args] of commands) {
    const result = await sluice(command, runId, ...args)
    const output = result.stderr + result.stdout
    expect({ command, code: result.code, output }).toMatchObject({
      code: 2,
      output: expect.stringContaining(`run ${runId} cannot be read from ${file}: `),
    })
    expect(output).toContain(said)
    expect(output).toContain('Restore the file from a backup')
    expect(output).not.toContain('bug in Sluice')
  }
  expect(server.requests.length).toBe(before)
})

test('a damaged answer keeps no other row out of an export, which names its row and fails', async () => {
  const content = deflateRawSync('{"task_id":"t2"}').subarray(1).toString('hex')
  const { sluice, runId, file, workspace } = await openDamagedRun(
    `UPDATE result SET response = NULL WHERE row = 2; INSERT INTO long_answer VALUES (2, 16, x'${content}')`,
  )
  const refused = `run ${runId} cannot be read from ${file}: the answer to record 2 cannot`
  for (const args of [
    ['show', runId, '--row', '3'],
    ['export', runId, '-', '--format', 'batch-output'],
  ]) {
    const { code, stderr } = await sluice(...args)
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(refused) })
  }
  expect((await sluice('show', runId, '--row', '4')).code).toBe(0)

  const said = 'The stored answer to 1 row is damaged: what it says is missing in row 3'
  const piped = await sluice('export', runId, '-', '--format', 'jsonl')
  expect(piped).toMatchObject({ code: 1, stderr: expect.stringContaining(said) })
  const rows = piped.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(rows.map(({ state }) => state)).toEqual([
    ...['succeeded', 'succeeded', 'rejected', 'succeeded', 'succeeded', 'succeeded'],
  ])
  expect(rows.map(({ response }) => response === null)).toEqual([false, true, false, false, false, false])
  const remark = 'Sluice: the stored answer to this row is damaged, and what it says is missing here'
  expect(rows[1]).toMatchObject({ row: 3, status: 200, message: remark, request: { method: 'POST' } })

  const folder = createTemporaryFolder()
  const table = join(folder, 'results.csv')
  const written = await sluice('export', runId, table, '--json')
  expect(written.code).toBe(1)
  expect(JSON.parse(written.stdout)).toMatchObject({ rows: 6, rows_damaged: 1 })
  expect(written.stderr).toContain(said)
  expect(readFileSync(table, 'utf8')).toContain(remark)
  // Only a file that has the row is incomplete.
  expect(await sluice('export', runId, join(folder, 'rejected.csv'), '--state', 'rejected')).toMatchObject({
    code: 0,
  })
  // The exit code is said, also by a command that else says nothing.
  const retried = await sluice('retry', runId, '--export', join(folder, 'retried.csv'), '--quiet')
  expect(retried).toMatchObject({ code: 1, stderr: expect.stringContaining(said) })
  const [success, errors] = [join(folder, 'success.csv'), join(folder, 'errors.csv')]
  expect(await sluice('export', runId, success, '--errors', errors)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(said),
  })

  // Verdicts need no answers.
  const verdicts = writeSource(folder, 'verdicts.csv', 'row,sluice_post_id,sluice_verdict\n3,p2,agree\n')
  expect(await sluice('verdict', runId, '--from', verdicts)).toMatchObject({ code: 0 })
  expect(await sluice('verdict', runId, '--export', join(folder, 'judged.csv'))).toMatchObject({ code: 0 })

  const { client } = await connectWindow('message port', withBridge(workspace).services)
  const columns = (await client.results.listColumns({ runId })).map(({ name }) => name)
  expect(columns).toEqual(expect.arrayContaining(['sluice_state', 'answer.task_id']))
})

test.each(firstOf(1, ['attempt', 'result']))(
  'a journal with a malformed page of %s is named as damaged, not as a bug',
  async (table) => {
    const { sluice, runId, file } = await openDamagedRun('PRAGMA wal_checkpoint(TRUNCATE)')
    overwriteRootPage(file, table)
    const { code, stderr } = await sluice('export', runId, '-', '--format', 'jsonl')
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(`run ${runId} cannot be read from ${file}: some of its pages are`),
    })
    expect(stderr).toContain('Restore the file from a backup')
  },
)

/** Overwrites the first page of a table with zeros. */
function overwriteRootPage(file: string, table: string): void {
  const db = new DatabaseSync(file)
  const { page } = db.prepare('SELECT rootpage AS page FROM sqlite_schema WHERE name = ?').get(table) ?? {}
  const size = Number(db.prepare('PRAGMA page_size').get()?.['page_size'])
  db.close()
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, Buffer.alloc(size), 0, size, (Number(page) - 1) * size)
  closeSync(descriptor)
}

test.each(
  firstOf(1, [
    ['cells', CELLS, true],
    ['the cause of an error', CAUSE, false],
    ['a latency', LATENCY, false],
  ]),
)('a journal with damage in %s hides no other run, and can be deleted', async (_, sql, isListed) => {
  const { sluice, runId, file } = await openDamagedRun(sql)
  const listed = await sluice('runs', '--json')
  expect(listed.code).toBe(0)
  const entries = JSON.parse(listed.stdout)
  expect(entries.map(({ run_id: id }: { run_id: string }) => id).sort()).toEqual([OTHER, runId].sort())
  const damaged = entries.find(({ run_id: id }: { run_id: string }) => id === runId)
  if (isListed) expect(damaged).toMatchObject({ state: 'completed' })
  else expect(damaged.unreadable).toContain(file)
  expect((await sluice('delete', runId, '--yes')).code).toBe(0)
  expect(JSON.parse((await sluice('runs', '--json')).stdout)).toMatchObject([{ run_id: OTHER }])
})

test('an interrupted run with damaged cells sends none of these rows when it is resumed', async () => {
  onlyInLongForm()
  const { sluice, runId, file, server } = await openDamagedRun(
    `${CELLS}; UPDATE run SET state = 'interrupted', claimed = 2, claimed_rows = 2;
     DELETE FROM result WHERE row > 2; DELETE FROM attempt WHERE item > 2;
     UPDATE facet SET n = 2 WHERE kind = 'state' AND value = 'succeeded';
     DELETE FROM facet WHERE kind IN ('error') OR value = 'rejected'`,
  )
  const before = server.requests.length
  const { code, stderr } = await sluice('resume', runId, '--on-unknown', 'skip')
  expect(code).not.toBe(0)
  expect(stderr).toContain(`${file}: the cells of record 3 cannot be read`)
  expect(stderr).not.toContain('bug in Sluice')
  const bodies = server.requests.slice(before).map(({ body }) => body)
  expect(bodies.filter((body) => !/"post_id":"p\d"/.test(body))).toEqual([])
})
