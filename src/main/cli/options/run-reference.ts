import type { FoundRuns } from '../../../shared/lookback/run-list.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import type { Engine } from '../../engine/engine.ts'

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
