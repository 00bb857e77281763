import { join } from 'node:path'
import {
  type Baseline,
  baselinesSchema,
  isSameSubject,
  toBaselineSubject,
} from '../../../shared/lookback/baseline.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { underLease } from '../workspace/lease.ts'
import { readDocument, writeDocument } from '../workspace/stored-document.ts'

/** Reads the baselines of a workspace, oldest first. Throws `WORKSPACE_UNUSABLE`. */
export function readBaselines(workspace: string): Baseline[] {
  return readDocument(toDocument(workspace), null)?.baselines ?? []
}

/**
 * Makes a run the baseline of its connection and source; replaces one of that name. Throws
 * `WORKSPACE_UNUSABLE`.
 */
export function setBaseline(workspace: string, run: RunSummary, name: string, nowMs = Date.now()): Baseline {
  const baseline = {
    name,
    run_id: run.run_id,
    ...toBaselineSubject(run),
    set_at: new Date(nowMs).toISOString(),
  }
  changeBaselines(workspace, (baselines) => [
    ...baselines.filter((other) => other.name !== name || !isSameSubject(other, baseline)),
    baseline,
  ])
  return baseline
}

/** Removes all baselines of a run, or the one of a name, and returns them. Throws `WORKSPACE_UNUSABLE`. */
export function removeBaselines(workspace: string, runId: string, name: string | null): Baseline[] {
  const removed: Baseline[] = []
  changeBaselines(workspace, (baselines) => {
    const isRemoved = (one: Baseline) => one.run_id === runId && (name === null || one.name === name)
    removed.push(...baselines.filter(isRemoved))
    return baselines.filter((one) => !isRemoved(one))
  })
  return removed
}

function changeBaselines(workspace: string, change: (baselines: Baseline[]) => Baseline[]): void {
  const document = toDocument(workspace)
  underLease(document.file, `the baseline file ${document.file}`, () =>
    writeDocument(
      document,
      baselinesSchema.parse({ version: 1, baselines: change(readBaselines(workspace)) }),
    ),
  )
}

function toDocument(workspace: string) {
  const file = join(workspace, 'baselines.json')
  return { file, schema: baselinesSchema, unusable: 'baselines_unusable' } as const
}

/** Ids of the runs that are baselines, which retention never deletes. Throws `WORKSPACE_UNUSABLE`. */
export function listBaselineRuns(workspace: string): ReadonlySet<string> {
  return new Set(readBaselines(workspace).map((baseline) => baseline.run_id))
}
