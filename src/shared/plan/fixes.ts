import { z } from 'zod'
import { COMPARED_FIELDS, ID_TEXT_FIELDS } from '../mapping/id-text.ts'
import { problemCodeSchema } from '../run/problem.ts'
import { FORBIDDEN_ID_CHARACTERS } from '../service/request-field.ts'

const recordShape = {
  record: z.int().min(1).exactOptional(),
  /** Name of `record` in plans of versions up to 0.2. */
  row: z.int().min(1).exactOptional(),
  /** Hash of the row's cells: if they differ, the fix does nothing, and a run asks before it sends. */
  rowHash: z.string().min(1).exactOptional(),
}

function namesOneRecord({ record, row }: { record?: number; row?: number }): boolean {
  return (record === undefined) !== (row === undefined)
}

const ONE_RECORD = { path: ['record'], error: 'expected the number of a record, from 1' }
const fieldSchema = z.string().min(1)

/**
 * One correction of what is sent, laid over the unchanged source. Two kinds name one record; all others are
 * rules for every matching row, so that a plan stays small however many rows it corrects.
 */
const fixSchema = z.discriminatedUnion('kind', [
  /** One row's field gets this text instead of its mapped value; an empty text leaves the field out. */
  z
    .object({
      kind: z.literal('cell'),
      ...recordShape,
      field: fieldSchema,
      value: z.string(),
      /** Applies only if the field has this text. */
      was: z.string().exactOptional(),
    })
    .refine(namesOneRecord, ONE_RECORD),
  /** The field gets the text of this template in every row with that problem. */
  z.object({
    kind: z.literal('value'),
    problem: problemCodeSchema,
    field: fieldSchema,
    value: z.string(),
  }),
  /** {@link substitute} replaces `_` and `;` in this id, wherever they occur. */
  z.object({
    kind: z.literal('substitute'),
    field: z.enum(['user_id', 'post_id']),
    /** The characters for which an id is changed (default: `_;~`); version 0.2.0 did so for `_;`. */
    escapes: z.enum(['_;~', '_;']).exactOptional(),
  }),
  /** This id or term is sent without white space at its ends and without invisible characters. */
  z.object({ kind: z.literal('trim'), field: z.enum(COMPARED_FIELDS) }),
  /** Whole numbers in this id are sent without a trailing `.0`. */
  z.object({ kind: z.literal('drop_fraction'), field: z.enum(ID_TEXT_FIELDS) }),
  /** A row with text_data and url becomes two, one with each (docs/interface.md §2.1). */
  z.object({ kind: z.literal('split') }),
  /** In rows with too many cells, those from this 1-based one on are joined with this text. */
  z.object({ kind: z.literal('join_cells'), from: z.int().min(1), with: z.string() }),
  /** Every row with that problem is left out; without a field, those whose problem concerns the whole row. */
  z.object({ kind: z.literal('leave_out'), problem: problemCodeSchema, field: fieldSchema.exactOptional() }),
  /** This row is left out. */
  z.object({ kind: z.literal('leave_out_row'), ...recordShape }).refine(namesOneRecord, ONE_RECORD),
])

export type Fix = z.infer<typeof fixSchema>

/** Fixes that held before a session that corrected rows with others and sent them again. */
export interface EarlierFixes {
  until: number
  fixes: readonly Fix[]
}

/** Most fixes in a plan; a correction of more rows is a rule. */
const FIXES_MAX = 10_000

export const fixesSchema = z
  .array(fixSchema)
  .max(FIXES_MAX, `expected at most ${FIXES_MAX} fixes; use a rule`)

/** A field whose sent value differs from the source; '' means none. */
export const correctionSchema = z.object({
  field: z.string(),
  /** Value in the source. */
  before: z.string(),
  /** The row's own value: as corrected, but without a substitute that only replaces it on the wire. */
  own: z.string(),
  sent: z.string(),
})

export type Correction = z.infer<typeof correctionSchema>

/** A fix for a single row, not a rule. */
export type OneRowFix = Extract<Fix, { kind: 'cell' | 'leave_out_row' }>

