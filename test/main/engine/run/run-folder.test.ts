import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { planSchema } from '../../../../src/shared/plan/plan.ts'
import { startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { openTestFolder } from '../../../helpers/test-folder.ts'

const folder = openTestFolder()
const runs = createInProcessRuns(folder)

test('a post_id in two whole requests of a folder is sent once', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  const path = join(folder, 'requests')
  mkdirSync(path)
  for (const [name, id] of Object.entries({ 'a.json': 'post-1', 'b.json': 'post-1', 'c.json': 'post-2' })) {
    writeFileSync(join(path, name), JSON.stringify({ text_data: name, user_id: 'user', post_id: id }))
  }
  const plan = planSchema.parse({
    connection: { baseUrl: server.baseUrl },
    source: { path, format: 'folder' },
    operation: { kind: 'task' },
    mapping: { user_id: { kind: 'template', template: 'user' } },
  })
  const ended = await runs.start(plan).ended
  expect(ended.rows).toMatchObject({ read: 3, invalid: 1, succeeded: 2 })
  expect(server.requests.map(({ body }) => (JSON.parse(body) as { post_id: string }).post_id).sort()).toEqual(
    ['post-1', 'post-2'],
  )
})
