import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { toCatalogueFile } from '../../../../../src/main/engine/lookback/catalogue/catalogue-file.ts'
import { startFaultServer, toTaskAnswer } from '../../../../helpers/fault-server.ts'
import { openEngine } from '../../../../helpers/test-engine.ts'
import { createRunPlan, openTestFolder } from '../../../../helpers/test-folder.ts'

const folder = openTestFolder()
const engine = openEngine(folder)

/** The run's entry in the catalogue file, without reading the journals. */
function readLine(runId: string) {
  const db = new DatabaseSync(toCatalogueFile(folder), { readOnly: true })
  onTestFinished(() => db.close())
  return db.prepare('SELECT id, state, rows, search FROM whole WHERE id = ?').get(runId)
}

test('a run is in the catalogue once it has ended, and so are its tags once they change', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  const run = await engine.runs.startRun(createRunPlan(folder, 3, server.baseUrl), { apiKey: 'key' })
  await run.ended
  expect(readLine(run.runId)).toMatchObject({ id: run.runId, state: 'completed', rows: 3 })
  await engine.runs.annotateRun(run.runId, { addTags: ['nightly'] })
  expect(readLine(run.runId)).toMatchObject({ search: expect.stringContaining('nightly') })
})
