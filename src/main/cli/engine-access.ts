import type { FoundRuns } from '../../shared/lookback/run-list.ts'
import { EXIT } from '../../shared/messages/error-entry.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import type { RunSummary } from '../../shared/run/run.ts'
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

/** What the RUN argument of a command may be, for its help. */
export const RUN_ARGUMENT_HELP =
  'run or retry id, a unique prefix of it, run name, `latest`, or `latest:NAME`'

/**
 * Finds the run that a person means: by id, unique prefix of an id, name, or `latest`. Throws
 * `RUN_NOT_FOUND`, listing the existing runs.
 */
export async function resolveRun(engine: Engine, reference: string): Promise<RunSummary> {
  return engine.runs.summarizeRun(await resolveRunId(engine, reference))
}

/** Finds only its id, which works for unreadable runs too. Throws as {@link resolveRun} does. */
export async function resolveRunId(engine: Engine, reference: string): Promise<string> {
  const [runId = ''] = await resolveRunIds(engine, [reference])
  return runId
}

/** Finds the ids of several runs, in order, reading the workspace once. Throws as {@link resolveRun} does. */
export async function resolveRunIds(engine: Engine, references: readonly string[]): Promise<string[]> {
  await engine.runs.settleLate()
  const found = await Promise.all(references.map((reference) => engine.runs.findRuns(reference)))
  return found.map((one, index) => chooseRun(engine, references[index] ?? '', one))
}

function chooseRun(
  { workspace }: Engine,
  reference: string,
  { ids, matching, newest, unreadable }: FoundRuns,
): string {
  const [only] = ids
  if (only !== undefined && matching === 1) return only
  if (newest === null && unreadable > 0) {
    throw new SluiceError({ id: 'runs_unreadable', workspace, runs: unreadable })
  }
  if (newest === null) throw new SluiceError({ id: 'no_runs', reference, workspace })
  if (matching > 1) throw new SluiceError({ id: 'run_ambiguous', reference, runs: matching, some: ids })
  throw new SluiceError({ id: 'run_unknown', reference, workspace, newest })
}
