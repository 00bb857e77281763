import type { ProblemCode } from '../../../shared/run/problem.ts'

/** What a cause of problems is called, and what to do about it. */
export interface ProblemAdvice {
  title: string
  fix: string
}

const ADVICE: Record<ProblemCode, ProblemAdvice> = {
  ragged_row: {
    title: 'Rows with a different number of cells',
    fix: 'Often an unquoted delimiter in the text. Look at the first row listed, and quote such cells in the file.',
  },
  undecodable_bytes: {
    title: 'Bytes that are not in this encoding',
    fix: 'Go back to Source and choose the encoding the file was saved in.',
  },
  broken_quotes: {
    title: 'Quotes that do not close',
    fix: 'Double the quotes inside quoted cells, or go back to Source and check the delimiter.',
  },
  oversized_row: {
    title: 'Rows too large to read',
    fix: 'In a table, usually a quote that is never closed. Close it, or shorten the row or file named.',
  },
  header_like_data: {
    title: 'The first line may be a row',
    fix: 'If it names no columns, go back to Source and say that the file has no header.',
  },
  not_json: {
    title: 'Lines that are not a JSON object',
    fix: 'Every line of a JSON Lines file is one object, such as {"text_data": "hello"}. Mend the lines named.',
  },
  duplicate_key: {
    title: 'A key that stands twice in a line',
    fix: 'Only the last value is used. Give each key of an object once.',
  },
  number_precision: {
    title: 'Numbers with more than 15 digits',
    fix: 'Spreadsheets keep 15 digits. Format the column as text, and enter such ids again.',
  },
  formula_without_value: {
    title: 'Formulas that were never calculated',
    fix: 'Open the workbook in a spreadsheet program, save it, and choose it again.',
  },
  unknown_kind: {
    title: 'Files of an unknown kind',
    fix: 'Text, JSON requests, images, videos and audio can be sent. Take other files out of the folder.',
  },
  outside_folder: {
    title: 'Links that lead out of the folder',
    fix: 'Nothing outside the chosen folder is sent. Copy the files into it.',
  },
  unreadable_file: {
    title: 'Files that cannot be read',
    fix: 'Check who may read them, and whether they are still there.',
  },
  empty_file: { title: 'Empty files', fix: 'There is nothing to send. Take them out of the folder.' },
  video_too_long: {
    title: 'Videos over an hour',
    fix: 'The service takes videos of up to one hour and may refuse these. Cut them.',
  },
  required: {
    title: 'A required field is missing',
    fix: 'Fill the cell in the file, or give the field a column or one value for all rows in Mapping.',
  },
  forbidden_character: {
    title: 'A forbidden character in an id',
    fix: 'The service accepts neither _ nor ; here. Change the ids in the file, or build them from {{row}} in Mapping.',
  },
  one_of: {
    title: 'Content missing or given twice',
    fix: 'Content to submit needs text_data or url, one of the two; an item of an index needs url or media.',
  },
  not_unique: {
    title: 'Duplicate value',
    fix: 'Each row needs a value of its own: map another column or a template, or remove the duplicates from the file.',
  },
  not_distinct: {
    title: 'Ids that must differ are the same',
    fix: 'group_id must differ from post_id and parent_id. Map other columns.',
  },
  not_json_object: {
    title: 'Not a JSON object',
    fix: 'Write an object such as {"country": "NZ"}, or map single keys, as in user_metadata.country.',
  },
  not_a_url: {
    title: 'Not a web address',
    fix: 'The service fetches the address itself: it must begin with http:// or https://.',
  },
  wrong_type: {
    title: 'A value of the wrong type in a whole request',
    fix: 'Correct the JSON of the rows named: the message says which type the service takes.',
  },
  too_long: { title: 'Too long', fix: 'Shorten the cell to the length given.' },
  too_many_models: {
    title: 'More models than this version takes',
    fix: 'v1 takes one model a request. Name one, or leave the field out.',
  },
  unknown_model: {
    title: 'A model the interface does not list',
    fix: 'Check the spelling. Ids of your own custom indexes are fine in v2.',
  },
  model_not_listed: {
    title: 'A model that is not listed for this mode',
    fix: 'The service may refuse it. Send the first 10 to find out.',
  },
  not_for_mode: {
    title: 'A field that is listed for the other mode only',
    fix: 'Map it to send it, or leave its column out.',
  },
  not_for_api: {
    title: 'A field that is not for this version of the interface',
    fix: 'Unmap the field in Mapping.',
  },
  recommended: {
    title: 'A recommended field is missing',
    fix: 'Rows are sent without it. Map a column to it in Mapping if you have one.',
  },
  empty: { title: 'Empty cells', fix: 'Fill the cells, or unmap the field in Mapping.' },
}

/** Whether a text is the code of a cause, as error groups of invalid rows carry it. */
export function isProblemCode(text: string): text is ProblemCode {
  return Object.hasOwn(ADVICE, text)
}

/** The advice for one cause. */
export function adviceForProblem(code: ProblemCode): ProblemAdvice {
  return ADVICE[code]
}