export function isOfOneRow(fix: Fix): fix is OneRowFix {
  return fix.kind === 'cell' || fix.kind === 'leave_out_row'
}

/** The record that a fix names; null for a rule. */
export function getFixedRecord(fix: Fix): number | null {
  return isOfOneRow(fix) ? (fix.record ?? fix.row ?? null) : null
}

/** Adds a fix; it replaces a fix for the same place. */
export function addFix(fixes: readonly Fix[], fix: Fix): Fix[] {
  const place = toPlace(fix)
  // Sends the same ids as earlier sessions of the run.
  if (fix.kind === 'substitute' && fixes.some((one) => toPlace(one) === place)) return [...fixes]
  return [...fixes.filter((one) => toPlace(one) !== place), fix]
}

/** What a fix does, as a text to compare: without how its record is named, and the cells that this had. */
export function toEffect(fix: Fix): string {
  const without = ['record', 'row', 'rowHash']
  const effect = JSON.stringify(fix, (key, value: unknown) => (without.includes(key) ? undefined : value))
  return `${getFixedRecord(fix)} ${effect}`
}

/** What a fix is for: of two for one place, the later replaces the earlier. */
export function toPlace(fix: Fix): string {
  switch (fix.kind) {
    case 'cell':
      return JSON.stringify([fix.kind, getFixedRecord(fix), fix.field])
    case 'value':
      return JSON.stringify([fix.kind, fix.problem, fix.field])
    case 'leave_out':
      return JSON.stringify([fix.kind, fix.problem, fix.field ?? null])
    case 'substitute':
      return JSON.stringify([fix.kind, fix.field])
    case 'join_cells':
      return fix.kind
    case 'leave_out_row':
      return JSON.stringify([fix.kind, getFixedRecord(fix)])
    default:
      return JSON.stringify(fix)
  }
}

/** Fields that tell the halves of a split row apart and keep them together: an id each and a common group. */
export const SPLIT_FIELDS = ['post_id', 'group_id'] as const

/** The fields that fixes may change, in order. */
export function listFixedFields(fixes: readonly Fix[]): string[] {
  const fields = fixes.flatMap((fix) => {
    if (fix.kind === 'cell' || fix.kind === 'value') return [fix.field]
    if (fix.kind === 'substitute' || fix.kind === 'trim' || fix.kind === 'drop_fraction') {
      return toSubstituted(fix.field)
    }
    return fix.kind === 'split' ? SPLIT_FIELDS : []
  })
  return [...new Set(fields)]
}

/** The fields with the same kind of id: a reply names its parent by the id that the parent was sent with. */
export function toSubstituted(field: string): string[] {
  return field === 'post_id' ? ['post_id', 'parent_id'] : [field]
}

const SUBSTITUTES: Readonly<Record<string, string>> = { _: '~5F', ';': '~3B', '~': '~7E' }

/** The characters for which a fix changes an id. */
type Escapes = NonNullable<Extract<Fix, { kind: 'substitute' }>['escapes']>

/**
 * An id with the characters that the service forbids replaced: `a_b` becomes `a~5Fb`, and `~` becomes `~7E`,
 * so that different ids stay different. Ids without any of these characters are unchanged. With `_;`, an id
 * with `~` but without `_` and `;` is unchanged too, and may equal the substitute of another.
 */
export function substitute(id: string, escapes: Escapes = '_;~'): string {
  if (escapes === '_;' && !FORBIDDEN_ID_CHARACTERS.test(id)) return id
  return id.replaceAll(/[_;~]/g, (character) => SUBSTITUTES[character] ?? character)
}

/** Fixes for a journal, with defaults written out: later versions may change these. */
export function toStoredFixes(fixes: readonly Fix[]): Fix[] {
  return fixes.map((fix) => (fix.kind === 'substitute' ? { ...fix, escapes: fix.escapes ?? '_;~' } : fix))
}

/** Fixes from a journal; version 0.2.0 did not store for which characters it changed ids. */
export function fromStoredFixes(fixes: readonly Fix[]): Fix[] {
  return fixes.map((fix) => (fix.kind === 'substitute' ? { ...fix, escapes: fix.escapes ?? '_;' } : fix))
}
