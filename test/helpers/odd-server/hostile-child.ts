import { createEngine } from '../../../src/main/engine/engine.ts'
import { ApiKey } from '../../../src/main/engine/secrets/bound-secret.ts'
import { planSchema } from '../../../src/shared/plan/plan.ts'
import type { RunSummary } from '../../../src/shared/run/run.ts'
import { readPeakRssBytes } from '../resource-use.ts'

/** The plan to send. */
export interface HostileTask {
  workspace: string
  source: string
  baseUrl: string
  inFlight: number
  timeoutMs: number
}

/** The process' result, as JSON on stdout. */
export interface HostileResult {
  summary: RunSummary
  /** Peak memory of the process, bytes. */
  peakBytes: number
  /** Succeeded rows, by post_id, with their task_id. */
  told: [postId: string | null, taskId: string | null][]
}

const task = JSON.parse(process.argv[2] ?? '') as HostileTask
const engine = createEngine({ workspace: task.workspace })
const plan = planSchema.parse({
  connection: { baseUrl: task.baseUrl, timeoutMs: task.timeoutMs },
  source: { path: task.source },
  operation: { kind: 'task' },
  pace: { kind: 'closed', concurrency: task.inFlight },
  retry: { limit: 1, baseMs: 1, maxMs: 5, maxRetryAfterMs: 40 },
})
const apiKey = ApiKey.create('key', { baseUrl: task.baseUrl }, 'of the test')
const run = await engine.runs.startRun(plan, { apiKey, whenFailing: 'pause' })
// Most answers are errors: continue regardless, like a determined person.
run.onSnapshot(({ phase }) => {
  if (phase === 'paused') run.resume()
})
const summary = await run.ended
const told: HostileResult['told'] = []
for (let offset = 0; offset < summary.rows.succeeded; offset += 500) {
  const { rows } = await engine.results.readPage(run.runId, {
    filter: { state: 'succeeded' },
    offset,
    limit: 500,
  })
  for (const { postId, taskId } of rows) told.push([postId, taskId])
}
await engine.close()
const result: HostileResult = { summary, peakBytes: readPeakRssBytes(), told }
process.stdout.write(JSON.stringify(result))
