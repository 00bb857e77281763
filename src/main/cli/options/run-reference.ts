import { SluiceError } from '../../../shared/messages/errors.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import type { Engine } from '../../engine/engine.ts'

/** What the RUN argument of a command may be, for its help. */
export const RUN_ARGUMENT_HELP =
  'run or retry id, a unique prefix of it, run name, `latest`, or `latest:NAME`'

/**
 * Finds the run that a person means: by id, by an unambiguous beginning of one, by name, or `latest`.
 * Throws `RUN_NOT_FOUND`, naming what there is.
 */
export async function resolveRun(engine: Engine, reference: string): Promise<RunSummary> {
  return engine.runs.summarizeRun(await resolveRunId(engine, reference))
}

/** Finds its id alone, which a run has that cannot be read, too. Throws as {@link resolveRun} does. */
export async function resolveRunId(engine: Engine, reference: string): Promise<string> {
  await engine.runs.settleLate()
  const { ids, matching, all: runs, newest, unreadable } = await engine.runs.findRuns(reference)
  const [only] = ids
  if (only !== undefined && matching === 1) return only
  if (newest === null && unreadable > 0) {
    throw new SluiceError({ id: 'runs_unreadable', workspace: engine.workspace, runs: unreadable })
  }
  if (newest === null) {
    throw new SluiceError({ id: 'no_runs', reference, workspace: engine.workspace })
  }
  if (matching > 1) {
    throw new SluiceError({ id: 'run_ambiguous', reference, runs: matching, some: ids })
  }
  throw new SluiceError({
    id: 'run_unknown',
    reference,
    workspace: engine.workspace,
    newest,
    runs,
  })
}
