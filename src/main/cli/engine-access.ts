import { EXIT } from '../../shared/messages/error-entry.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import { findDefaultWorkspace } from '../default-workspace.ts'
import type { Engine } from '../engine/engine.ts'
import { isWritable } from '../engine/workspace/workspace-files.ts'
import { type CliContext, watchInterrupts } from './context.ts'
import { resolveFromCaller } from './invocation.ts'
import { toPrintable } from './terminal/output.ts'
import { rememberTargets } from './written-files.ts'

/**
 * Opens the engine for one piece of work and closes it in any case; {@link resolveWorkspace} reads
 * `workspace`. Closing stores findings about what was sent. Ctrl-C and SIGTERM cut that short without
 * changing the exit code, since the work itself is done.
 */
export async function withEngine<T>(
  context: CliContext,
  workspace: string | undefined,
  work: (engine: Engine) => Promise<T>,
): Promise<T> {
  const folder = resolveWorkspace(workspace, context.env)
  const engine = await context.openEngine(folder)
  const leaving = new AbortController()
  let stopWatching = () => {}
  try {
    if (!isWritable(folder)) {
      await context.err.writeLine(
        `The workspace ${toPrintable(folder)} is read-only: nothing can be sent, noted or deleted, and late callbacks are not processed.`,
      )
    }
    const done = await work(settlingIfPossible(engine, context))
    stopWatching = watchInterrupts({
      first: () => leaving.abort(),
      second: () => process.exit(EXIT.interrupted),
    })
    return done
  } catch (error) {
    // Report errors without waiting for that.
    leaving.abort()
    throw error
  } finally {
    rememberTargets(context, folder)
    await engine.close({ signal: leaving.signal }).finally(stopWatching)
  }
}

/**
 * The same engine, but if late callbacks cannot be processed, for example because the inbox is damaged, it
 * only reports that: results remain readable.
 */
function settlingIfPossible(engine: Engine, context: CliContext): Engine {
  const settleLate = async (runId?: string): Promise<boolean> => {
    try {
      return await engine.runs.settleLate(runId)
    } catch (error) {
      if (!(error instanceof SluiceError) || error.code !== 'WORKSPACE_UNUSABLE') throw error
      await context.err.writeLine(`Late callbacks are not processed: ${toPrintable(error.message)}`)
      return false
    }
  }
  return { ...engine, runs: { ...engine.runs, settleLate } }
}

/** The folder of the journals: `--workspace`, else `SLUICE_WORKSPACE`, else the system's data folder. */
export function resolveWorkspace(flag: string | undefined, env: NodeJS.ProcessEnv = process.env): string {
  const given = flag ?? env['SLUICE_WORKSPACE']
  return given === undefined || given === '' ? findDefaultWorkspace() : resolveFromCaller(given, env)
}
