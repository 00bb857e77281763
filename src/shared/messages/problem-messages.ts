import { formatRowPlace, type Problem, type ProblemCode } from '../run/problem.ts'
import type { RequestField } from '../service/request-field.ts'
import { chooseWording, type Surface, type Wording } from './error-entry.ts'
import { formatCount, formatCounted } from './figure-text.ts'

/** What there is to say about a code of problems. */
interface ProblemEntry {
  /** What was expected. The arguments belong to the cause; the details to one row, and are left out of a group. */
  expected: (args: never, details?: never) => Wording
  /** What the cause is called in the window, and what to do about it there. */
  title: string
  remedy: string
}

/** What a line of JSON lacks at the place where it stops being an object. */
const JSON_EXPECTATIONS = {
  object: 'an object, which begins with {',
  key: 'a key in double quotes',
  colon: 'a colon behind the key',
  value: 'a value: text in double quotes, a number, true, false, null, an object or an array',
  valid_value: 'valid JSON in the value that begins here',
  comma: 'a comma or } behind the value',
  end: 'nothing more behind the object',
  closing_quote: 'the quote that closes the text',
  closing_brace: 'the } that closes the value',
  closing_bracket: 'the ] that closes the value',
}

/** One of the things that a line of JSON may lack. */
export type JsonExpectation = keyof typeof JSON_EXPECTATIONS

