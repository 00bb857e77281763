import { DatabaseSync, StatementSync } from 'node:sqlite'
import { expect, test, vi } from 'vitest'
import { ReaderPool, readRunFamily } from '../../../src/main/engine/journal/run-family.ts'
import { summarizeRun } from '../../../src/main/engine/results/run-summary.ts'
import { toJournalFile } from '../../../src/main/engine/workspace/workspace-files.ts'
import { startFaultServer } from '../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../helpers/in-process-runs.ts'
import { createRunPlan, openTestFolder } from '../../helpers/test-folder.ts'

const folder = openTestFolder()
const runs = createInProcessRuns(folder)

test('rows that share an item are counted again only after the journal has changed', async () => {
  const service = await startFaultServer({
    onRequest: (_, wire) => wire.send(200, { custom_index_item_id: 'one', task_id: 't', message: 'added' }),
  })
  const plan = createRunPlan(folder, 3, service.baseUrl, {
    operation: { kind: 'index-add', indexId: 'i' },
    mapping: { url: { kind: 'template', template: 'https://a.example/{{row}}.png' } },
  })
  const { runId, ended } = runs.start(plan)
  await ended
  const file = toJournalFile(folder, runId)
  const pool = new ReaderPool()
  const all = vi.spyOn(StatementSync.prototype, 'all')
  const warn = () => {
    const family = readRunFamily(pool, file, () => false)
    return family === null ? [] : summarizeRun(family).warnings.map(({ message }) => message.slice(0, 20))
  }
  try {
    expect([warn(), warn()]).toEqual([['3 rows share their c'], ['3 rows share their c']])
    const asked = all.mock.contexts.map((statement) => (statement as StatementSync).sourceSQL)
    expect(asked.filter((sql) => sql.includes('GROUP BY custom_index_item_id'))).toHaveLength(1)
    const writer = new DatabaseSync(file)
    writer.exec("UPDATE result SET custom_index_item_id = 'other' WHERE row = 3")
    expect(warn()).toEqual(['2 rows share their c'])
    writer.exec("UPDATE result SET custom_index_item_id = 'another' WHERE row = 2")
    writer.close()
    expect(warn()).toEqual([])
  } finally {
    all.mockRestore()
    pool.close()
  }
})
