import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { toJournalFile } from '../../../../src/main/engine/workspace/workspace-files.ts'
import { planSchema } from '../../../../src/shared/plan/plan.ts'
import { startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { openTestFolder } from '../../../helpers/test-folder.ts'

const folder = openTestFolder()
const runs = createInProcessRuns(folder)
const GUESSED = 'user_id,text,message\nu1,short title,the message\n'

/** A run whose process died while it read its source, with an accepted code; it has sent nothing. */
async function interrupt(name: string, csv: string) {
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  const path = join(folder, name)
  writeFileSync(path, csv)
  const filledBy = { text_data: 'guess' } as const
  const mapping = { text_data: { kind: 'column', column: 'text' } } as const
  const plan = { connection: { baseUrl: server.baseUrl }, source: { path }, operation: { kind: 'task' } }
  const run = runs.start(planSchema.parse({ ...plan, mapping, filledBy, accept: ['content_cut'] }), {
    hold: true,
  })
  const { runId } = await run.until(({ phase }) => phase === 'ready')
  run.command({ kind: 'stop' })
  await run.ended
  const db = new DatabaseSync(toJournalFile(folder, runId))
  db.exec("UPDATE run SET state = 'intake', ended_at = NULL")
  db.close()
  return { runId, path, server }
}

test('a run that was interrupted while it read keeps what was accepted for the same source', async () => {
  const { runId, server } = await interrupt('same.csv', GUESSED)
  expect((await runs.resume(runId).ended).rows).toMatchObject({ succeeded: 1 })
  expect(server.requests).toHaveLength(1)
})

test('a run that was interrupted while it read asks again if the source is another by then', async () => {
  const { runId, path, server } = await interrupt('changed.csv', 'user_id,text\nu1,hello\n')
  writeFileSync(path, GUESSED)
  await expect(runs.resume(runId).ended).rejects.toMatchObject({ said: { id: 'warnings_unaccepted' } })
  expect(server.requests).toEqual([])
})
