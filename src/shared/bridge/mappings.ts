import { z } from 'zod'
import { lastMappingSchema, mappingNameSchema, savedMappingSchema } from '../mapping/saved-mappings.ts'
import { operationSchema } from '../operations/operations.ts'
import { base, toStrict } from './procedure.ts'

const listSchema = z.array(savedMappingSchema)

/** Mappings that were saved under a name, and that of the last run of a source. Each change gives the list. */
export const mappingsContract = {
  list: base.output(listSchema),
  /** How a source with these columns was mapped when it was last sent by such an operation; null if none was. */
  findLast: base
    .input(toStrict(z.object({ operation: operationSchema, columns: z.array(z.string()).max(20_000) })))
    .output(lastMappingSchema.nullable()),
  /** Saves a mapping under a name that is not taken, at a place among the others (default: the last). */
  save: base
    .input(toStrict(savedMappingSchema.extend({ at: z.int().min(0).exactOptional() })))
    .output(listSchema),
  rename: base
    .input(z.strictObject({ name: mappingNameSchema, newName: mappingNameSchema }))
    .output(listSchema),
  remove: base.input(z.strictObject({ name: mappingNameSchema })).output(listSchema),
}
