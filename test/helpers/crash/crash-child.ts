import { createEngine } from '../../../src/main/engine/engine.ts'
import type { RunHandle } from '../../../src/main/engine/engine-interface.ts'
import { ApiKey } from '../../../src/main/engine/secrets/bound-secret.ts'
import type { Fix } from '../../../src/shared/plan/fixes.ts'
import { type PlanInput, planSchema } from '../../../src/shared/plan/plan.ts'

/** The parent's request to this process: start the plan, resume the run, retry what is left, or export it. */
export interface CrashTask {
  workspace: string
  work:
    | { kind: 'start'; plan: PlanInput }
    /** Rows with an unknown outcome are resent by default. */
    | { kind: 'resume'; runId: string; onUnknown?: 'resend' | 'skip' }
    | { kind: 'retry'; runId: string; fixes?: Fix[] }
    | { kind: 'export'; runId: string; file: string }
}

const task = JSON.parse(process.argv[2] ?? '') as CrashTask
const engine = createEngine({
  workspace: task.workspace,
  runWorkerUrl: new URL('./killing-run-worker.ts', import.meta.url),
})
if (task.work.kind === 'export') {
  process.stdout.write('ready\n')
  await engine.results.exportRun(task.work.runId, { file: task.work.file })
} else {
  const handle = await start(task.work)
  await handle.ready
  process.stdout.write('ready\n')
  await handle.ended
}
await engine.close()

async function start(work: Exclude<CrashTask['work'], { kind: 'export' }>): Promise<RunHandle> {
  const plan = work.kind === 'start' ? planSchema.parse(work.plan) : await engine.runs.readPlan(work.runId)
  const apiKey = ApiKey.create('key', plan.connection, 'of the test')
  const again = { apiKey, onUnknown: 'resend' } as const
  switch (work.kind) {
    case 'start':
      return engine.runs.startRun(plan, { apiKey })
    case 'resume':
      return engine.runs.resumeRun(work.runId, { ...again, onUnknown: work.onUnknown ?? 'resend' })
    case 'retry':
      return engine.runs.retryRun(work.runId, {
        ...again,
        ...(work.fixes !== undefined && { fixes: work.fixes }),
      })
  }
}
