import { readBaselines } from '../baseline-store.ts'

/** Ids of the runs that retention never deletes, since something else in the workspace needs them. Throws `WORKSPACE_UNUSABLE`. */
export function listProtectedRuns(workspace: string): ReadonlySet<string> {
  return new Set(readBaselines(workspace).map((baseline) => baseline.run_id))
}