/** Each code of problems with its words. */
export const PROBLEM_MESSAGES = {
  ragged_row: {
    expected: ({ cells, than }: { cells: number; than: 'header' | 'usual' | 'first_rows' }) =>
      than === 'first_rows'
        ? `must have at most ${cells} cells, as the first rows`
        : `must have ${formatCounted(cells, 'cell')}, ${than === 'header' ? 'as the header has' : 'as most rows have'}`,
    title: 'Rows with a different number of cells',
    remedy:
      'Often an unquoted delimiter in the text. Look at the first row listed, and quote such cells in the file.',
  },
  undecodable_bytes: {
    // Without an encoding it is an escape in JSON.
    expected: ({ encoding }: { encoding: string | null }) =>
      `must be valid ${encoding ?? 'Unicode: an escape stands for half a character'}; what does not decode became U+FFFD`,
    title: 'Bytes that are not in this encoding',
    remedy: 'Go back to Source and choose the encoding that the file was saved in.',
  },
  broken_quotes: {
    expected: ({ effect }: { effect: 'read_as_is' | 'may_take_in_rows' | 'never_closed' }) =>
      ({
        read_as_is: 'must double the quotes inside a quoted cell; the cell is read as it stands',
        may_take_in_rows:
          'must double the quotes inside a quoted cell; rows that follow may have become part of this one',
        never_closed:
          'must close the quote that it opens; everything up to the end of the file is in this row',
      })[effect],
    title: 'Quotes that do not close',
    remedy: 'Double the quotes inside quoted cells, or go back to Source and check the delimiter.',
  },
  oversized_row: {
    expected: ({ of }: { of: 'line' | 'file' }, line?: { number: number; characters: number }) =>
      of === 'file'
        ? 'must be at most 8 MiB'
        : `must have at most 8,388,608 characters (8 MiB)${line === undefined ? '' : `; line ${line.number} has ${formatCount(line.characters)}`}`,
    title: 'Rows too large to read',
    remedy: 'Usually a quote that is never closed. Close it, or shorten the row or file.',
  },
  header_like_data: {
    expected: () =>
      'the line above must name the columns; it looks like a row itself, which would not be sent',
    title: 'The first line may be a row',
    remedy: 'If it names no columns, go back to Source and say that the file has no header.',
  },
  not_json: {
    expected: ({ expected }: { expected: JsonExpectation }, at?: { line: number; character: number }) =>
      `must be one JSON object; ${at === undefined ? '' : `line ${at.line}, character ${at.character}: `}expected ${JSON_EXPECTATIONS[expected]}`,
    title: 'Lines that are not a JSON object',
    remedy:
      'Every line of a JSON Lines file is one object, such as {"text_data": "hello"}. Correct these lines.',
  },
  duplicate_key: {
    expected: () => 'must have each key once; the last value is used',
    title: 'A key that a line has twice',
    remedy: 'Only the last value is used. Use each key once in an object.',
  },
  number_precision: {
    expected: () => 'must be text where it has more than 15 digits; a spreadsheet changes the rest',
    title: 'Numbers with more than 15 digits',
    remedy: 'Spreadsheets keep 15 digits. Format the column as text, then enter these ids again.',
  },
  formula_without_value: {
    expected: () => 'must have a calculated value; the cell is read as empty',
    title: 'Formulas that were never calculated',
    remedy: 'Open the workbook in a spreadsheet program, save it, and choose it again.',
  },
  unknown_kind: {
    expected: ({ isFile }: { isFile: boolean }) =>
      isFile ? 'must be text, JSON, an image, a video or audio' : 'must be a file',
    title: 'Files of an unknown kind',
    remedy: 'Text, JSON requests, images, videos and audio can be sent. Take other files out of the folder.',
  },
  outside_folder: {
    expected: () => 'must be inside the folder; the link leads out of it',
    title: 'Links that lead out of the folder',
    remedy: 'Nothing outside the chosen folder is sent. Copy the files into it.',
  },
  unreadable_file: {
    expected: () => 'must be readable',
    title: 'Files that cannot be read',
    remedy: 'Check their permissions and that they still exist.',
  },
  empty_file: {
    expected: () => 'must hold something to send',
    title: 'Empty files',
    remedy: 'They have nothing to send. Take them out of the folder.',
  },
  video_too_long: {
    expected: ({ maxHours }: { maxHours: number }) => `must be at most ${maxHours} hour long`,
    title: 'Videos over an hour',
    remedy: 'The service takes videos of up to one hour and may refuse these. Cut them.',
  },
  required: {
    expected: ({ lack }: { lack: 'value' | 'address' }) =>
      lack === 'value'
        ? 'is required, and is empty'
        : {
            terminal:
              'is a file without an address; name a template for it (--media-template), or let the media host serve it (--media-host)',
            window:
              'is a file without an address; give a template for its address, or let the media host serve it',
          },
    title: 'A required field is missing',
    remedy: 'Fill the cell in the file, or give the field a column or one value for all rows in Mapping.',
  },
  forbidden_character: {
    expected: ({ of }: { of: 'id' | 'path' }) =>
      of === 'id'
        ? 'must not contain `_` or `;`'
        : 'must not be "." or "..", which would lead to another path',
    title: 'A forbidden character in an id',
    remedy:
      'The service accepts neither _ nor ; here. Change the ids in the file, or build them from {{row}} in Mapping.',
  },
  one_of: {
    expected: ({ one, other, isExclusive }: { one: string; other: string; isExclusive: boolean }) =>
      isExclusive ? `must have exactly one of ${one} and ${other}` : `must have ${one} or ${other}`,
    title: 'Content missing or given twice',
    remedy:
      'Content to submit needs text_data or url, one of the two; an item of an index needs url or media.',
  },
  not_unique: {
    expected: ({ ignoresCase }: { ignoresCase: boolean }, also?: { row: number }) =>
      `must be unique within the source${ignoresCase ? ', where upper and lower case are the same' : ''}${also === undefined ? '' : `, is also in row ${also.row}`}`,
    title: 'Duplicate value',
    remedy:
      'Each row needs its own value: map another column or a template, or remove the duplicates from the file.',
  },
  not_distinct: {
    expected: (from: { field: string } | { columns: number[] }) =>
      'field' in from
        ? `must differ from ${from.field}`
        : `has the same name in columns ${from.columns.join(' and ')}; column ${from.columns[0]} is used. Map the one that is meant by its number`,
    title: 'Ids that must differ are the same',
    remedy: 'group_id must differ from post_id and parent_id. Map other columns.',
  },
  not_json_object: {
    expected: () => 'must be a JSON object',
    title: 'Not a JSON object',
    remedy: 'Write an object such as {"country": "NZ"}, or map single keys, as in user_metadata.country.',
  },
  not_a_url: {
    expected: () => 'must be an http or https URL',
    title: 'Not a web address',
    remedy: 'The service fetches the address itself: it must begin with http:// or https://.',
  },
  wrong_type: {
    expected: ({ kind }: { kind: RequestField['kind'] }) =>
      ({
        string: 'must be a string',
        json_object: 'must be a JSON object',
        string_array: 'must be an array of strings',
      })[kind],
    title: 'A value of the wrong type in a whole request',
    remedy: 'Correct the JSON of these rows. The message says which type the service expects.',
  },
  too_long: {
    expected: ({ max }: { max: number }, found?: { characters: number }) =>
      `must have at most ${max} characters${found === undefined ? '' : `, and has ${found.characters}`}`,
    title: 'Too long',
    remedy: 'Shorten the cell to the maximum in the message.',
  },
  too_many_models: {
    expected: () => 'must name at most one model in v1',
    title: 'More models than this version takes',
    remedy: 'v1 takes one model per request. Name one, or leave the field out.',
  },
  unknown_model: {
    expected: ({ isList }: { isList: boolean }) =>
      isList
        ? 'must be a listed model; a custom index takes v2'
        : 'must be names of models, or a JSON array of them',
    title: 'A model that is not in the documentation',
    remedy: 'Check the spelling. Ids of your own custom indexes are fine in v2.',
  },
  model_not_listed: {
    expected: ({ mode }: { mode: string }) => `must be a model that is listed for ${mode}`,
    title: 'A model that is not listed for this mode',
    remedy: 'The service may refuse it. Send the first 10 to find out.',
  },
  not_for_mode: {
    expected: ({ mode, isSent }: { mode: string; isSent: boolean }) =>
      `is listed for ${mode} only; ${isSent ? 'it is sent as it is' : 'the column of that name is left out unless it is mapped'}`,
    title: 'A field that is listed for the other mode only',
    remedy: 'Map it to send it, or leave its column out.',
  },
  not_for_api: {
    // Without a version it is a field that none has.
    expected: ({ api }: { api: 'v2' | null }) =>
      api === null
        ? 'is no field of the interface; it is sent as it is'
        : `is not among the fields that ${api} lists; it is sent as it is`,
    title: 'A field that is not for this version of the interface',
    remedy: 'Unmap the field in Mapping.',
  },
  recommended: {
    expected: ({ lack }: { lack: 'value' | 'source' | 'all_that_changes' | 'only_requests' }) =>
      ({
        value: 'is recommended on every request, and is empty',
        source: 'is recommended on every request, and nothing fills it',
        all_that_changes: 'is all that an update changes, and nothing fills it',
        only_requests: 'is required, and nothing but whole requests fills it',
      })[lack],
    title: 'A recommended field is missing',
    remedy: 'Rows are sent without it. Map a column to it in Mapping if you have one.',
  },
  empty: {
    expected: () => 'holds nothing but white space',
    title: 'Empty cells',
    remedy: 'Fill the cells, or unmap the field in Mapping.',
  },
} satisfies Record<ProblemCode, ProblemEntry>

