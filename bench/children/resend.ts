import { DatabaseSync } from 'node:sqlite'
import { ApiKey } from '../../src/main/engine/secrets/bound-secret.ts'
import { planSchema } from '../../src/shared/plan/plan.ts'
import { reportToParent } from '../lib/report-to-parent.ts'
import { createBenchEngine } from '../lib/workspace.ts'

const task = JSON.parse(process.argv[2] ?? '') as {
  path: string
  workspace: string
  onlyNew: boolean
  /** Whether the run stays, as one whose rows the service took. */
  keep: boolean
}

const engine = createBenchEngine(task.workspace)
const plan = planSchema.parse({
  connection: { baseUrl: 'http://127.0.0.1:9' },
  source: { path: task.path },
  ...(task.onlyNew && { onlyNew: {} }),
  operation: { kind: 'task' },
})
const startMs = performance.now()
const run = await engine.runs.startRun(plan, {
  apiKey: ApiKey.create('key', plan.connection, 'of the benchmark'),
  hold: true,
})
await run.ready
const ms = performance.now() - startMs
run.stop()
const { rows } = await run.ended
if (!task.keep) await engine.runs.deleteRun(run.runId)
await engine.close()
if (task.keep) markSent(`${task.workspace}/runs/${run.runId}.journal`)
reportToParent({ ms, cpuMs: process.cpuUsage().user / 1000, runId: run.runId, rows })

/** Writes that the service took every row, as sending them would have. */
function markSent(file: string): void {
  const db = new DatabaseSync(file)
  db.exec(`BEGIN; INSERT INTO result (row, state, attempts, status) SELECT id, 'succeeded', 1, 200 FROM row WHERE item IS NOT NULL;
    UPDATE run SET claimed = (SELECT max(id) FROM row), claimed_rows = rows_read, state = 'completed', started_at = created_at; COMMIT`)
  db.close()
}
