import { expect, it } from 'vitest'
import { PROBLEM_MESSAGES, sayExpected } from '../../../src/shared/messages/problem-messages.ts'
import { type ProblemCode, problemCodeSchema } from '../../../src/shared/run/problem.ts'

/** The fields of a code that can be a warning, whose rows are sent; none if it never is. */
const WARNED = {
  ragged_row: [
    { cells: 2, than: 'header' },
    { cells: 1, than: 'usual' },
    { cells: 3, than: 'first_rows' },
  ],
  surplus_cells: [{ cells: 3, than: 'names', delimiter: ',' }],
  record_in_quotes: [],
  quotes_guessed: [{ quote: "'", escape: '\\' }],
  curly_quotes: [{}],
  empty_records: [{}],
  repeated_header: [],
  totals_row: [],
  half_again: [],
  description_row: [{ as: 'unlike' }, { as: 'names' }],
  footer_row: ['total', 'count', 'note'].map((as) => ({ as })),
  second_table: [{}],
  below_other_header: [],
  drawn_line: [],
  escaped_line_break: [{}],
  cut_by_line_break: [{}],
  stray_line_break: [{}],
  nul_character: [],
  zero_padding: [{ characters: 3 }],
  undecodable_bytes: [{ encoding: 'utf-8' }, { encoding: null }],
  uncertain_encoding: [{ encoding: 'utf-8', own: '`a` in utf-8', others: '`b` in cp850' }],
  stated_encoding: [
    { encoding: 'cp850', own: '`a` in cp850', others: '`b` in utf-8' },
    { encoding: 'windows-1252', own: '`a` in windows-1252', others: '', beyond: 'ascii' },
  ],
  broken_quotes: [{ effect: 'read_as_is' }, { effect: 'space_before' }],
  oversized_row: [],
  header_like_data: [{}, { by: 'only_name' }],
  title_rows: [{ row: 3 }],
  other_sheets: [{ sheet: 'Jan', others: '"Feb" (3 rows)' }],
  not_json: [],
  batch_request: [],
  duplicate_key: [{}],
  number_precision: [{}],
  formula_without_value: [{}],
  hidden_rows: [{}],
  hidden_columns: [{ columns: 'a' }],
  merged_cells: [{ begins: 'rows' }, { begins: 'header' }],
  covered_cells: [{ begins: 'rows' }, { begins: 'header' }],
  linked_cells: [{ column: 'a', linkColumn: 'link of a', cell: 'A2', address: null }],
  unknown_link: [{ column: 'a' }],
  unknown_kind: [],
  outside_folder: [],
  unreadable_file: [],
  empty_file: [],
  skipped_files: [{ files: 1 }, { files: 4, names: '.a.csv, .b/, ._c', more: 1 }],
  missing_columns: [{ columns: 'a', files: 'b.csv' }],
  source_changed: [{}],
  video_too_long: [{ maxHours: 1 }],
  required: [],
  forbidden_character: [],
  invisible_characters: [{}],
  quotes_in_id: [{}],
  fraction_in_id: [{}],
  lost_id: ['rounded', 'missing', 'boolean', 'date', 'grouped', 'wrapped', 'shortened'].map((as) => ({ as })),
  changed_value: ['missing', 'rounded', 'shortened', 'grouped', 'wrapped'].map((as) => ({ as })),
  id_precision: [{}],
  one_of: [],
  half_row: [{ without: 'url' }],
  content_not_sent: [
    { column: 'url', kept: 'body', keptField: 'text_data' },
    { column: '3' },
    { column: '3', heading: 'text_data' },
  ],
  inner_mark: [{}],
  guarded_text: [{}],
  moved_columns: [
    { column: 2, was: 3, now: 4 },
    { column: 2, wider: 'b.csv' },
    { column: 2, unlike: 'b.csv', looksLike: 'texts' },
  ],
  unsent_text: [{ column: 3 }],
  swapped_columns: [
    { column: 'a', field: 'user_id', looksLike: 'texts' },
    { column: 'a', field: 'text_data', looksLike: 'addresses' },
  ],
  rows_in_key: [{ key: 'results', objects: 2, filter: '.results[]', kept: 'text_data=text' }],
  not_unique: [],
  same_item: [{ effect: 'adds' }, { effect: 'removes' }],
  look_alike: [{ of: 'term' }, { of: 'id' }],
  not_distinct: [],
  ambiguous_column: [{ columns: [1, 2] }],
  shadowed_column: [{ name: 'row' }],
  alike_column: [{ column: 'Group_ID', kept: 'group_id', field: 'group_id' }],
  not_json_object: [],
  doubled_json_key: [{}],
  json_as_text: [{}],
  kept_in_request: [{}],
  invalid_before: [{}],
  json_in_text: [],
  not_a_url: [],
  several_urls: [{}],
  wrong_type: [],
  error_cell: [{ isContent: true }],
  cut_cell: [{}],
  damaged_text: [{ as: 'replaced' }, { as: 'decoded_wrongly' }],
  too_long: [],
  too_many_models: [],
  other_models: [{ models: 'text' }],
  unknown_model: [{ isList: true }],
  model_not_listed: [{ mode: 'async' }],
  not_for_mode: [
    { mode: 'async', isSent: true },
    { mode: 'async', isSent: false },
  ],
  not_for_api: [{ api: 'v2' }, { api: null }],
  recommended: ['value', 'source', 'all_that_changes', 'only_requests'].map((lack) => ({ lack })),
  empty: [{}],
  maybe_sent: [{ by: 'post_id' }, { by: 'user_id+text_data' }],
  earlier_run_unread: [{ runs: '20260930-120000-abcdefg' }],
  unfit_fix: ['cell', 'leave_out_row'].flatMap((fix) =>
    ['other_row', 'other_text', 'no_row', 'unmarked'].map((why) => ({ fix, why })),
  ),
} satisfies Record<ProblemCode, readonly object[]>

it.each(problemCodeSchema.options)('says what a row with the warning %s is, not what it must be', (code) => {
  for (const args of WARNED[code]) {
    for (const surface of ['terminal', 'window'] as const) {
      const said = sayExpected({ code, args: args as Record<string, string> }, surface)
      expect(said).toMatch(/^\S/)
      expect(said).not.toMatch(/\bmust\b|undefined/)
    }
  }
})

it('says how to remove signs around ids, and not that the original is lost', () => {
  const cause = { code: 'lost_id', args: { as: 'wrapped' } } as const
  for (const surface of ['terminal', 'window'] as const) {
    const said = sayExpected(cause, surface)
    expect(said).toMatch(/remove them from the file, or export it again without them/i)
    expect(said).not.toContain('as text')
  }
  expect(PROBLEM_MESSAGES.lost_id.remedy).not.toContain('no longer has')
})
