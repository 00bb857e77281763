import { z } from 'zod'
import { formatRow, type SourcePlace, sourcePlaceSchema } from '../plan/source-place.ts'

/** Whether a problem keeps a row from being sent (`error`) or is only reported (`warning`). */
const severitySchema = z.enum(['error', 'warning'])

export type Severity = z.infer<typeof severitySchema>

/** Problems that only readers of a source can find: checking a row again starts from its cells. */
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
  'half_again',
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

/** Stable codes of what can be wrong with a row; screens and summaries group problems by these. */
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
  'same_item',
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
  'other_models',
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
  /** Arguments for the code's words (`messages/problem-messages.ts`); absent if there are none. */
  args: argsSchema.exactOptional(),
  /** Words from a journal of an earlier version, which stored these instead of arguments. */
  text: z.string().exactOptional(),
})

/** One thing that is wrong with one row of a source. */
export const problemSchema = z.object({
  /** Number of the record in the source, 1-based; the header is not a record. */
  row: z.int(),
  /** Its place in the source; absent until it is looked up. */
  place: sourcePlaceSchema.exactOptional(),
  /** The other row's place, only for `not_unique`, `same_item`, `look_alike` and `unfit_fix`. */
  alsoAt: sourcePlaceSchema.exactOptional(),
  severity: severitySchema,
  /** The wire field, such as `post_id`; absent if the problem concerns the whole row. */
  field: z.string().exactOptional(),
  ...causeSchema.shape,
  /** Arguments for the code's words that belong to this row, such as the number of another row. */
  details: argsSchema.exactOptional(),
  /** What was found, cut to {@link FOUND_MAX_CHARACTERS}; absent if there is nothing to show. */
  found: z.string().exactOptional(),
})

export type Problem = z.infer<typeof problemSchema>

/** Problems with the same cause, with the first rows that have it. */
export const problemGroupSchema = z.object({
  severity: severitySchema,
  ...causeSchema.shape,
  field: z.string().nullable(),
  /** For a warning, only rows that can be sent. */
  rows: z.int(),
  /** Rows with the warning that are invalid too, and so are not sent; absent if there are none. */
  unsent: z.int().exactOptional(),
  /** Unsent rows are examples only if no sent row has the warning. */
  examples: z.array(problemSchema),
})

export type ProblemGroup = z.infer<typeof problemGroupSchema>

/** Longest excerpt of a cell in a problem, in UTF-16 code units. */
const FOUND_MAX_CHARACTERS = 80

/** Cuts a cell to a problem's excerpt, never inside a surrogate pair, and marks the cut with an ellipsis. */
export function toFound(text: string): string {
  if (text.length <= FOUND_MAX_CHARACTERS) return text
  return `${text
    .slice(0, FOUND_MAX_CHARACTERS - 1)
    .toWellFormed()
    .replace(/\uFFFD$/, '')}…`
}

/** The place of a problem's row; the record's number if no place was looked up. */
export function getPlace({ row, place = { row, line: null } }: Pick<Problem, 'row' | 'place'>): SourcePlace {
  return place
}

/** The number of a problem's row, and its line if that differs: `17 (line 19)`. */
export function formatProblemRow(problem: Pick<Problem, 'row' | 'place'>): string {
  return formatRow(getPlace(problem))
}
