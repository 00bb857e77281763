import { z } from 'zod'
import type { Operation } from '../operations/operations.ts'
import { type FieldSource, type Mapping, planSchema } from '../plan/plan.ts'
import { operationKindSchema } from '../run/result-view.ts'
import { isEmpty } from './check-mapping.ts'
import { withColumnNames } from './kept-columns.ts'
import { findColumn, findOtherName, suggestMapping } from './match-columns.ts'
import { findPlaceholder, parseTemplate } from './templates.ts'

/** Stands for the mapping of the last run with the same columns; no saved mapping can have this name. */
export const LAST_MAPPING = 'last'

export const MAPPINGS_MAX = 200

/** The name of a mapping, unique in its workspace. */
export const mappingNameSchema = z
  .string()
  .trim()
  .min(1)
  .max(80)
  .refine((name) => name !== LAST_MAPPING, {
    error: `"${LAST_MAPPING}" stands for the mapping of the last run; choose another name`,
  })

/** A mapping for recurring files, for operations of one kind. */
export const savedMappingSchema = z.object({
  name: mappingNameSchema,
  operation: operationKindSchema,
  mapping: planSchema.shape.mapping.unwrap(),
})

export type SavedMapping = z.infer<typeof savedMappingSchema>

export const savedMappingsSchema = z.object({
  version: z.literal(1),
  mappings: z.array(savedMappingSchema).max(MAPPINGS_MAX),
})

/** The last mapping of a source with the same columns. */
export const lastMappingSchema = z.object({
  runId: z.string(),
  runName: z.string(),
  /** When that run started, ISO 8601. */
  startedAt: z.string(),
  mapping: savedMappingSchema.shape.mapping,
})

export type LastMapping = z.infer<typeof lastMappingSchema>

/**
 * The mapping that a run used for its columns: the plan's, completed by names and guesses; numbered columns
 * also have their names.
 */
export function toUsedMapping(mapping: Mapping, columns: readonly string[], operation: Operation): Mapping {
  const said = { ...suggestMapping(columns, operation).mapping, ...mapping }
  const filled = Object.fromEntries(Object.entries(said).filter(([, source]) => !isEmpty(source)))
  return withColumnNames(filled, columns)
}

/** Whether two mappings fill the same fields in the same way. */
export function isSameMapping(one: Mapping, other: Mapping): boolean {
  const toWhat = (source: FieldSource) =>
    source.kind === 'column' ? source.column : { template: source.template }
  const toKey = (mapping: Mapping) =>
    JSON.stringify(
      Object.entries(mapping)
        .map(([field, source]) => [field, toWhat(source)])
        .sort(),
    )
  return toKey(one) === toKey(other)
}

/** Columns that a mapping uses and a source lacks, or has at other numbers. */
export function findMissingColumns(mapping: Mapping, columns: readonly string[]): string[] {
  const missing = Object.values(mapping).flatMap((source) => {
    if (source.kind === 'column') {
      const index = findColumn(columns, source.column)
      if (index === null) return [String(source.name ?? source.column)]
      return findOtherName(source, columns) === null ? [] : [source.name ?? '']
    }
    return parseTemplate(source.template).flatMap((part) =>
      part.kind === 'text' || findPlaceholder(part.name, columns) !== null ? [] : [part.name.trim()],
    )
  })
  return [...new Set(missing)]
}
