import { join } from 'node:path'
import {
  type Baseline,
  baselinesSchema,
  isSameSubject,
  toBaselineSubject,
} from '../../../shared/lookback/baseline.ts'
import { toSystemCode } from '../../../shared/messages/thrown.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { takeLease } from '../workspace/lease.ts'
import { readTextFile } from '../workspace/regular-file.ts'
import { replaceFileSync } from '../workspace/replace-file.ts'
import { toStoreError } from '../workspace/store-error.ts'

/** Reads the baselines of a workspace, oldest first. Throws `WORKSPACE_UNUSABLE`. */
export function readBaselines(workspace: string): Baseline[] {
  const file = toFile(workspace)
  try {
    return baselinesSchema.parse(JSON.parse(readTextFile(file))).baselines
  } catch (error) {
    if (toSystemCode(error) === 'ENOENT') return []
    throw toStoreError('baselines_unusable', file, error)
  }
}

/**
 * Makes a run the baseline of its connection and source; one of that name there is replaced. Throws
 * `WORKSPACE_UNUSABLE`.
 */
export function setBaseline(workspace: string, run: RunSummary, name: string, nowMs = Date.now()): Baseline {
  const baseline = {
    ...{ name, run_id: run.run_id, ...toBaselineSubject(run) },
    set_at: new Date(nowMs).toISOString(),
  }
  changeBaselines(workspace, (baselines) => [
    ...baselines.filter((other) => other.name !== name || !isSameSubject(other, baseline)),
    baseline,
  ])
  return baseline
}

/** Removes the baselines that a run is, or those of a name alone, and returns them. Throws `WORKSPACE_UNUSABLE`. */
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
  const file = toFile(workspace)
  const lease = takeLease(file, `the baseline file ${file}`)
  try {
    const changed = baselinesSchema.parse({ version: 1, baselines: change(readBaselines(workspace)) })
    try {
      replaceFileSync(file, `${JSON.stringify(changed, null, 2)}\n`, { isPrivate: true })
    } catch (error) {
      throw toStoreError('baselines_unusable', file, error)
    }
  } finally {
    lease.release()
  }
}

function toFile(workspace: string): string {
  return join(workspace, 'baselines.json')
}

/** Ids of the runs that are baselines, which retention never deletes. Throws `WORKSPACE_UNUSABLE`. */
export function listBaselineRuns(workspace: string): ReadonlySet<string> {
  return new Set(readBaselines(workspace).map((baseline) => baseline.run_id))
}
