import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createEngine } from '../../../src/main/engine/engine.ts'
import { ApiKey } from '../../../src/main/engine/secrets/bound-secret.ts'
import { DEFAULT_SANDBOX_KEY } from '../../../src/main/sandbox/sandbox-options.ts'
import { planSchema } from '../../../src/shared/plan/plan.ts'
import { withSandbox } from '../sandbox.ts'

/**
 * Sends each CSV file to its own sandbox as one ended run of tasks, with legacy answers; returns the run ids.
 */
export async function sendRuns(workspace: string, files: readonly { name: string; text: string }[]) {
  const service = await withSandbox()
  const engine = createEngine({ workspace })
  const runIds: string[] = []
  for (const { name, text } of files) {
    const path = join(workspace, name)
    writeFileSync(path, text)
    const plan = planSchema.parse({
      name,
      connection: { baseUrl: service.baseUrl },
      source: { path },
      operation: { kind: 'task', legacy: true },
    })
    const run = await engine.runs.startRun(plan, {
      apiKey: ApiKey.create(DEFAULT_SANDBOX_KEY, plan.connection, 'of the test'),
    })
    await run.ended
    runIds.push(run.runId)
  }
  await engine.close()
  return runIds
}
