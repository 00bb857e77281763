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
 * Opens the engine for the time of one piece of work, and closes it whatever happens; `workspace` as
 * {@link resolveWorkspace} takes it. Closing stores the findings of what was sent, which Ctrl-C and SIGTERM end: the work
 * is done by then, and the exit code its own.
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
    // What went wrong is not held back.
    leaving.abort()
    throw error
  } finally {
    rememberTargets(context, folder)
    await engine.close({ signal: leaving.signal }).finally(stopWatching)
  }
}

/**
 * The same engine, but if late callbacks cannot be processed, for example because the inbox is damaged, it says so and
 * results can still be looked at.
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

/** The folder that holds the journals: `--workspace`, else `SLUICE_WORKSPACE`, else the system's data folder. */
export function resolveWorkspace(flag: string | undefined, env: NodeJS.ProcessEnv = process.env): string {
  const given = flag ?? env['SLUICE_WORKSPACE']
  return given === undefined || given === '' ? findDefaultWorkspace() : resolveFromCaller(given, env)
}