type Parts<Code extends ProblemCode> = Parameters<(typeof PROBLEM_MESSAGES)[Code]['expected']>

/** A code with the arguments and details that its words take. */
export type ProblemCause = {
  [Code in ProblemCode]: { code: Code } & (Parts<Code> extends []
    ? unknown
    : Parts<Code> extends [infer Args]
      ? { args: Args }
      : Parts<Code> extends [infer Args, (infer Details)?]
        ? { args: Args; details?: NonNullable<Details> }
        : never)
}[ProblemCode]

/** A problem as sources and mappings find it. */
export type FoundProblem = Pick<Problem, 'row' | 'severity' | 'field' | 'found'> & ProblemCause

/** A problem of a whole plan instead of one row. */
export type PlanWarning = Pick<Problem, 'severity' | 'field' | 'found'> & ProblemCause

/** What was expected, in words for one surface, as in "must not contain `_` or `;`". */
export function sayExpected(
  { code, args = {}, details, text }: Pick<Problem, 'code' | 'args' | 'details' | 'text'>,
  surface: Surface,
): string {
  if (text !== undefined) return text
  const entry: ProblemEntry = PROBLEM_MESSAGES[code]
  return chooseWording(entry.expected(args as never, details as never), surface)
}

/** The sentence a person reads: "row 17, post_id: must not contain `_` or `;`, found `a_b`". */
export function formatProblem(problem: Problem): string {
  const row = `row ${formatRowPlace(problem)}`
  const where = problem.field === undefined ? row : `${row}, ${problem.field}`
  const found = problem.found === undefined ? '' : `, found \`${problem.found}\``
  return `${where}: ${sayExpected(problem, 'terminal')}${found}`
}

/** A problem or group as programs read it: with what was expected in words, in the place of arguments. */
export function toWorded<Worded extends Pick<Problem, 'code' | 'args' | 'details' | 'text'>>(
  problem: Worded,
): Omit<Worded, 'args' | 'details' | 'text'> & { message: string } {
  const { args: _args, details: _details, text: _text, ...rest } = problem
  return { ...rest, message: sayExpected(problem, 'terminal') }
}

/** Whether a text is the code of a cause, as error groups of invalid rows carry it. */
export function isProblemCode(text: string): text is ProblemCode {
  return Object.hasOwn(PROBLEM_MESSAGES, text)
}
