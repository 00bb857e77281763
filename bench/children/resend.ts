import { DatabaseSync } from 'node:sqlite'
import { planSchema } from '../../src/shared/plan/plan.ts'
import { reportToParent } from '../lib/report-to-parent.ts'
import { createBenchEngine, takeIn } from '../lib/workspace.ts'

const task = JSON.parse(process.argv[2] ?? '') as {
  path: string
  workspace: string
  onlyNew: boolean
  /** Whether the run stays, as one whose rows the service accepted. */
  keep: boolean
}

const engine = createBenchEngine(task.workspace)
const plan = planSchema.parse({
  connection: { baseUrl: 'http://127.0.0.1:9' },
  source: { path: task.path },
  ...(task.onlyNew && { onlyNew: {} }),
  operation: { kind: 'task' },
})
const { ms, rows, runId } = await takeIn(engine, plan)
if (!task.keep) await engine.runs.deleteRun(runId)
await engine.close()
if (task.keep) markSent(`${task.workspace}/runs/${runId}.journal`)
reportToParent({ ms, cpuMs: process.cpuUsage().user / 1000, runId, rows })

/** Records that the service accepted every row, as sending them would have. */
function markSent(file: string): void {
  const db = new DatabaseSync(file)
  db.exec(`BEGIN; INSERT INTO result (row, state, attempts, status) SELECT id, 'succeeded', 1, 200 FROM row WHERE item IS NOT NULL;
    UPDATE run SET claimed = (SELECT max(id) FROM row), claimed_rows = rows_read, state = 'completed', started_at = created_at; COMMIT`)
  db.close()
}
