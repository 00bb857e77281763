import { z } from 'zod'

/** What filled each field of a run's requests, and the columns of the source that none of them has. */
export const usedMappingSchema = z.object({
  fields: z.array(
    z.object({
      field: z.string(),
      /** Its name, or its number if it has none of its own. */
      column: z.union([z.string(), z.int()]).exactOptional(),
      template: z.string().exactOptional(),
      /** A person, a column of the field's name, a guess from another name, or what post_id is otherwise. */
      by: z.enum(['stated', 'name', 'guess', 'default']),
    }),
  ),
  not_sent: z.array(z.string()),
})

export type UsedMapping = z.infer<typeof usedMappingSchema>
