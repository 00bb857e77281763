import { z } from 'zod'
import { lastMappingSchema, mappingNameSchema, savedMappingSchema } from '../mapping/saved-mappings.ts'
import { operationSchema } from '../operations/operations.ts'
import { base, toStrict } from './procedure.ts'

const listSchema = z.array(savedMappingSchema)

/** Saved mappings, and the mapping of the last run of a source. Each change returns the new list. */
export const mappingsContract = {
  list: base.output(listSchema),
  /** How a source with these columns was last mapped for such an operation; null if never. */
  findLast: base
    .input(toStrict(z.object({ operation: operationSchema, columns: z.array(z.string()).max(20_000) })))
    .output(lastMappingSchema.nullable()),
  /** Saves a mapping under a new name, at a position in the list (default: the last). */
  save: base
    .input(toStrict(savedMappingSchema.extend({ at: z.int().min(0).exactOptional() })))
    .output(listSchema),
  rename: base
    .input(z.strictObject({ name: mappingNameSchema, newName: mappingNameSchema }))
    .output(listSchema),
  remove: base.input(z.strictObject({ name: mappingNameSchema })).output(listSchema),
}
