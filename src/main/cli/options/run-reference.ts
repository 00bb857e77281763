import { SluiceError } from '../../../shared/messages/errors.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import type { Engine } from '../../engine/engine-interface.ts'

/** What the RUN argument of a command may be, for its help. */
export const RUN_ARGUMENT_HELP = 'run or retry id, a unique prefix of it, or `latest`'

/**
 * Finds the run that a person named: by id, by an unambiguous beginning of one, or `latest`.
 * Throws `RUN_NOT_FOUND`, naming what there is.
 */
export async function resolveRun(engine: Engine, reference: string): Promise<RunSummary> {
  await engine.settleLate()
  const runs = await engine.listRuns()
  const [newest] = runs
  if (newest === undefined) {
    throw new SluiceError({ id: 'no_runs', reference, workspace: engine.workspace })
  }
  // A retry belongs to a run, which is then the latest.
  if (reference === 'latest')
    return runs.toSorted((a, b) => (toNewestId(a) < toNewestId(b) ? 1 : -1))[0] ?? newest
  const all = runs.flatMap((run) => [run.run_id, ...run.retries.map((retry) => retry.run_id)])
  const matching = all.includes(reference)
    ? [reference]
    : all.filter((runId) => reference !== '' && runId.startsWith(reference))
  const [only] = matching
  if (only !== undefined && matching.length === 1) {
    return runs.find((run) => run.run_id === only) ?? engine.summarizeRun(only)
  }
  if (matching.length > 1) {
    throw new SluiceError({
      id: 'run_ambiguous',
      reference,
      runs: matching.length,
      some: matching.slice(0, 5),
    })
  }
  throw new SluiceError({
    id: 'run_unknown',
    reference,
    workspace: engine.workspace,
    newest: newest.run_id,
    runs: runs.length,
  })
}

/** The id of a run or of its newest retry; ids begin with the time they were made. */
function toNewestId(run: RunSummary): string {
  return run.retries.at(-1)?.run_id ?? run.run_id
}
