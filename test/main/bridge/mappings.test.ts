import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import { suggestMapping } from '../../../src/shared/mapping/match-columns.ts'
import type { Operation } from '../../../src/shared/operations/operations.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeText } from './plans.ts'

const TASK: Operation = { kind: 'task', mode: 'sync', api: 'v1', legacy: false, models: [] }

const toMessage = (call: PromiseLike<unknown>) =>
  call.then(
    () => null,
    (error: unknown) => parseBridgeError(error)?.message,
  )

it('stores named mappings for every window of the workspace', async () => {
  const workspace = createTemporaryFolder()
  const { services } = withBridge(workspace)
  const { client } = await connectWindow('message port', services)
  expect(await client.mappings.list()).toEqual([])
  const mapping = { text_data: { kind: 'column', column: 'Nachricht' } } as const
  await client.mappings.save({ name: ' Forum ', operation: 'task', mapping })
  await client.mappings.save({ name: 'Terms', operation: 'watchlist-add', mapping: {} })
  const taken = client.mappings.save({ name: 'Forum', operation: 'task', mapping: {} })
  expect(await toMessage(taken)).toBe('a saved mapping is already called Forum')
  expect(await toMessage(client.mappings.save({ name: 'last', operation: 'task', mapping }))).toContain(
    '"last" stands for the mapping of the last run',
  )
  await client.mappings.rename({ name: 'Forum', newName: 'Board' })
  const other = (await connectWindow('websocket', services)).client
  expect(await other.mappings.list()).toEqual([
    { name: 'Board', operation: 'task', mapping },
    { name: 'Terms', operation: 'watchlist-add', mapping: {} },
  ])
  await other.mappings.remove({ name: 'Board' })
  // Undo puts it back in its old place.
  const undone = await other.mappings.save({ name: 'Board', operation: 'task', mapping, at: 0 })
  expect(undone.map(({ name }) => name)).toEqual(['Board', 'Terms'])
  expect(await toMessage(client.mappings.remove({ name: 'Forum' }))).toBe(
    'there is no saved mapping called Forum',
  )
  writeFileSync(join(workspace, 'mappings.json'), '{')
  expect(await toMessage(client.mappings.list())).toContain('cannot use the saved mappings in')
})

it('finds how the last run of a source with the same columns mapped them', async () => {
  const { services } = withBridge()
  const { client } = await connectWindow('message port', services)
  await client.sandbox.start()
  const columns = ['id', 'Nachricht', 'Betreff']
  const find = (asked = columns) => client.mappings.findLast({ operation: TASK, columns: asked })
  const mapping = {
    text_data: { kind: 'column', column: 'Betreff' },
    user_id: { kind: 'template', template: 'forum' },
  } as const
  const check = async (used: typeof mapping) => {
    const file = writeText(`${columns.join(',')}\n1,Guten Tag,Hallo\n`)
    const request = await createRequest(services, file, '', { mapping: used })
    const started = await client.runs.start({ request: { ...request, destination: { kind: 'sandbox' } } })
    await client.runs.awaitReady(started)
    return started
  }
  expect(await find()).toBeNull()
  const { runId } = await check(mapping)
  // Runs that were only checked do not count: their mapping may have been wrong.
  expect(await find()).toBeNull()
  await client.runs.begin({ runId })
  await services.engine.runs.heldRun(runId)?.ended
  const { post_id: postId } = suggestMapping(columns, TASK).mapping
  expect(await find()).toMatchObject({
    runId,
    runName: 'posts.csv',
    mapping: { ...mapping, post_id: postId },
  })
  expect(await find(['id', 'Nachricht'])).toBeNull()
  const add = { kind: 'watchlist-add', watchlist: 'w', termsPerRequest: 500 } as const
  expect(await client.mappings.findLast({ operation: add, columns })).toBeNull()
})
