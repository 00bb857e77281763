import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { InboxWriter } from '../../../../src/main/engine/receiver/inbox-writer.ts'
import { planSchema } from '../../../../src/shared/plan/plan.ts'
import { startFaultServer, toErrorAnswer } from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { openTestFolder } from '../../../helpers/test-folder.ts'

const folder = openTestFolder()
const runs = createInProcessRuns(folder)

/** Removes one item whose first try gets this status and all others "no such item". */
async function startRemoval(name: string, firstStatus: number) {
  const server = await startFaultServer({
    onRequest: ({ number }, wire) => {
      // Without a time to wait, the next try may come at once.
      if (number === 1)
        wire.send(firstStatus, toErrorAnswer(firstStatus, 'NOT_NOW', 'later'), { 'retry-after': '3600' })
      else wire.send(400, toErrorAnswer(400, 'INVALID_CUSTOM_INDEX_ITEM', 'no such item'))
    },
  })
  const path = join(folder, `${name}.csv`)
  writeFileSync(path, 'custom_index_item_id\nitem-1\n')
  const plan = planSchema.parse({
    connection: { baseUrl: server.baseUrl },
    source: { path },
    operation: { kind: 'index-remove', indexId: 'shelves' },
    retry: { limit: 2, maxRetryAfterMs: 3_600_000 },
  })
  const run = runs.start(plan)
  await run.until(({ requests }) => requests.sent === 1)
  run.command({ kind: 'stop' })
  expect(await run.ended).toMatchObject({ state: 'interrupted', rows: { not_sent: 1 } })
  return runs.resume(run.runId).ended
}

test('a removal that finds no item is refused if no earlier try can have removed it, also after a restart', async () => {
  expect((await startRemoval('throttled', 429)).rows).toMatchObject({ rejected: 1, succeeded: 0 })
})

test('a removal that finds no item has succeeded if an earlier try may have removed it', async () => {
  expect((await startRemoval('broken', 500)).rows).toMatchObject({ rejected: 0, succeeded: 1 })
})

test.each(['retry', 'resume'] as const)(
  'a removal whose callback named another item, and that finds none in a %s, has succeeded',
  async (way) => {
    const inbox = InboxWriter.open(folder) ?? expect.fail('the inbox is held')
    onTestFinished(() => inbox.close())
    const server = await startFaultServer({
      onRequest: ({ number, body }, wire) => {
        if (number > 1) {
          wire.send(400, toErrorAnswer(400, 'INVALID_CUSTOM_INDEX_ITEM', 'no such item'))
          return
        }
        const { callback_url } = JSON.parse(body) as { callback_url: string }
        const [, , runToken = '', item = ''] = new URL(callback_url).pathname.split('/')
        const result = Buffer.from(JSON.stringify({ task_id: 'task-1', custom_index_item_id: 'item-2' }))
        inbox.store({ runToken, item: Number(item), receivedAtUs: Date.now() * 1000, body: result }, () =>
          wire.send(200, { task_id: 'task-1', message: 'accepted' }),
        )
      },
    })
    const path = join(folder, `answered-${way}.csv`)
    writeFileSync(path, 'custom_index_item_id\nitem-1\n')
    const plan = planSchema.parse({
      connection: { baseUrl: server.baseUrl },
      source: { path },
      operation: { kind: 'index-remove', indexId: 'shelves', mode: 'async' },
      callback: { timeoutMs: 50 },
    })
    const base = { callbackBase: 'http://127.0.0.1:1' }
    const { rows, run_id } = await runs.start(plan, base).ended
    expect(rows).toMatchObject({ unknown: 1 })
    const again = await runs[way](run_id, 'resend', base).ended
    expect(again.rows).toMatchObject({ succeeded: 1, rejected: 0 })
  },
)
