import { z } from 'zod'
import { problemCodeSchema } from '../run/problem.ts'
import { FORBIDDEN_ID_CHARACTERS } from '../service/request-field.ts'

const rowSchema = z.int().min(1)
const fieldSchema = z.string().min(1)

/**
 * One correction of what is sent, laid over the source, which stays as it is. Two kinds name one row, all others are
 * rules for every row that they fit, so that a plan stays small however many rows are corrected.
 */
const fixSchema = z.discriminatedUnion('kind', [
  /** One row's field gets this text instead of what fills it; empty text leaves the field out. */
  z.object({
    kind: z.literal('cell'),
    row: rowSchema,
    field: fieldSchema,
    value: z.string(),
    /** Applies only while the field has this text: a source that was edited meanwhile is not corrected blindly. */
    was: z.string().exactOptional(),
  }),
  /** The field gets the text of this template in every row with that problem. */
  z.object({
    kind: z.literal('value'),
    problem: problemCodeSchema,
    field: fieldSchema,
    value: z.string(),
  }),
  /** `_` and `;` in this id become what {@link substitute} makes of them, wherever they occur. */
  z.object({ kind: z.literal('substitute'), field: z.enum(['user_id', 'post_id']) }),
  /** A row with text_data and url becomes two, one with each (docs/interface.md §2.1). */
  z.object({ kind: z.literal('split') }),
  /** Every row with that problem is left out; without a field, those whose problem is about the whole row. */
  z.object({ kind: z.literal('leave_out'), problem: problemCodeSchema, field: fieldSchema.exactOptional() }),
  /** This row is left out. */
  z.object({ kind: z.literal('leave_out_row'), row: rowSchema }),
])

/** See {@link fixSchema}. */
export type Fix = z.infer<typeof fixSchema>

/** Most fixes of a plan; what concerns more rows than that is a rule. */
const FIXES_MAX = 10_000

/** The fixes of a plan. */
export const fixesSchema = z
  .array(fixSchema)
  .max(FIXES_MAX, `expected at most ${FIXES_MAX} fixes; use a rule`)

/** A field that is sent otherwise than the source has it; '' is nothing. */
export const correctionSchema = z.object({
  field: z.string(),
  /** As the source has it. */
  before: z.string(),
  /** The row's own value: as corrected, without a substitute that stands for it on the wire alone. */
  own: z.string(),
  sent: z.string(),
})

/** See {@link correctionSchema}. */
export type Correction = z.infer<typeof correctionSchema>

/** Adds a fix; one that says the same or another thing of the same place is replaced. */
export function addFix(fixes: readonly Fix[], fix: Fix): Fix[] {
  const place = toPlace(fix)
  return [...fixes.filter((one) => toPlace(one) !== place), fix]
}

function toPlace(fix: Fix): string {
  switch (fix.kind) {
    case 'cell':
      return JSON.stringify([fix.kind, fix.row, fix.field])
    case 'value':
      return JSON.stringify([fix.kind, fix.problem, fix.field])
    case 'leave_out':
      return JSON.stringify([fix.kind, fix.problem, fix.field ?? null])
    default:
      return JSON.stringify(fix)
  }
}

/** The fields whose values fixes may change, in their order. */
export function listFixedFields(fixes: readonly Fix[]): string[] {
  const fields = fixes.flatMap((fix) => {
    if (fix.kind === 'cell' || fix.kind === 'value') return [fix.field]
    if (fix.kind === 'substitute') return toSubstituted(fix.field)
    return fix.kind === 'split' ? ['post_id', 'group_id'] : []
  })
  return [...new Set(fields)]
}

/** The fields that hold ids of one kind: a reply names its parent by the id that the parent was sent with. */
export function toSubstituted(field: 'user_id' | 'post_id'): string[] {
  return field === 'post_id' ? ['post_id', 'parent_id'] : [field]
}

const SUBSTITUTES: Readonly<Record<string, string>> = { _: '~5F', ';': '~3B', '~': '~7E' }

/**
 * An id without the characters that the service forbids: `a_b` becomes `a~5Fb`. Other ids stay as they are. No two ids
 * become the same one, unless an id without those characters has `~5F` or `~3B` in it already.
 */
export function substitute(id: string): string {
  if (!FORBIDDEN_ID_CHARACTERS.test(id)) return id
  return id.replaceAll(/[_;~]/g, (character) => SUBSTITUTES[character] ?? character)
}
