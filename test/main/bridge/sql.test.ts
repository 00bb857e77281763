import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import { firstOf, onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { connectWindow, type Transport, withBridge } from './connect.ts'
import { createRequest, writeText } from './plans.ts'

const KEY = 'key-of-the-window'

/** Takes minutes before it returns a row. */
const ENDLESS = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000000)
  SELECT count(*) FROM n`

/** A window on a run with that many rows. */
async function open(rows: number, transport: Transport = 'message port') {
  const sandbox = await withSandbox({ apiKeys: [KEY] })
  const { services, host } = withBridge()
  const { client } = await connectWindow(transport, services)
  const lines = Array.from({ length: rows }, (_, index) => `u${index},=text ${index},p${index}`)
  const source = writeText(`user_id,text_data,post_id\n${lines.join('\n')}\n`)
  const { sourceId } = await services.sources.add(source)
  const request = await createRequest(services, source, sandbox.baseUrl, {
    source: { sourceId },
    operation: { kind: 'task' },
  })
  const { runId } = await client.runs.start({ request, apiKey: KEY })
  await client.runs.awaitReady({ runId })
  await client.runs.begin({ runId })
  await services.engine.runs.heldRun(runId)?.ended
  return { client, host, runIds: [runId] }
}

const toCode = (call: PromiseLike<unknown>) =>
  call.then(
    () => 'done',
    (error: unknown) => parseBridgeError(error)?.code ?? String(error),
  )

it('answers a statement with the first 500 rows, and writes all of them to a file', async () => {
  const { client, host, runIds } = await open(600)
  const sql = 'SELECT record, text_data, NULL AS absent, 9007199254740993 AS large FROM rows ORDER BY record'
  const answer = await client.sql.ask({ runIds, sql })
  expect(answer).toMatchObject({ columns: ['record', 'text_data', 'absent', 'large'], total: 600 })
  expect(answer.rows).toHaveLength(500)
  expect(answer.rows[1]).toEqual([2, '=text 1', null, '9007199254740993'])

  const file = join(createTemporaryFolder(), 'answer.csv')
  const saved = await client.sql.save({
    runIds,
    sql,
    format: 'csv',
    targetId: host.addExportFile(file).targetId,
  })
  expect(saved).toMatchObject({ kind: 'file', file, rows: 600, guardedCells: 600 })
  const lines = readFileSync(file, 'utf8').trimEnd().split('\r\n')
  expect(lines).toHaveLength(601)
  expect(lines[600]).toBe("600,'=text 599,,9007199254740993")
})

it('refuses statements that do more than read, and names no file', async () => {
  onlyInLongForm()
  const { client, runIds } = await open(1)
  expect(await toCode(client.sql.ask({ runIds, sql: 'DELETE FROM rows' }))).toBe('BAD_USAGE')
  expect(await toCode(client.sql.ask({ runIds, sql: 'SELECT * FROM run' }))).toBe('BAD_USAGE')
  expect(await toCode(client.sql.ask({ runIds: ['nowhere'], sql: 'SELECT 1' }))).toBe('RUN_NOT_FOUND')
})

it.each(firstOf(1, ['message port', 'websocket'] as const))(
  'a window that stops waiting ends the statement: %s',
  async (transport) => {
    const { client, runIds } = await open(1, transport)
    const controller = new AbortController()
    const asked = client.sql.ask({ runIds, sql: ENDLESS }, { signal: controller.signal })
    await client.sql.ask({ runIds, sql: 'SELECT 1' })
    controller.abort()
    await expect(asked).rejects.toThrow()
    // The next statement has the machine to itself.
    expect((await client.sql.ask({ runIds, sql: 'SELECT count(*) FROM rows' })).rows).toEqual([[1]])
  },
)
