import { z } from 'zod'
import type { SourcePlace } from '../plan/source-place.ts'
import type { Problem } from '../run/problem.ts'
import type { ProblemGroup } from '../run/results.ts'
import { matchType } from './procedure.ts'

const severitySchema = z.enum(['error', 'warning'])

const codeSchema = matchType<Problem['code']>()(
  z.enum([
    'ragged_row',
    'undecodable_bytes',
    'broken_quotes',
    'oversized_row',
    'header_like_data',
    'not_json',
    'duplicate_key',
    'number_precision',
    'formula_without_value',
    'unknown_kind',
    'outside_folder',
    'unreadable_file',
    'empty_file',
    'video_too_long',
    'required',
    'forbidden_character',
    'one_of',
    'not_unique',
    'not_distinct',
    'not_json_object',
    'not_a_url',
    'wrong_type',
    'too_long',
    'too_many_models',
    'unknown_model',
    'model_not_listed',
    'not_for_mode',
    'not_for_api',
    'recommended',
    'empty',
  ]),
)

/** See {@link SourcePlace}. */
export const sourcePlaceSchema = matchType<SourcePlace>()(
  z.object({ row: z.int(), line: z.int().nullable() }),
)

/** See {@link Problem}. */
export const problemSchema = matchType<Problem>()(
  z.object({
    row: z.int(),
    place: sourcePlaceSchema.exactOptional(),
    alsoAt: sourcePlaceSchema.exactOptional(),
    severity: severitySchema,
    code: codeSchema,
    field: z.string().exactOptional(),
    message: z.string(),
    found: z.string().exactOptional(),
  }),
)

/** See {@link ProblemGroup}. */
export const problemGroupSchema = matchType<ProblemGroup>()(
  z.object({
    severity: severitySchema,
    code: codeSchema,
    field: z.string().nullable(),
    message: z.string(),
    rows: z.int(),
    examples: z.array(problemSchema),
  }),
)
