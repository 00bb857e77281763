import { z } from 'zod'

/** What filled each field of a run's requests, and the source columns that filled none. */
export const usedMappingSchema = z.object({
  fields: z.array(
    z.object({
      field: z.string(),
      /** The column's name, or its number if the name is not unique. */
      column: z.union([z.string(), z.int()]).exactOptional(),
      template: z.string().exactOptional(),
      /** By a person, by a column of the field's name, a guess from another name, or post_id's default. */
      by: z.enum(['stated', 'name', 'guess', 'default']),
    }),
  ),
  not_sent: z.array(z.string()),
})

export type UsedMapping = z.infer<typeof usedMappingSchema>
