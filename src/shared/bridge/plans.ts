import { z } from 'zod'
import { loadSchema } from '../load/load.ts'
import { operationSchema } from '../operations/operations.ts'
import { base, ofRun, runIdSchema, toStrict } from './procedure.ts'
import { exportedSchema, exportTargetSchema } from './results.ts'
import { apiKeySchema } from './runs.ts'

/** Ending of the plan files that the window writes, without a dot. */
export const PLAN_FORMAT = 'sluiceplan'

/** Endings of plan files: the desktop app's own, and one that editors read as JSON. */
export const PLAN_ENDINGS = [`.${PLAN_FORMAT}`, '.plan.json'] as const

/** Whether a file of that name is opened as a plan, not as a source. */
export function isPlanName(name: string): boolean {
  return PLAN_ENDINGS.some((ending) => name.toLowerCase().endsWith(ending))
}

/** `planId` is a handle of the main process for a plan file that a person opened; it cannot be guessed. */
const planIdSchema = z.strictObject({ planId: z.string().min(1).max(100) })

const openedPlanSchema = z.object({
  /** Name of the plan's file, and of the run that it makes. */
  file: z.string(),
  name: z.string(),
  operation: operationSchema,
  /** Null for a run that sends each row once. */
  load: loadSchema.nullable(),
  /** The source as the plan names it: relative to the plan, or absolute. */
  source: z.string(),
  baseUrl: z.string(),
  /** The second host for v2 tasks; null if it is the same. */
  taskBaseUrl: z.string().nullable(),
  /** The stored connection that it uses; null for an address of its own, which gets no stored key. */
  connectionName: z.string().nullable(),
  isSandbox: z.boolean(),
  needsKey: z.boolean(),
  /** What the window leaves out of the plan's connection, in words. */
  leftOut: z.array(z.string()),
})

export type OpenedPlan = z.infer<typeof openedPlanSchema>

/** Plan files opened with the app. Nothing is read or sent before a person asks for it. */
export const plansContract = {
  /** Fails with every problem of a plan that cannot be used. */
  describe: base.input(planIdSchema).output(openedPlanSchema),
  /** Begins to read and check the plan's source, and answers at once; nothing is sent before `runs.begin`. */
  start: base
    .input(toStrict(planIdSchema.extend({ apiKey: apiKeySchema.exactOptional() })))
    .output(runIdSchema),
  /**
   * Writes the plan that a run was started with to a file; see `exports.create`. It holds no key. In a
   * browser its paths are absolute, except those of uploaded files. `notes` say what to know about the plan,
   * and are also in it.
   */
  save: base
    .input(ofRun({ targetId: exportTargetSchema.shape.targetId.exactOptional() }))
    .output(z.object({ saved: exportedSchema, notes: z.array(z.string()) })),
}
