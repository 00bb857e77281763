import { z } from 'zod'
import { COMPARED_FIELDS, ID_TEXT_FIELDS } from '../mapping/id-text.ts'
import { problemCodeSchema } from '../run/problem.ts'
import { FORBIDDEN_ID_CHARACTERS } from '../service/request-field.ts'

const recordShape = {
  record: z.int().min(1).exactOptional(),
  /** How plans of versions up to 0.2 called the record. */
  row: z.int().min(1).exactOptional(),
  /** Of the cells of that row: in a row with other cells the fix does nothing, and a run asks before it sends. */
  rowHash: z.string().min(1).exactOptional(),
}

function namesOneRecord({ record, row }: { record?: number; row?: number }): boolean {
  return (record === undefined) !== (row === undefined)
}

const ONE_RECORD = { path: ['record'], error: 'expected the number of a record, from 1' }
const fieldSchema = z.string().min(1)

/**
 * One correction of what is sent, laid over the source, which stays as it is. Two kinds name one record, all others are
 * rules for every row that they fit, so that a plan stays small however many rows are corrected.
 */
const fixSchema = z.discriminatedUnion('kind', [
  /** One row's field gets this text instead of what fills it; empty text leaves the field out. */
  z
    .object({
      kind: z.literal('cell'),
      ...recordShape,
      field: fieldSchema,
      value: z.string(),
      /** Applies only while the field has this text. */
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
  /** `_` and `;` in this id become what {@link substitute} makes of them, wherever they occur. */
  z.object({
    kind: z.literal('substitute'),
    field: z.enum(['user_id', 'post_id']),
    /** The characters that an id is changed for (default: `_;~`); `_;` is what runs of version 0.2.0 did. */
    escapes: z.enum(['_;~', '_;']).exactOptional(),
  }),
  /** This id or term is sent without white space at its ends and without characters that nobody sees. */
  z.object({ kind: z.literal('trim'), field: z.enum(COMPARED_FIELDS) }),
  /** Whole numbers in this id are sent without the `.0` behind them. */
  z.object({ kind: z.literal('drop_fraction'), field: z.enum(ID_TEXT_FIELDS) }),
  /** A row with text_data and url becomes two, one with each (docs/interface.md §2.1). */
  z.object({ kind: z.literal('split') }),
  /** In rows with more cells, those from this one on, 1-based, are one, with this text between them. */
  z.object({ kind: z.literal('join_cells'), from: z.int().min(1), with: z.string() }),
  /** Every row with that problem is left out; without a field, those whose problem is about the whole row. */
  z.object({ kind: z.literal('leave_out'), problem: problemCodeSchema, field: fieldSchema.exactOptional() }),
  /** This row is left out. */
  z.object({ kind: z.literal('leave_out_row'), ...recordShape }).refine(namesOneRecord, ONE_RECORD),
])

export type Fix = z.infer<typeof fixSchema>

/** The fixes of a run up to one of its sessions, which corrected rows with others and sent them again. */
export interface EarlierFixes {
  until: number
  fixes: readonly Fix[]
}

/** Most fixes of a plan; what concerns more rows than that is a rule. */
const FIXES_MAX = 10_000

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

export type Correction = z.infer<typeof correctionSchema>

/** A fix that names a row, and is not a rule. */
export type OneRowFix = Extract<Fix, { kind: 'cell' | 'leave_out_row' }>

export function isOfOneRow(fix: Fix): fix is OneRowFix {
  return fix.kind === 'cell' || fix.kind === 'leave_out_row'
}

/** The record that a fix is of; null for a rule. */
export function getFixedRecord(fix: Fix): number | null {
  return isOfOneRow(fix) ? (fix.record ?? fix.row ?? null) : null
}

/** Adds a fix; one that says the same or another thing of the same place is replaced. */
export function addFix(fixes: readonly Fix[], fix: Fix): Fix[] {
  const place = toPlace(fix)
  // What a run sent before is sent again the same.
  if (fix.kind === 'substitute' && fixes.some((one) => toPlace(one) === place)) return [...fixes]
  return [...fixes.filter((one) => toPlace(one) !== place), fix]
}

function toPlace(fix: Fix): string {
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

/** What the halves of a split row get: an id of its own, and what they have in common. */
export const SPLIT_FIELDS = ['post_id', 'group_id'] as const

/** The fields whose values fixes may change, in their order. */
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

/** The fields that hold ids of one kind: a reply names its parent by the id that the parent was sent with. */
export function toSubstituted(field: string): string[] {
  return field === 'post_id' ? ['post_id', 'parent_id'] : [field]
}

const SUBSTITUTES: Readonly<Record<string, string>> = { _: '~5F', ';': '~3B', '~': '~7E' }

/** The characters for which a fix changes an id. */
type Escapes = NonNullable<Extract<Fix, { kind: 'substitute' }>['escapes']>

/**
 * An id without the characters that the service forbids: `a_b` becomes `a~5Fb`, and `~` becomes `~7E`, so that no two ids
 * become the same one. Ids without any of these characters stay as they are. With `_;`, an id is left alone that has `~`
 * and neither of them; it may then equal the substitute of another.
 */
export function substitute(id: string, escapes: Escapes = '_;~'): string {
  if (escapes === '_;' && !FORBIDDEN_ID_CHARACTERS.test(id)) return id
  return id.replaceAll(/[_;~]/g, (character) => SUBSTITUTES[character] ?? character)
}

/** Fixes as a journal keeps them: what they do is written down, whatever later versions do by default. */
export function toStoredFixes(fixes: readonly Fix[]): Fix[] {
  return fixes.map((fix) => (fix.kind === 'substitute' ? { ...fix, escapes: fix.escapes ?? '_;~' } : fix))
}

/** Fixes that a journal kept; version 0.2.0 did not write down for which characters it changes an id. */
export function fromStoredFixes(fixes: readonly Fix[]): Fix[] {
  return fixes.map((fix) => (fix.kind === 'substitute' ? { ...fix, escapes: fix.escapes ?? '_;' } : fix))
}
