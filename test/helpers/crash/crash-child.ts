import { createEngine } from '../../../src/main/engine/engine.ts'
import { type PlanInput, planSchema } from '../../../src/shared/plan.ts'

/** What the parent asks of this process: start the plan, or resume the run. */
export interface CrashTask {
  workspace: string
  work: { kind: 'start'; plan: PlanInput } | { kind: 'resume'; runId: string }
}

const task = JSON.parse(process.argv[2] ?? '') as CrashTask
const engine = createEngine({
  workspace: task.workspace,
  runWorkerUrl: new URL('./killing-run-worker.ts', import.meta.url),
  queryWorkerUrl: new URL('../../../src/main/engine/query/query-worker.ts', import.meta.url),
})
const handle =
  task.work.kind === 'start'
    ? await engine.startRun(planSchema.parse(task.work.plan), { apiKey: 'key' })
    : await engine.resumeRun(task.work.runId, { apiKey: 'key', onUnknown: 'resend' })
await handle.ready
process.stdout.write('ready\n')
await handle.ended
await engine.close()
