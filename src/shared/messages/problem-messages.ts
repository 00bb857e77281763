import type { ProblemCode } from '../run/problem.ts'

/** What each cause of problems is called, and what to do about it in the window. */
export const PROBLEM_MESSAGES: Record<ProblemCode, { title: string; remedy: string }> = {
  ragged_row: {
    title: 'Rows with a different number of cells',
    remedy:
      'Often an unquoted delimiter in the text. Look at the first row listed, and quote such cells in the file.',
  },
  undecodable_bytes: {
    title: 'Bytes that are not in this encoding',
    remedy: 'Go back to Source and choose the encoding that the file was saved in.',
  },
  broken_quotes: {
    title: 'Quotes that do not close',
    remedy: 'Double the quotes inside quoted cells, or go back to Source and check the delimiter.',
  },
  oversized_row: {
    title: 'Rows too large to read',
    remedy: 'Usually a quote that is never closed. Close it, or shorten the row or file.',
  },
  header_like_data: {
    title: 'The first line may be a row',
    remedy: 'If it names no columns, go back to Source and say that the file has no header.',
  },
  not_json: {
    title: 'Lines that are not a JSON object',
    remedy:
      'Every line of a JSON Lines file is one object, such as {"text_data": "hello"}. Correct these lines.',
  },
  duplicate_key: {
    title: 'A key that a line has twice',
    remedy: 'Only the last value is used. Use each key once in an object.',
  },
  number_precision: {
    title: 'Numbers with more than 15 digits',
    remedy: 'Spreadsheets keep 15 digits. Format the column as text, then enter these ids again.',
  },
  formula_without_value: {
    title: 'Formulas that were never calculated',
    remedy: 'Open the workbook in a spreadsheet program, save it, and choose it again.',
  },
  unknown_kind: {
    title: 'Files of an unknown kind',
    remedy: 'Text, JSON requests, images, videos and audio can be sent. Take other files out of the folder.',
  },
  outside_folder: {
    title: 'Links that lead out of the folder',
    remedy: 'Nothing outside the chosen folder is sent. Copy the files into it.',
  },
  unreadable_file: {
    title: 'Files that cannot be read',
    remedy: 'Check their permissions and that they still exist.',
  },
  empty_file: { title: 'Empty files', remedy: 'They have nothing to send. Take them out of the folder.' },
  video_too_long: {
    title: 'Videos over an hour',
    remedy: 'The service takes videos of up to one hour and may refuse these. Cut them.',
  },
  required: {
    title: 'A required field is missing',
    remedy: 'Fill the cell in the file, or give the field a column or one value for all rows in Mapping.',
  },
  forbidden_character: {
    title: 'A forbidden character in an id',
    remedy:
      'The service accepts neither _ nor ; here. Change the ids in the file, or build them from {{row}} in Mapping.',
  },
  one_of: {
    title: 'Content missing or given twice',
    remedy:
      'Content to submit needs text_data or url, one of the two; an item of an index needs url or media.',
  },
  not_unique: {
    title: 'Duplicate value',
    remedy:
      'Each row needs its own value: map another column or a template, or remove the duplicates from the file.',
  },
  not_distinct: {
    title: 'Ids that must differ are the same',
    remedy: 'group_id must differ from post_id and parent_id. Map other columns.',
  },
  not_json_object: {
    title: 'Not a JSON object',
    remedy: 'Write an object such as {"country": "NZ"}, or map single keys, as in user_metadata.country.',
  },
  not_a_url: {
    title: 'Not a web address',
    remedy: 'The service fetches the address itself: it must begin with http:// or https://.',
  },
  wrong_type: {
    title: 'A value of the wrong type in a whole request',
    remedy: 'Correct the JSON of these rows. The message says which type the service expects.',
  },
  too_long: { title: 'Too long', remedy: 'Shorten the cell to the maximum in the message.' },
  too_many_models: {
    title: 'More models than this version takes',
    remedy: 'v1 takes one model per request. Name one, or leave the field out.',
  },
  unknown_model: {
    title: 'A model that is not in the documentation',
    remedy: 'Check the spelling. Ids of your own custom indexes are fine in v2.',
  },
  model_not_listed: {
    title: 'A model that is not listed for this mode',
    remedy: 'The service may refuse it. Send the first 10 to find out.',
  },
  not_for_mode: {
    title: 'A field that is listed for the other mode only',
    remedy: 'Map it to send it, or leave its column out.',
  },
  not_for_api: {
    title: 'A field that is not for this version of the interface',
    remedy: 'Unmap the field in Mapping.',
  },
  recommended: {
    title: 'A recommended field is missing',
    remedy: 'Rows are sent without it. Map a column to it in Mapping if you have one.',
  },
  empty: { title: 'Empty cells', remedy: 'Fill the cells, or unmap the field in Mapping.' },
}

/** Whether a text is the code of a cause, as error groups of invalid rows carry it. */
export function isProblemCode(text: string): text is ProblemCode {
  return Object.hasOwn(PROBLEM_MESSAGES, text)
}
