import { z } from 'zod'

/** `Reviewed` comes with a judgment (docs/interface.md §2.6, §3). */
export const appealStatusSchema = z.enum(['In Review', 'Reviewed'])

/** A judgment on an appeal; every field is optional (docs/interface.md §2.6). */
export const appealJudgmentSchema = z.looseObject({
  action_id: z.string().optional(),
  action_name: z.string().optional(),
  action_reasons: z.array(z.unknown()).optional(),
  /** True if the final judgment overturns the prior one, false if it upholds it. */
  overturned: z.boolean().optional(),
})

/** The decision that is appealed; an empty object if none was made (docs/interface.md §2.6). */
export const originalDecisionSchema = z.union([
  z.looseObject({
    action_id: z.string(),
    display_name: z.string(),
    action_reasons: z.array(z.unknown()).optional(),
  }),
  z.strictObject({}),
])

/** Answer of the appeal status endpoint (docs/interface.md §2.6, §4.7). */
export const appealResponseSchema = z.looseObject({
  appeal_id: z.string(),
  appeal: z.looseObject({
    appeal_status: appealStatusSchema,
    appeal_judgment: appealJudgmentSchema.optional(),
  }),
  original_decision: originalDecisionSchema,
})

export type AppealResponse = z.infer<typeof appealResponseSchema>
