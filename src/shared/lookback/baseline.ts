import { z } from 'zod'
import { isSameSource } from '../plan/source-paths.ts'
import { isLoadRun, type RunSummary } from '../run/run.ts'

/** The name of a baseline by default. */
export const DEFAULT_BASELINE = 'default'

const baselineSchema = z.object({
  name: z.string().min(1),
  run_id: z.string().min(1),
  /** What the baseline is for: runs of this source on this connection that do the same. */
  base_url: z.string(),
  source: z.string(),
  operation: z.string(),
  is_load_test: z.boolean(),
  /** ISO 8601. */
  set_at: z.string(),
})

/** A run that later runs of its connection and source are compared with. */
export type Baseline = z.infer<typeof baselineSchema>

/** The file of a workspace's baselines. */
export const baselinesSchema = z.object({ version: z.literal(1), baselines: z.array(baselineSchema) })

export function toBaselineSubject(run: RunSummary): Omit<Baseline, 'name' | 'run_id' | 'set_at'> {
  const { base_url, source, operation } = run
  return { base_url, source, operation, is_load_test: isLoadRun(run) }
}

/** Whether two baselines, or a run and a baseline, have the same connection and source. */
export function isSameSubject(
  a: ReturnType<typeof toBaselineSubject>,
  b: ReturnType<typeof toBaselineSubject>,
): boolean {
  return (
    a.base_url === b.base_url &&
    isSameSource(a.source, b.source) &&
    a.operation === b.operation &&
    a.is_load_test === b.is_load_test
  )
}
