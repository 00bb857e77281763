import { z } from 'zod'
import { legacyOutputSchema } from './legacy-task-response.ts'

export { legacyTaskResponseSchema } from './legacy-task-response.ts'
export { readTaskResponse } from './read-task-response.ts'

const triggeredRuleSchema = z.looseObject({ rule_id: z.string(), rule_name: z.string() })

/** The default task response (docs/interface.md §2.2). */
export const defaultTaskResponseSchema = z.looseObject({
  user_id: z.string(),
  post_id: z.string(),
  task_id: z.string(),
  triggered_rules: z.array(triggeredRuleSchema),
})

/** The immediate answer to an async submission (docs/interface.md §4.1); what it holds beyond task_id is not shown. */
export const asyncAcknowledgementSchema = z.looseObject({ task_id: z.string() })

/**
 * A v2 task response, whose shape is not shown (docs/interface.md §2, §4.2): the fields known from v1 are checked where
 * they appear, with a list of models as the embedded service sends it; everything else passes through.
 */
export const v2TaskResponseSchema = z.looseObject({
  task_id: z.string(),
  user_id: z.union([z.string(), z.number()]).optional(),
  post_id: z.string().optional(),
  triggered_rules: z.array(triggeredRuleSchema).optional(),
  models: z
    .array(
      z.looseObject({
        model: z.string(),
        status: z.looseObject({ code: z.string(), message: z.string() }),
        response: z.looseObject({ output: z.array(legacyOutputSchema).optional() }).nullish(),
      }),
    )
    .optional(),
})
