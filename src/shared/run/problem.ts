import { z } from 'zod'
import { formatRow, type SourcePlace, sourcePlaceSchema } from '../plan/source-place.ts'

/** Whether a problem keeps a row from being sent (`error`) or is only reported (`warning`). */
const severitySchema = z.enum(['error', 'warning'])

export type Severity = z.infer<typeof severitySchema>

/** What only readers of a source find in a row: nothing but its cells is left when it is checked again. */
export const FOUND_BY_READERS = [
  'ragged_row',
  'surplus_cells',
  'record_in_quotes',
  'quotes_guessed',
  'curly_quotes',
  'empty_records',
  'inner_mark',
  'repeated_header',
  'totals_row',
  'description_row',
  'footer_row',
  'second_table',
  'below_other_header',
  'drawn_line',
  'stray_line_break',
  'escaped_line_break',
  'cut_by_line_break',
  'nul_character',
  'zero_padding',
  'undecodable_bytes',
  'uncertain_encoding',
  'stated_encoding',
  'broken_quotes',
  'oversized_row',
  'header_like_data',
  'title_rows',
  'not_json',
  'batch_request',
  'duplicate_key',
  'number_precision',
  'id_precision',
  'formula_without_value',
  'hidden_rows',
  'merged_cells',
  'covered_cells',
  'unknown_link',
  'unknown_kind',
  'outside_folder',
  'unreadable_file',
  'empty_file',
  'skipped_files',
  'missing_columns',
  'source_changed',
  'video_too_long',
] as const

/** Stable names of what can be wrong with a row; problems are grouped by these on screen and in summaries. */
export const problemCodeSchema = z.enum([
  ...FOUND_BY_READERS,
  'other_sheets',
  'hidden_columns',
  'linked_cells',
  'required',
  'forbidden_character',
  'invisible_characters',
  'quotes_in_id',
  'fraction_in_id',
  'lost_id',
  'changed_value',
  'one_of',
  'half_row',
  'content_not_sent',
  'guarded_text',
  'moved_columns',
  'unsent_text',
  'swapped_columns',
  'rows_in_key',
  'not_unique',
  'look_alike',
  'not_distinct',
  'ambiguous_column',
  'alike_column',
  'shadowed_column',
  'not_json_object',
  'doubled_json_key',
  'kept_in_request',
  'invalid_before',
  'json_in_text',
  'json_as_text',
  'not_a_url',
  'several_urls',
  'wrong_type',
  'error_cell',
  'cut_cell',
  'damaged_text',
  'too_long',
  'too_many_models',
  'unknown_model',
  'model_not_listed',
  'not_for_mode',
  'not_for_api',
  'recommended',
  'empty',
  'maybe_sent',
  'earlier_run_unread',
  'unfit_fix',
])

export type ProblemCode = z.infer<typeof problemCodeSchema>

export const argsSchema = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.number())]),
)

const causeSchema = z.object({
  code: problemCodeSchema,
  /** What the code's words take (`messages/problem-messages.ts`); absent if they take nothing. */
  args: argsSchema.exactOptional(),
  /** The words of a journal that an earlier version wrote, which kept these instead of arguments. */
  text: z.string().exactOptional(),
})

/** One thing that is wrong with one row of a source. */
export const problemSchema = z.object({
  /** Number of the record in the source, 1-based; the header is not a record. */
  row: z.int(),
  /** Where that is in the source; absent until it is looked up. */
  place: sourcePlaceSchema.exactOptional(),
  /** Only for `not_unique`, `look_alike` and `unfit_fix`: where the other row is. */
  alsoAt: sourcePlaceSchema.exactOptional(),
  severity: severitySchema,
  /** The wire field it is about, such as `post_id`; absent when it is about the whole row. */
  field: z.string().exactOptional(),
  ...causeSchema.shape,
  /** What the code's words take that belongs to this row, such as the number of another row. */
  details: argsSchema.exactOptional(),
  /** What was found, cut to {@link FOUND_MAX_CHARACTERS}; absent if there is nothing to show. */
  found: z.string().exactOptional(),
})

export type Problem = z.infer<typeof problemSchema>

/** Problems of one cause, with the first rows that have it. */
export const problemGroupSchema = z.object({
  severity: severitySchema,
  ...causeSchema.shape,
  field: z.string().nullable(),
  /** Of a warning, rows that can be sent. */
  rows: z.int(),
  /** Rows with the warning that are not sent, since they are invalid as well; absent for none. */
  unsent: z.int().exactOptional(),
  /** Of rows that are not sent only if no others have the warning. */
  examples: z.array(problemSchema),
})

export type ProblemGroup = z.infer<typeof problemGroupSchema>

/** Longest excerpt of a cell that a problem carries, in UTF-16 code units. */
const FOUND_MAX_CHARACTERS = 80

/** Cuts a cell to what a problem may carry, never through a surrogate pair, and says so with an ellipsis. */
export function toFound(text: string): string {
  if (text.length <= FOUND_MAX_CHARACTERS) return text
  return `${text
    .slice(0, FOUND_MAX_CHARACTERS - 1)
    .toWellFormed()
    .replace(/\uFFFD$/, '')}…`
}

/** Where the row of a problem stands; without a place that was looked up, records are rows. */
export function getPlace({ row, place = { row, line: null } }: Pick<Problem, 'row' | 'place'>): SourcePlace {
  return place
}

/** The number of a problem's row, and the line if that is another: `17 (line 19)`. */
export function formatProblemRow(problem: Pick<Problem, 'row' | 'place'>): string {
  return formatRow(getPlace(problem))
}
