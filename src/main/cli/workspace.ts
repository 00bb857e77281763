import { findDefaultWorkspace } from '../default-workspace.ts'
import { resolveFromCaller } from './invocation.ts'

/** The folder that holds the journals: `--workspace`, else `SLUICE_WORKSPACE`, else the system's data folder. */
export function resolveWorkspace(flag: string | undefined, env: NodeJS.ProcessEnv = process.env): string {
  const given = flag ?? env['SLUICE_WORKSPACE']
  return given === undefined || given === '' ? findDefaultWorkspace() : resolveFromCaller(given, env)
}
