import { findDefaultWorkspace } from '../default-workspace.ts'
import type { Engine } from '../engine/engine-interface.ts'
import { resolveFromCaller } from './invocation.ts'

/** Opens the engine on a workspace for the time of one piece of work, and closes it whatever happens. */
export async function withEngine<T>(workspace: string, work: (engine: Engine) => Promise<T>): Promise<T> {
  // Loaded only where it is needed: help and bad usage answer at once.
  const { createEngine } = await import('../engine/engine.ts')
  const engine = createEngine({ workspace })
  try {
    return await work(engine)
  } finally {
    await engine.close()
  }
}

/** The folder that holds the journals: `--workspace`, else `SLUICE_WORKSPACE`, else the system's data folder. */
export function resolveWorkspace(flag: string | undefined, env: NodeJS.ProcessEnv = process.env): string {
  const given = flag ?? env['SLUICE_WORKSPACE']
  return given === undefined || given === '' ? findDefaultWorkspace() : resolveFromCaller(given, env)
}
