import type { OneRowFix } from '../plan/fixes.ts'
import { formatRow, type RowAndRecord, toRowAndRecord } from '../plan/source-place.ts'
import { formatProblemRow, getPlace, type Problem, type ProblemCode } from '../run/problem.ts'
import { sayKey } from '../run/sent-before.ts'
import type { RequestField } from '../service/request-field.ts'
import { chooseWording, type Surface } from './error-entry.ts'
import { formatCount, formatCounted } from './figure-text.ts'
import { ID_PROBLEMS, type ProblemEntry } from './id-problems.ts'
import { JSON_EXPECTATIONS, type JsonExpectation } from './json-expectations.ts'
import { sayToOwnFile } from './mapping-messages.ts'
import { RECORD_PROBLEMS } from './record-problems.ts'

type MergedWith = { begins: 'rows' | 'header' }

/** Names of a row's merged cells and of the first cell of each, such as `B3` and `B2`. */
type MergedNames = { cells: string; first: string; count: number }

/** A column with unsent content: one like another that was used instead, or one without a name. */
type LostContent = { column: string; kept: string; keptField: string } | UnnamedColumn

/** `column` is its number; `heading` is in merged cells above it. */
type UnnamedColumn = { column: string; heading?: string }

/** Every problem code with its words. */
export const PROBLEM_MESSAGES = {
  ...ID_PROBLEMS,
  ...RECORD_PROBLEMS,
  undecodable_bytes: {
    // Without an encoding, it is about an escape in JSON.
    expected: ({ encoding }: { encoding: string | null }) =>
      encoding === null
        ? 'has an escape of half a character (an unpaired surrogate), which was replaced by U+FFFD'
        : `has bytes that are not valid ${encoding}; they were replaced by U+FFFD`,
    title: 'Bytes that are not valid in this encoding',
    remedy:
      'Go back to Source and choose the encoding that the file was saved in. If that is the one, correct these characters in the file.',
    needs: 'content_cut',
    advice: ({ encoding }: { encoding: string | null }) =>
      encoding === null
        ? 'to send the whole text, correct the escape in the source'
        : `if the file is in another encoding than ${encoding}, add --encoding NAME; if not, correct these bytes in the file`,
  },
  uncertain_encoding: {
    // Runs of earlier versions lack `own`, the words as this encoding reads them.
    expected: ({ encoding, own, others }: { encoding: string; own?: string; others: string }) => {
      const words = own === undefined ? `the same words are ${others}` : `the words are ${own}, ${others}`
      const fact = `is read as ${encoding}, which is uncertain: ${words}`
      return { terminal: `${fact}. Pass --encoding NAME with the one that reads right`, window: fact }
    },
    title: 'An encoding that is uncertain',
    remedy: 'Go back to Source and choose the encoding in which the words read right.',
    needs: 'encoding_uncertain',
  },
  stated_encoding: {
    // `beyond` is the stated name for ASCII, if the file has non-ASCII bytes.
    expected: (args: { encoding: string; own: string; others: string; beyond?: string }) => {
      const words = args.others === '' ? args.own : `${args.own}, ${args.others}`
      const fact =
        args.beyond === undefined
          ? `is read as ${args.encoding} as stated, but looks like another encoding: the words are ${words}`
          : `is read as ${args.encoding}, because it has characters that the stated ${args.beyond} lacks: the words are ${words}`
      return {
        terminal: `${fact}. To have Sluice find the encoding of each file, state none`,
        window: fact,
      }
    },
    title: 'A stated encoding that does not fit',
    remedy: 'Go back to Source and choose the encoding in which the words read right.',
    needs: 'encoding_uncertain',
  },
  oversized_row: {
    expected: ({ of }: { of: 'line' | 'file' }, line?: { number: number; characters: number }) =>
      of === 'file'
        ? 'must be at most 8 MiB'
        : `must have at most 8,388,608 characters (8 MiB)${line === undefined ? '' : `; line ${line.number} has ${formatCount(line.characters)}`}`,
    title: 'Rows too large to read',
    remedy: 'The usual cause is a quote that is never closed. Close it, or shorten the row or file.',
  },
  header_like_data: {
    expected: ({ by }: { by?: 'only_name' }) => {
      const doubt =
        by === undefined
          ? 'the header line is read as column names and is not sent, but it looks like a row'
          : 'the first line is read as the name of the only column and is not sent, but no field has that name'
      return {
        terminal: `${doubt}; pass --no-header if it is one, or --header-row NUMBER with its number if it is not`,
        window: doubt,
      }
    },
    title: 'The first line may be a row',
    remedy: 'If it is a row, go back to Source and turn the header off.',
    needs: 'content_cut',
    counts: 'unsent',
  },
  title_rows: {
    expected: ({ row }: { row: number }) => ({
      terminal: `row ${row} looks like the header, but is read as a row; pass --header-row ${row}, or --header-row 1 if it is one`,
      window: `row ${row} looks like the header, but is read as a row`,
    }),
    title: 'A row that looks like the header',
    remedy: 'Go back to Source and choose the row with the column names.',
  },
  other_sheets: {
    expected: ({ sheet, others }: { sheet: string; others: string }) => {
      const lost = `other sheets with the same columns are not sent: ${others}; only "${sheet}" is read`
      return {
        terminal: `${lost}. To send them, or this sheet alone, pass --sheet NAME, a run for each sheet`,
        window: lost,
      }
    },
    title: 'Rows in other sheets',
    remedy: 'Each sheet is a separate run: choose the sheet to send in Source.',
    needs: 'content_cut',
    counts: 'unsent',
  },
  not_json: {
    expected: ({ expected }: { expected: JsonExpectation }, at?: { line: number; character: number }) =>
      `must be one JSON object; ${at === undefined ? '' : `line ${at.line}, character ${at.character}: `}expected ${JSON_EXPECTATIONS[expected]}`,
    title: 'Rows that are not a JSON object',
    remedy:
      'Every line of a JSON Lines file, and every element of a JSON array, is one object, such as {"text_data": "hello"}.',
  },
  batch_request: {
    expected: ({ part }: { part: 'url' | 'method' | 'input' }) =>
      ({
        url: 'must be a request to /v1/moderations',
        method: 'must have the method POST',
        input: 'must have texts and images as input',
      })[part],
    title: 'Lines that are not moderation requests',
    remedy:
      'Each line of a batch is a request such as {"custom_id": "1", "method": "POST", "url": "/v1/moderations", "body": {"input": "hello"}}. Put other requests in a separate file, or read the file as plain JSON Lines.',
  },
  duplicate_key: {
    expected: () => 'has a key more than once; its last value is used',
    title: 'A key that occurs twice in a line',
    remedy: 'Only the last value is used. Use each key once in an object.',
  },
  number_precision: {
    expected: () =>
      'is stored as a number with more than 15 digits; spreadsheets change all digits after the 15th',
    title: 'Numbers with more than 15 digits',
    remedy: 'Spreadsheets keep 15 digits. Format the column as text, then enter these ids again.',
  },
  formula_without_value: {
    expected: () => ({
      terminal:
        'has a formula that was never calculated; the cell is read as empty. Open and save the workbook in a spreadsheet program',
      window: 'has a formula that was never calculated; the cell is read as empty',
    }),
    title: 'Formulas that were never calculated',
    remedy: 'Open the workbook in a spreadsheet program, save it, and choose it again.',
  },
  hidden_rows: {
    expected: () => 'the spreadsheet hides the row, but it is sent',
    title: 'Rows that are hidden in the spreadsheet',
    remedy:
      'A filter or a person hid these rows. To leave them out, go back to Source and read visible rows only.',
    needs: 'hidden_rows',
    advice: () => 'to send such rows, add --rows all; to leave them out, --rows visible',
  },
  hidden_columns: {
    expected: ({ columns }: { columns: string }) =>
      `has hidden columns (${columns}); they are read like the visible ones`,
    title: 'Columns that are hidden in the spreadsheet',
    remedy: 'Check in Mapping that no field is filled from a column that you did not mean to send.',
  },
  merged_cells: {
    expected: ({ begins }: MergedWith, at?: MergedNames) => {
      if (at !== undefined) {
        const { cells, first, count } = at
        return `${cells} ${count === 1 ? 'is empty because it is' : 'are empty because they are'} merged with ${first}`
      }
      if (begins === 'header') return 'the row has empty cells that are merged with the header'
      const fact = 'the row has empty cells that are merged with another'
      return {
        terminal: `${fact}; to fill them with its text, add --merged fill, or --merged empty if they are meant to be empty`,
        window: fact,
      }
    },
    title: 'Cells that are empty because they are merged',
    remedy:
      'Only the first of merged cells has the text. To fill the others with it, go back to Source and choose “Fill with the first” for merged cells.',
  },
  covered_cells: {
    expected: ({ begins }: MergedWith, at?: MergedNames) => {
      if (at === undefined)
        return `the row has a text that the spreadsheet does not show, because its cell is merged with ${begins === 'header' ? 'the header' : 'another'}; it is read like the others`
      const { cells, first, count } = at
      return `${cells} ${count === 1 ? 'has a text' : 'have texts'} that the spreadsheet does not show, because ${count === 1 ? 'it is' : 'they are'} merged with ${first}`
    },
    title: 'Texts that merged cells hide',
    remedy:
      'The spreadsheet shows only the text of the first of merged cells, and keeps those of the others. Unmerge them, see which text is right, and choose the file again.',
  },
  linked_cells: {
    expected: (args: { column: string; linkColumn: string; cell: string; address: string | null }) => {
      const fact = `cells of the column \`${args.column}\` have links that are not sent, such as ${args.cell}`
      return {
        terminal: `${fact}: ${args.address === null ? 'its link is made by a formula' : `its link is ${args.address}`}. To send the links, map the column \`${args.linkColumn}\`, as in --map 'url=${args.linkColumn}'`,
        window: `${fact}; the column \`${args.linkColumn}\` has them`,
      }
    },
    title: 'Cells with links that are not sent',
    remedy: 'Their texts are read. To send the links instead, choose the column with the links in Mapping.',
  },
  unknown_link: {
    expected: ({ column }: { column: string }) =>
      `cannot read the link of the cell in \`${column}\`: it has two, or a formula makes it of other cells`,
    title: 'Links that cannot be read',
    remedy:
      'Give the cell one link in the spreadsheet, or put the address into a separate column, and choose the file again.',
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
    expected: () => 'must not be empty',
    title: 'Empty files',
    remedy: 'Fill these files, or take them out of the folder.',
  },
  skipped_files: {
    expected: ({ files, names, more = 0 }: { files: number; names?: string; more?: number }) => {
      const counted =
        files === 1 ? 'a hidden file or folder was' : `${formatCount(files)} hidden files or folders were`
      // Journals of earlier versions have no names.
      if (names === undefined) return `${counted} skipped, such as .DS_Store or ~$book.xlsx`
      return `${counted} skipped: ${names}${more > 0 ? ` and ${formatCount(more)} more` : ''}`
    },
    title: 'Hidden files, skipped',
    remedy: 'Rename a file or folder that you want to send.',
    counts: 'unsent',
  },
  missing_columns: {
    expected: ({ columns, files, others }: { columns: string; files: string; others?: string }) =>
      `missing in ${files}: column ${columns}${others === undefined ? '' : ` (other files lack its ${others})`}; cells there are empty`,
    title: 'Files without some of the columns',
    remedy:
      'Rows of these files have empty cells in these columns. If a column has another name there, rename it, or send these files separately.',
    counts: 'all',
  },
  source_changed: {
    expected: () => 'is of a file that changed while it was read, so that rows may be cut or missing',
    title: 'A file that changed while it was read',
    remedy: 'Wait until nothing writes to the file any more, then choose it again.',
    needs: 'content_cut',
    advice: () => 'once nothing writes to the file any more, run the command again',
  },
  video_too_long: {
    expected: ({ maxHours }: { maxHours: number }) =>
      `is longer than ${maxHours} hour, the longest that the service accepts; it is sent anyway`,
    title: 'Videos longer than an hour',
    remedy: 'The service accepts videos of up to one hour and may refuse longer ones. Shorten them.',
  },
  required: {
    expected: ({ lack }: { lack: 'value' | 'address' }) =>
      lack === 'value'
        ? 'is required but empty'
        : {
            terminal:
              'is a file and needs an address; pass --media-template TEMPLATE, or let Sluice serve the file with --media-host',
            window:
              'is a file and needs an address; enter a template for its address, or let Sluice serve the file',
          },
    title: 'A required field is missing',
    remedy:
      'Edit the rows, or set one value for all of them. Or, in Mapping, choose another column for the field.',
  },
  one_of: {
    expected: (args: {
      one: string
      other: string
      isExclusive: boolean
      /** The mapped one of the two, if only one is. */
      only?: string
    }) =>
      args.only !== undefined
        ? `must have ${args.only}, which is empty`
        : args.isExclusive
          ? `must have exactly one of ${args.one} and ${args.other}`
          : `must have ${args.one} or ${args.other}`,
    title: 'Content missing or given twice',
    remedy:
      'To submit content, send either text_data or url, not both. To add an item to an index, fill url or media.',
  },
  half_row: {
    expected: ({ without }: { without: 'text_data' | 'url' }) =>
      `is sent without the ${without} of its row, which is invalid or left out`,
    title: 'Rows that are sent by half',
    remedy: 'Correct what is wrong with the other half of these rows, or leave both out.',
  },
  content_not_sent: {
    expected: (content: LostContent) => {
      if (!('kept' in content)) return sayUnnamed(content)
      const { column, kept, keptField } = content
      const lost = `column \`${column}\` is not sent, because column \`${kept}\` was taken for ${keptField}`
      return {
        terminal: `${lost}. To leave it out, pass --map ${quoteArgument(`${keptField}=${kept}`)}; to send it instead, map it`,
        window: lost,
      }
    },
    title: 'Content that is not sent',
    remedy: 'A request takes one text or one URL. In Mapping, check that the right column fills it.',
    needs: 'content_cut',
  },
  moved_columns: {
    // `wider` and `unlike` name files with more columns, or other contents, than other files of the source.
    expected: (
      moved: { column: number } & (
        | { was: number; now: number }
        | { wider: string }
        | { unlike: string; looksLike: 'texts' | 'ids' | 'addresses' }
      ),
    ) => {
      const files =
        'unlike' in moved
          ? `files that differ: it looks like ${moved.looksLike} in ${moved.unlike}, and not in others`
          : 'wider' in moved
            ? `files with different numbers of columns, more in ${moved.wider} than in others`
            : `a file that had ${formatCounted(moved.was, 'column')} and has ${moved.now} now`
      const doubt = `is filled from column ${moved.column} of ${files}; the columns have no names, so another may stand there`
      return { terminal: doubt, window: doubt }
    },
    title: 'Columns that may have moved',
    remedy: 'In Mapping, choose the columns again.',
    needs: 'content_cut',
    advice: (moved: object) =>
      'wider' in moved || 'unlike' in moved
        ? 'if the columns differ, send these files as separate runs'
        : 'to say which columns are meant, pass --map FIELD=NUMBER',
  },
  unsent_text: {
    expected: ({ column }: { column: number }) => `column ${column} has texts that are not sent`,
    title: 'Texts in columns that are not sent',
    remedy: 'In Mapping, check that the right column fills the text.',
  },
  guarded_text: {
    expected: () => ({
      terminal:
        'begins with an apostrophe in front of a sign of formulas, as in CSV exports, and is sent with it; an export with --lossless has none',
      window:
        'begins with an apostrophe in front of a sign of formulas, as in CSV exports, and is sent with it',
    }),
    title: 'Texts with an apostrophe in front',
    remedy:
      'CSV exports put one in front of cells that a spreadsheet would run. Where the columns of the file no longer tell that it is an export, the apostrophe stays. Export the rows again as they are, or as .xlsx or .jsonl.',
  },
  swapped_columns: {
    expected: (args: { column: string; field: string; looksLike: 'texts' | 'ids' | 'addresses' }) => {
      const found = {
        texts: 'most of its first values are texts, not ids',
        ids: 'its first values look like ids, not texts',
        addresses:
          'its first values are addresses, and what they lead to is not looked at unless url is filled',
      }[args.looksLike]
      const doubt = `is filled from the column \`${args.column}\`, but ${found}`
      const advice =
        args.looksLike === 'addresses'
          ? `To send them as addresses, pass --map url=COLUMN`
          : `If another is meant, pass --map ${args.field}=COLUMN`
      return { terminal: `${doubt}. ${advice}`, window: doubt }
    },
    title: 'Columns that may be swapped',
    remedy: 'In Mapping, choose another column for the field, or continue if this one is right.',
  },
  rows_in_key: {
    expected: (args: {
      key: string
      objects: number | null
      filter: string
      /** What fills the content instead, in the syntax of `--map`. */
      kept: string | null
    }) => {
      const counted = args.objects === null ? 'objects' : formatCounted(args.objects, 'object')
      const found = `\`${args.key}\` has ${counted} that ${args.objects === 1 ? 'is' : 'are'} not sent, and may be the rows`
      return {
        terminal: `${found}. To send each as a row, ${sayToOwnFile(args.filter, 'terminal')}${args.kept === null ? '' : `; if they are not, pass --map ${quoteArgument(args.kept)}`}`,
        window: found,
      }
    },
    title: 'Rows inside a key',
    remedy: 'If these objects are the rows, save their array as a separate file, and choose that file.',
    needs: 'content_cut',
  },
  ambiguous_column: {
    expected: ({ columns }: { columns: number[] }) => {
      const used = `is the name of columns ${columns.join(' and ')}; column ${columns[0]} is used`
      return { terminal: `${used}. To use another, map it by its number`, window: used }
    },
    title: 'Columns with the same name',
    remedy: 'The first of these columns is used. To use another, assign the field to that column in Mapping.',
  },
  alike_column: {
    expected: ({ column, kept, field }: { column: string; kept: string; field: string }) => {
      const lost = `column \`${column}\` is not sent, though it looks like \`${kept}\``
      return {
        terminal: `${lost}. Give both one name in the file, or pass --map ${field}=COLUMN`,
        window: lost,
      }
    },
    title: 'Columns that look like the same field',
    remedy:
      'Only one column fills a field. Give both one name in the file, or choose the column that is meant in Mapping.',
  },
  shadowed_column: {
    expected: ({ name }: { name: 'row' | 'run' }) => {
      const meant = name === 'row' ? 'the number of the record' : 'the token of the run'
      return `{{${name}}} is ${meant}, not the column \`${name}\`; for the column, write {{column:${name}}}`
    },
    title: 'A placeholder with the name of a column',
    remedy: 'In Mapping, write {{column:row}} for the column, or leave {{row}} for the number of the record.',
  },
  not_json_object: {
    expected: () => 'must be a JSON object',
    title: 'Not a JSON object',
    remedy:
      'Write an object such as {"country": "NZ"}, or map each key by itself, such as user_metadata.country.',
  },
  doubled_json_key: {
    expected: () => 'has a key more than once; all of its values are sent as they are',
    title: 'JSON with a key that occurs twice',
    remedy:
      'Each value is sent. Which of them counts is for the service to say: use each key once in an object.',
  },
  invalid_before: {
    expected: () =>
      'was invalid in the run that this file is an export of, since its cells may be cut or those of several rows; make sure that it is corrected',
    title: 'Rows that could not be read before',
    remedy: 'Compare these rows with the source of the earlier run, and correct them in the file.',
    needs: 'content_cut',
  },
  kept_in_request: {
    expected: () => 'is in the whole request of the row, too, with another value, which is sent',
    title: 'Fields of whole requests that were also stated',
    remedy: 'The value in the request is sent. Remove it there to have the field filled by the mapping.',
  },
  json_in_text: {
    expected: () => 'must be text or a number; the source has a JSON object or array there',
    title: 'A JSON object or array for a text or an id',
    remedy:
      'In Mapping, choose a field of the object, such as user.id, or map the object to a field that takes JSON.',
  },
  json_as_text: {
    expected: () => 'is JSON, which is sent as the text that it is, with its keys and quotes',
    title: 'JSON in a text',
    remedy:
      'If only a value in it is the content, put that value in a separate column. If each cell is a whole request, choose request in Mapping.',
  },
  not_a_url: {
    expected: () => 'must be an http or https URL',
    title: 'Not a web address',
    remedy: 'The service fetches the address itself: it must begin with http:// or https://.',
  },
  several_urls: {
    expected: () => 'has several addresses, which are sent as one',
    title: 'Several addresses in a cell',
    remedy: 'A request takes one address. Give each a row of its own in the file.',
    needs: 'content_cut',
    advice: () => 'to send each address, give it a row of its own in the file',
  },
  wrong_type: {
    expected: ({ kind }: { kind: RequestField['kind'] }) =>
      ({
        string: 'must be a string',
        json_object: 'must be a JSON object',
        string_array: 'must be an array of strings',
      })[kind],
    title: 'A JSON request with a value of the wrong type',
    remedy: 'Correct the JSON of these rows. The message says which type the service expects.',
  },
  error_cell: {
    expected: ({ isContent }: { isContent: boolean }) =>
      isContent
        ? 'is an error of the spreadsheet, which is sent as its text'
        : 'must not be an error of the spreadsheet',
    title: 'Cells with an error of the spreadsheet',
    remedy:
      'Correct the formula in the spreadsheet and choose the file again, edit the rows, or leave them out.',
  },
  cut_cell: {
    expected: () =>
      'has exactly 32,767 characters, the most that a spreadsheet keeps in a cell; the rest was probably cut off',
    title: 'Texts that a spreadsheet probably cut off',
    remedy: 'Export these rows again from where they come from, without a spreadsheet in between.',
    needs: 'content_cut',
  },
  damaged_text: {
    expected: ({ as }: { as: 'replaced' | 'decoded_wrongly' }) =>
      as === 'replaced'
        ? 'contains U+FFFD, which stands for a character that was lost before; it is sent as it is'
        : 'looks like text that was read in a wrong encoding before, such as `Ã©` for `é`; it is sent as it is',
    title: 'Text that was damaged before',
    remedy: 'Export these rows again from where they come from, in UTF-8.',
  },
  too_long: {
    expected: ({ max }: { max: number }, found?: { characters: number }) =>
      `must have at most ${max} characters${found === undefined ? '' : `, but has ${found.characters}`}`,
    title: 'Too long',
    remedy: 'Shorten the cell to the maximum in the message.',
  },
  too_many_models: {
    expected: () => 'must name at most one model in v1',
    title: 'More models than v1 accepts',
    remedy: 'v1 accepts one model per request. Name one, or leave the field out.',
  },
  other_models: {
    expected: ({ models }: { models: string }) => ({
      terminal: `names models of its own, which are sent instead of ${models}; to send ${models} with every row, add --set models='${models}'`,
      window: `names models of its own, which are sent instead of ${models}`,
    }),
    title: 'Rows with models of their own',
    remedy:
      'A column is called models, so its cells count. To send the models of the operation with every row, set the field models to a text in Mapping.',
  },
  unknown_model: {
    expected: ({ isList }: { isList: boolean }) =>
      isList
        ? 'is not a documented model (custom indexes need v2); it is sent anyway'
        : 'must contain model names, or a JSON array of them',
    title: 'A model that is not in the documentation',
    remedy: 'Check the spelling. Ids of your own custom indexes are fine in v2.',
  },
  model_not_listed: {
    expected: ({ mode }: { mode: string }) =>
      `is not a model that is documented for ${mode}; it is sent anyway`,
    title: 'A model that is not documented for this mode',
    remedy: 'The service may refuse it. Send the first 10 rows to find out.',
  },
  not_for_mode: {
    expected: ({ mode, isSent }: { mode: string; isSent: boolean }) =>
      `is documented for ${mode} only; ${isSent ? 'it is sent anyway' : 'the column of that name is not sent unless you map it'}`,
    title: 'A field that is documented for the other mode only',
    remedy: 'Map it to send it, or leave its column out.',
  },
  not_for_api: {
    // Without a version, no version has the field.
    expected: ({ api }: { api: 'v2' | null }) =>
      api === null
        ? 'is not a field that the service documents; it is sent anyway'
        : `is not a documented field of ${api}; it is sent anyway`,
    title: 'A field that this version of the API does not document',
    remedy: 'Remove the field in Mapping, unless you know that the service accepts it.',
  },
  recommended: {
    expected: ({ lack }: { lack: 'value' | 'source' | 'all_that_changes' | 'only_requests' }) =>
      ({
        value: 'is recommended in every request, but is empty',
        source: 'is recommended in every request, but is not mapped',
        all_that_changes: 'is the only field that an update changes, but it is not mapped',
        only_requests: 'is required but not mapped; only rows that are JSON requests can contain it',
      })[lack],
    title: 'A recommended field is missing',
    remedy: 'Rows are sent without it. Map a column to it in Mapping if you have one.',
  },
  empty: {
    expected: () =>
      'has nothing to see but white space, invisible characters or the fixed text of a template; it is sent as it is',
    title: 'Empty cells',
    remedy: 'Fill the cells, or remove the field in Mapping.',
  },
  maybe_sent: {
    expected: ({ by }: { by: string }, before?: { runId: string; number: string }) => {
      const where =
        before === undefined ? 'in an earlier run' : `in run ${before.runId}, row ${before.number}`
      return `was sent ${where}, without a usable answer (same ${sayKey(by)}), so the service may have it already`
    },
    title: 'Rows that may have been sent before',
    remedy:
      'Sending them again may double them. To find out what became of them, resume that run or look the rows up at the service.',
    needs: 'sent_twice',
    advice: () => 'to skip them, too, add --on-unknown skip',
  },
  earlier_run_unread: {
    expected: ({ runs }: { runs: string }) =>
      `may have been sent before by runs that cannot be read (${runs}), so the service may have it already`,
    title: 'Earlier runs that cannot be read',
    remedy:
      'What they sent counts as new, so that it may be sent twice. If another version of Sluice has them open, end that first; if they are damaged, look the rows up at the service, or delete these runs.',
    needs: 'sent_twice',
  },
  unfit_fix: {
    expected: (
      { fix, why }: { fix: OneRowFix['kind']; why: 'other_row' | 'other_text' | 'no_row' | 'unmarked' },
      of?: { expected?: string; rowHash?: string; was?: string; row?: number | string; record?: number },
    ) => {
      const is = fix === 'cell' ? 'is not corrected' : 'is not left out'
      if (why === 'no_row') return `${is}, because the source has no such row`
      if (why === 'other_text') {
        const fact = `${is}, because it has another text than the correction is of`
        return { terminal: of?.was === undefined ? fact : `${fact}; expected \`${of.was}\``, window: fact }
      }
      if (why === 'unmarked') {
        const done = `${fix === 'cell' ? 'is corrected' : 'is left out'}, but nothing says that this row was meant`
        const hash = of?.rowHash === undefined ? '"rowHash"' : `"rowHash": "${of.rowHash}"`
        return { terminal: `${done}. If it was, add ${hash} to the fix`, window: done }
      }
      const fact = `${is}, because the row has other cells than the one that was meant`
      if (of === undefined) return fact
      const now = of.row === undefined ? 'no row has those cells now' : `row ${of.row} has those cells now`
      const hashes = `"rowHash": expected ${of.expected}, found ${of.rowHash}`
      return {
        terminal: `${fact}; ${now}${of.record === undefined ? '' : ` ("record": ${of.record})`}; ${hashes}`,
        window: `${fact}; ${now}`,
      }
    },
    title: 'Corrections that may be of other rows',
    remedy:
      'The source has changed since these corrections were made. Undo those that do not fit, and make them again for the rows that are meant.',
    needs: 'fixes_do_not_fit',
    // Says what to add to a fix that names no row.
    advice: ({ why }: { why: string }) =>
      why === 'unmarked'
        ? null
        : 'to correct the row that was meant, give the fix its "record" and "rowHash"; if none is meant any more, remove the fix',
  },
} satisfies Record<ProblemCode, ProblemEntry>

