import { z } from 'zod'

/** Which runs `runs prune` deletes. Null means no limit. */
export const retentionSchema = z.object({
  /** Time since a run or its newest retry ended, milliseconds. */
  olderThanMs: z.number().min(1).nullable(),
  /** Size of the files of a run and its retries. With `olderThanMs`, both have to hold. */
  largerThanBytes: z.number().min(1).nullable(),
  /** Size of all runs: beyond it, the oldest are deleted. */
  keepBelowBytes: z.number().min(0).nullable(),
})

export type Retention = z.infer<typeof retentionSchema>

export const NO_RETENTION: Retention = { olderThanMs: null, largerThanBytes: null, keepBelowBytes: null }

const prunableRunSchema = z.object({
  run_id: z.string(),
  name: z.string(),
  /** When the last of the run and its retries ended, or when it was created if it has not ended. */
  ended_at: z.string(),
  size_bytes: z.int(),
  reason: z.enum(['age', 'size', 'total']),
})

/** A run that retention deletes, and the limit it exceeds. */
export type PrunableRun = z.infer<typeof prunableRunSchema>

/** The properties of a run with its retries that retention depends on. */
export interface RetainedRun extends Omit<PrunableRun, 'reason'> {
  /** `running`: a process holds it. `protected`: it is needed, e.g. as a baseline. Neither is deleted. */
  kept_as: 'running' | 'protected' | null
}

export const prunableRunsSchema = z.object({
  /** Oldest first. */
  runs: z.array(prunableRunSchema),
  /** Runs that exceed a limit but are kept, since they are in use or baselines. */
  running: z.int(),
  protected: z.int(),
  /** Total size of all runs now, and after the deletion. */
  size_bytes: z.number(),
  kept_bytes: z.number(),
})

/** The effect of retention on a workspace's runs. */
export type PrunableRuns = z.infer<typeof prunableRunsSchema>

/** Whether any limit is set. */
export function isRetaining({ olderThanMs, largerThanBytes, keepBelowBytes }: Retention): boolean {
  return olderThanMs !== null || largerThanBytes !== null || keepBelowBytes !== null
}

export function choosePrunable(
  runs: readonly RetainedRun[],
  { olderThanMs, largerThanBytes, keepBelowBytes }: Retention,
  nowMs: number,
): PrunableRuns {
  const isOld = (run: RetainedRun) => olderThanMs === null || Date.parse(run.ended_at) < nowMs - olderThanMs
  const isLarge = (run: RetainedRun) => largerThanBytes === null || run.size_bytes > largerThanBytes
  const isAnyLimit = olderThanMs !== null || largerThanBytes !== null
  const size = runs.reduce((sum, run) => sum + run.size_bytes, 0)
  const found: PrunableRuns = { runs: [], running: 0, protected: 0, size_bytes: size, kept_bytes: size }
  const left: RetainedRun[] = []
  const take = (run: RetainedRun, reason: PrunableRun['reason']) => {
    const { kept_as: keptAs, ...rest } = run
    if (keptAs !== null) {
      found[keptAs] += 1
      return
    }
    found.runs.push({ ...rest, reason })
    found.kept_bytes -= run.size_bytes
  }
  const oldestFirst = runs.toSorted((a, b) => Date.parse(a.ended_at) - Date.parse(b.ended_at))
  for (const run of oldestFirst) {
    if (isAnyLimit && isOld(run) && isLarge(run)) take(run, olderThanMs === null ? 'size' : 'age')
    else left.push(run)
  }
  for (const run of left) {
    if (keepBelowBytes === null || found.kept_bytes <= keepBelowBytes) break
    take(run, 'total')
  }
  found.runs.sort((a, b) => Date.parse(a.ended_at) - Date.parse(b.ended_at))
  return found
}