/** Words about text in a column without a name. */
function sayUnnamed({ column, heading }: UnnamedColumn) {
  const which =
    heading === undefined
      ? 'which the header has no name for'
      : `which is below the merged heading \`${heading}\` but has no name itself`
  const named = /^\d+$/.test(column) ? column : `\`${column}\``
  const lost = `column ${named}, ${which}, has text that is not sent`
  return {
    terminal: `${lost}. To send it, map it, such as --map ${quoteArgument(`text_data=${column}`)}, or give its column a name in the file`,
    window: lost,
  }
}

/** An argument for a shell, quoted unless it is plain. */
function quoteArgument(argument: string): string {
  return /^[\w.=-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`
}

type Parts<Code extends ProblemCode> = Parameters<(typeof PROBLEM_MESSAGES)[Code]['expected']>

/** A code with the arguments and details that its words need. */
export type ProblemCause = {
  [Code in ProblemCode]: { code: Code } & (Parts<Code> extends []
    ? unknown
    : Parts<Code> extends [infer Args]
      ? { args: Args }
      : Parts<Code> extends [infer Args, (infer Details)?]
        ? { args: Args; details?: NonNullable<Details> }
        : never)
}[ProblemCode]

/** A problem as reported by sources and mappings. */
export type FoundProblem = Pick<Problem, 'row' | 'severity' | 'field' | 'found'> & ProblemCause

/** A problem of a whole plan instead of one row. */
export type PlanWarning = Pick<Problem, 'severity' | 'field' | 'found'> & ProblemCause

/** Rows of a source by their numbers, both ends included. */
export interface RowRange {
  from: number
  to: number
}

/**
 * A problem of a whole source; `rows` is how many it concerns (default: all). If the source has several
 * files, `among` has the rows of those it concerns.
 */
export type SourceWarning = PlanWarning & { rows?: number; among?: readonly RowRange[] }

/** What was expected, in words for one surface, such as "must not contain `_` or `;`". */
export function sayExpected(
  { code, args = {}, details, text, alsoAt }: Pick<Problem, 'code' | 'args' | 'details' | 'text' | 'alsoAt'>,
  surface: Surface,
): string {
  if (text !== undefined) return text
  const entry: ProblemEntry = PROBLEM_MESSAGES[code]
  const shown = alsoAt === undefined ? details : { ...details, row: formatRow(alsoAt) }
  const said = chooseWording(entry.expected(args as never, shown as never), surface)
  // The one of several files that a source-wide warning is about.
  return 'ofFiles' in args ? `${args['ofFiles']}: ${said}` : said
}

/** A full sentence: "row 17, post_id: must not contain `_` or `;`, found `a_b`". */
export function formatProblem(problem: Problem): string {
  const row = `row ${formatProblemRow(problem)}`
  return `${row}${problem.field === undefined ? ':' : ','} ${formatProblemOfRow(problem)}`
}

/** The sentence without the row: "post_id: must not contain `_` or `;`, found `a_b`". */
export function formatProblemOfRow(problem: Problem): string {
  const where = problem.field === undefined ? '' : `${problem.field}: `
  const found = problem.found === undefined ? '' : `, found \`${problem.found}\``
  return `${where}${sayExpected(problem, 'terminal')}${found}`
}

/** A problem for JSON: with the numbers of its row and record, and in words. */
export function toWordedProblem(
  problem: Problem,
): Omit<Problem, 'row' | 'args' | 'details' | 'text'> & RowAndRecord & { message: string } {
  return { ...toWorded(problem), ...toRowAndRecord(problem.row, getPlace(problem)) }
}

/** A problem or group with what was expected in words instead of arguments. */
export function toWorded<Worded extends Pick<Problem, 'code' | 'args' | 'details' | 'text' | 'alsoAt'>>(
  problem: Worded,
): Omit<Worded, 'args' | 'details' | 'text'> & { message: string } {
  const { args: _args, details: _details, text: _text, ...rest } = problem
  return { ...rest, message: sayExpected(problem, 'terminal') }
}

/** Whether a text is a problem code, as in error groups of invalid rows. */
export function isProblemCode(text: string): text is ProblemCode {
  return Object.hasOwn(PROBLEM_MESSAGES, text)
}
