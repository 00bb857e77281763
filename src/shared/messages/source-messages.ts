import { quoteForShell } from '../shell-command.ts'
import type { ErrorEntry, ErrorWords, Wording } from './error-entry.ts'
import { formatCount, formatCounted } from './figure-text.ts'
import { JSON_EXPECTATIONS, type JsonExpectation } from './json-expectations.ts'

/** Content that is not what the file was read as. */
export type ForeignContent = keyof typeof FOREIGN

const CONTENT_LIST = 'Choose the CSV file that lists the content.'
const SAVE_AS =
  'Open it in a spreadsheet program, save it as an Excel workbook (.xlsx) or as CSV UTF-8, and choose that file.'

const COPY_TABLE =
  'Copy the table into a spreadsheet program, save it as an Excel workbook (.xlsx) or as CSV UTF-8, and choose that file.'

/** Kinds of files, recognised by their first bytes or their parts, each with what to do about it. */
const FOREIGN = {
  zip: {
    kind: 'an Excel workbook (.xlsx) or another zip archive',
    remedy: {
      terminal:
        'If it is a workbook, rename it to end in .xlsx or add --format xlsx. If not, unpack the archive and choose the table inside it.',
      window:
        'If it is a workbook, rename it to end in .xlsx. If not, unpack the archive and choose the table inside it.',
    },
  },
  office: {
    kind: 'an old Excel workbook (.xls) or another Office document',
    remedy: 'Open it in a spreadsheet program, save it as .xlsx or CSV UTF-8, and choose that file.',
  },
  pdf: { kind: 'a PDF document', remedy: 'Export the table as CSV, and choose that file.' },
  png: { kind: 'a PNG image', remedy: CONTENT_LIST },
  jpeg: { kind: 'a JPEG image', remedy: CONTENT_LIST },
  gzip: {
    kind: 'a gzip archive inside another one',
    remedy: 'Unpack it first (gunzip), and choose the unpacked file.',
  },
  zstd: { kind: 'a zstd archive', remedy: 'Unpack it first, and choose the CSV file.' },
  sqlite: { kind: 'an SQLite database', remedy: 'Export the table as CSV, and choose that file.' },
  markup: { kind: 'a web page or XML document', remedy: SAVE_AS },
  other: {
    kind: 'text or another kind of file',
    remedy: {
      terminal:
        'If it is a text table, rename it to end in .csv or add --format csv. If not, save it again as .xlsx.',
      window: 'If it is a text table, rename it to end in .csv. If not, save it again as .xlsx.',
    },
  },
  xls: { kind: 'an old Excel workbook (.xls)', remedy: SAVE_AS },
  old_office: { kind: 'an old Office document', remedy: COPY_TABLE },
  xlsb: { kind: 'a binary Excel workbook (.xlsb)', remedy: SAVE_AS },
  numbers: { kind: 'a Numbers document', remedy: SAVE_AS },
  ods: { kind: 'an OpenDocument file (.ods)', remedy: SAVE_AS },
  docx: { kind: 'a Word document (.docx)', remedy: COPY_TABLE },
  pptx: { kind: 'a PowerPoint presentation (.pptx)', remedy: COPY_TABLE },
  archive: {
    kind: 'a zip archive without a workbook in it',
    remedy: 'Unpack it, and choose the table inside it.',
  },
} satisfies Record<string, { kind: string; remedy: Wording }>

const READ_RIGHT = 'Change the permissions of the file.'

/** Why a file cannot be read, by the file system's error codes. */
const UNREADABLE: Record<string, { problem?: string; remedy?: string }> = {
  ENOENT: {
    problem: 'the file does not exist',
    remedy: 'Check the path. Relative paths start at the current folder.',
  },
  ENOTDIR: { problem: 'part of the path is not a folder' },
  EACCES: { problem: 'the file cannot be read (permission denied)', remedy: READ_RIGHT },
  EPERM: { problem: 'the file cannot be read (not permitted)', remedy: READ_RIGHT },
  EMFILE: { remedy: 'Too many files are open. Close other programs and try again.' },
}

/** The source: its path, or its name in the window. */
interface OfSource {
  source: string
}

const NAMED_MAX = 5

function listSome(names: readonly string[]): string {
  const rest = names.length - NAMED_MAX
  return `${names.slice(0, NAMED_MAX).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** An error of a source that has no readable rows. */
function unreadable<Args extends object = OfSource>(
  problem: (args: Args) => Pick<ErrorWords, 'remedy'> & { problem: string },
) {
  return {
    code: 'BAD_SOURCE' as const,
    problem,
    words: (args: Args & OfSource): ErrorWords => {
      const { problem: text, remedy } = problem(args)
      return {
        text: { terminal: `source ${args.source}: ${text}`, window: `${args.source}: ${text}` },
        remedy,
      }
    },
  }
}

/** Errors of sources: files and folders without readable rows. */
export const SOURCE_MESSAGES = {
  source_unreadable: unreadable(({ system }: { system: string }) => ({
    problem: UNREADABLE[system]?.problem ?? `the file could not be read (${system})`,
    remedy:
      UNREADABLE[system]?.remedy ?? 'Check the disk or network drive that holds the file, then try again.',
  })),
  source_is_folder: unreadable(() => ({
    problem: 'expected a file, found a folder',
    remedy: 'Choose one file inside the folder.',
  })),
  pattern_matches_nothing: unreadable(() => ({
    problem: 'no file matches this pattern',
    remedy: 'Check the pattern. Relative patterns start at the current folder.',
  })),
  folder_among_files: unreadable(() => ({
    problem: 'expected tables, found a folder of posts among the sources',
    remedy: 'Send the folder by itself.',
  })),
  folder_is_mixed: unreadable(
    (args: {
      tables: number
      /** Paths or patterns that match only the tables; empty if no pattern can. */
      sources: readonly string[]
      /** Files that can be posts. */
      posts: number
      mixedIn: readonly string[]
      rest: number
    }) => {
      const named =
        args.sources.length === 0
          ? 'To send the rows of the tables, move the other files to a separate folder.'
          : `To send the rows of the ${args.tables === 1 ? 'table' : 'tables'}, name them: ${args.sources.map(quoteForShell).join(' ')}.`
      const asPosts =
        args.posts <= args.tables
          ? ''
          : ` To send the other ${formatCounted(args.posts, 'file')} as posts, add --format folder; ${args.tables === 1 ? 'the table is then an invalid row' : 'the tables are then invalid rows'}.`
      return {
        problem: `found ${formatCounted(args.tables, 'table')} and other files in one folder: ${args.mixedIn.join(', ')}${args.rest > 0 ? ` and ${args.rest} more` : ''}`,
        remedy: {
          terminal: named + asPosts,
          window: 'Choose the tables themselves, or keep the other files in a separate folder.',
        },
      }
    },
  ),
  no_source_left: unreadable(() => ({
    problem: 'expected tables, found only hidden files and lock files, which are skipped',
    remedy: 'Name the files that contain the rows.',
  })),
  source_named_twice: unreadable(({ copyOf }: { copyOf: string | null }) => ({
    problem:
      copyOf === null
        ? 'the file is named twice, and its rows would be sent twice'
        : `the file has the same rows as ${copyOf}, which would be sent twice`,
    remedy: copyOf === null ? 'Name each file once.' : 'Leave one of them out.',
  })),
  no_shared_column: unreadable(
    ({ ownNames, namesBefore }: { ownNames: readonly string[]; namesBefore: readonly string[] }) => ({
      problem: `its columns (${listSome(ownNames)}) have no name in common with those of the files before it (${listSome(namesBefore)})`,
      remedy: 'Check that its first row has the names of the columns, or send the file by itself.',
    }),
  ),
  source_is_device: unreadable(() => ({
    problem: 'expected a regular file, found a pipe or device',
    remedy: 'Sluice reads a source more than once. Save the data to a file first, then choose that file.',
  })),
  source_is_empty: unreadable(() => ({
    problem: 'expected rows, found an empty file (0 bytes)',
    remedy: 'Export the spreadsheet again, or choose the file that contains the rows.',
  })),
  source_is_binary: unreadable(({ content }: { content: ForeignContent }) => ({
    problem: `expected text, found ${FOREIGN[content].kind}`,
    remedy: FOREIGN[content].remedy,
  })),
  gzip_damaged: unreadable(({ reason }: { reason: string }) => ({
    problem: `the gzip file is damaged or cut off (${reason})`,
    remedy: 'Download or pack the file again. `gzip -t FILE` checks it.',
  })),
  gzip_too_large: unreadable(({ gib }: { gib: number }) => ({
    problem: `the gzip file holds more than ${formatCount(gib)} GiB`,
    remedy: 'Unpack it and split the file.',
  })),
  gzip_too_dense: unreadable(({ ratio }: { ratio: number }) => ({
    problem: `the gzip file unpacks to more than ${formatCount(ratio)} times its size`,
    remedy: 'If you trust the file, unpack it yourself and choose the unpacked file.',
  })),
  gzip_not_unpacked: unreadable(({ folder, system }: { folder: string; system: string }) => ({
    problem: `the gzip file could not be unpacked into ${folder} (${system})`,
    remedy: 'Free some space there, or set TMPDIR to a folder with more space.',
  })),
  source_has_nul: unreadable(({ offset }: { offset: number }) => ({
    problem: `expected text, found binary data (a NUL byte at offset ${offset})`,
    remedy: {
      terminal:
        'If this file is text in another encoding, pass the encoding, such as --encoding utf-16le. If not, choose a CSV, TSV, XLSX or JSON file.',
      window:
        'If this file is text in another encoding, choose the encoding under Encoding. If not, choose a CSV, TSV, XLSX or JSON file.',
    },
  })),
  source_encoding_unknown: unreadable(({ encoding }: { encoding: string }) => ({
    problem: `the encoding \`${encoding}\` is unknown`,
    remedy:
      'Use a name such as utf-8, utf-16le, windows-1252, iso-8859-2, shift_jis, gb18030 or macintosh, or leave the encoding out to detect it.',
  })),
  source_encoding_unreadable: unreadable(({ encoding }: { encoding: string }) => ({
    problem: `found text in ${encoding}, which Sluice cannot read`,
    remedy: {
      terminal: 'Save the file as UTF-8. If its escape sequences are content, pass --encoding utf-8.',
      window: 'Save the file as UTF-8. If its escape sequences are content, choose UTF-8 under Encoding.',
    },
  })),
  delimiter_unusable: unreadable(({ delimiter }: { delimiter: string }) => ({
    problem: `the delimiter ${JSON.stringify(delimiter)} cannot separate cells`,
    remedy:
      'Use a comma, a semicolon, a tab, a pipe or another character that is neither a quote nor a line end.',
  })),
  header_past_end: unreadable(({ line }: { line: number }) => ({
    problem: `expected the column names in line ${line}, but the file ends before it`,
    remedy: 'Enter the number of the line with the column names. The first line is 1.',
  })),
  source_is_blank: unreadable(() => ({
    problem: 'expected rows, found only blank lines',
    remedy: 'Export the spreadsheet again, or choose the file that contains the rows.',
  })),
  header_has_nul: unreadable(() => ({
    problem: 'the header line contains a NUL character',
    remedy: 'Bytes of the file were lost or overwritten. Export the spreadsheet again.',
  })),
  header_takes_in_rows: unreadable(() => ({
    problem: 'the header has a line break where none belongs, so rows may have become part of it',
    remedy: 'Check the quotes in the header line, and save the file with one kind of line breaks.',
  })),
  header_quote_open: unreadable(() => ({
    problem: 'the header line opens a quote that is never closed',
    remedy: 'Close the quote in that line, or double a quote that is part of a name.',
  })),
  source_is_header: unreadable(() => ({
    problem: 'expected rows, found only a line with column names',
    remedy: {
      terminal: 'Choose the file that contains the rows. If that line is a row, add --no-header.',
      window: 'Choose the file that contains the rows. If that line is a row, turn the header off.',
    },
  })),
  quote_is_curly: unreadable(({ character }: { character: string }) => ({
    problem: `the character ${character} cannot quote: curly quotes open and close with different characters`,
    remedy: 'Replace the curly quotes around cells with " in the file.',
  })),
  quote_unusable: unreadable(({ character }: { character: string }) => ({
    problem: `the character ${JSON.stringify(character)} cannot quote or escape`,
    remedy: 'Use another character for the quote or the escape, or none.',
  })),
  record_too_long: unreadable(
    (args: {
      /** Its name, such as "row 3". */
      record: string
      maxCharacters: number
      isClosed: boolean
      begins: string
    }) => {
      const limit = `${formatCount(args.maxCharacters)} characters (${args.maxCharacters / 1024 / 1024} MiB)`
      return args.isClosed
        ? {
            problem: `${args.record} has more than ${limit}, the maximum for a row. It begins with \`${args.begins}\``,
            remedy: `Nothing was sent. Shorten ${args.record} or remove it from the file, then start again.`,
          }
        : {
            problem: `${args.record} opens a quote that is not closed within ${limit}, the maximum for a row. It begins with \`${args.begins}\``,
            remedy: `Nothing was sent. Close the quote in ${args.record}, or double a quote that is part of the text, then start again.`,
          }
    },
  ),
  too_many_columns: unreadable(
    ({ record, max, begins }: { record: string; max: number; begins: string }) => ({
      problem: `${record} has more than ${formatCount(max)} columns, the maximum, as in a spreadsheet. It begins with \`${begins}\``,
      remedy:
        'Check the delimiter. If it is right, remove the columns that you do not need, then start again.',
    }),
  ),
  folder_unreadable: unreadable(({ system }: { system: string }) => ({
    problem:
      system === 'ENOTDIR' ? 'expected a folder, found a file' : `the folder could not be read (${system})`,
    remedy: 'Check the path and the permissions of the folder.',
  })),
  folder_is_empty: unreadable(() => ({
    problem: 'expected files, found an empty folder (hidden files are skipped)',
    remedy: 'Choose a folder with texts, JSON requests, images, videos or audio files.',
  })),
  too_many_json_keys: unreadable(({ max, example }: { max: number; example: string }) => ({
    problem: `found more than ${max} different keys, such as ${JSON.stringify(example)}; each key becomes a column`,
    remedy:
      'Use the same keys in every line. Put the parts that vary, such as ids or dates, in values instead of keys.',
  })),
  json_is_blank: unreadable(() => ({
    problem: 'expected JSON objects, one per line or in an array, found none',
    remedy: 'Export the rows again, or choose the file that contains them.',
  })),
  json_broken: unreadable(
    (args: { line: number; character: number; lacks: JsonExpectation; found: string }) => ({
      problem: `nothing in it is a JSON object with a key; line ${args.line}, character ${args.character}: expected ${JSON_EXPECTATIONS[args.lacks]}, found \`${args.found}\``,
      remedy: 'Correct the file there, or export it again.',
    }),
  ),
  workbook_is_other: unreadable(({ content }: { content: ForeignContent }) => ({
    problem: `expected an Excel workbook (.xlsx), found ${FOREIGN[content].kind}`,
    remedy: FOREIGN[content].remedy,
  })),
  workbook_protected: unreadable(({ part }: { part: string | null }) => ({
    problem: part === null ? 'the workbook is protected with a password' : `the part ${part} is encrypted`,
    remedy: 'Open it in a spreadsheet program, save it without a password, and choose that file.',
  })),
  workbook_damaged: unreadable(({ reason }: { reason: string }) => ({
    problem: `the workbook is damaged or cut short: ${reason}`,
    remedy:
      'Copy or download it again, or open it in a spreadsheet program, let it repair the file, and save it.',
  })),
  workbook_too_large: unreadable(({ reason }: { reason: string }) => ({
    problem: reason,
    remedy:
      'If you trust the workbook, save its sheet as CSV UTF-8 in a spreadsheet program, and choose that file.',
  })),
  workbook_too_empty: unreadable(() => ({
    problem: 'the sheet has more than 200,000,000 cells, most of them empty',
    remedy:
      'Delete the empty columns to the right of the table. Or save only the table as CSV UTF-8, and choose that file.',
  })),
  workbook_disk_full: {
    code: 'DISK_FULL',
    words: ({ folder, system }: { folder: string; system: string }) => ({
      text: `the texts of a large workbook could not be stored in ${folder}: the disk is full (${system})`,
      remedy: 'Free some space there, or save the sheet as CSV UTF-8 and choose that file.',
    }),
  } satisfies ErrorEntry,
  sheet_row_too_long: unreadable(({ row, maxCharacters }: { row: number; maxCharacters: number }) => ({
    problem: `row ${row} of the sheet has more than ${formatCount(maxCharacters)} characters (${maxCharacters / 1024 / 1024} MiB), the maximum for a row`,
    remedy: `Nothing was sent. Shorten the texts of row ${row}, then start again.`,
  })),
  sheet_is_empty: unreadable(({ sheet }: { sheet: string }) => ({
    problem: `expected rows, found an empty sheet ${JSON.stringify(sheet)}`,
    remedy: {
      terminal: 'Choose another sheet with --sheet, or fill this one.',
      window: 'Choose another sheet, or fill this one.',
    },
  })),
  sheet_is_header: unreadable(({ sheet }: { sheet: string }) => ({
    problem: `expected rows, found only a row with column names in the sheet ${JSON.stringify(sheet)}`,
    remedy: {
      terminal: 'Choose another sheet with --sheet. If that row is data, add --no-header.',
      window: 'Choose another sheet. If that row is data, turn the header off.',
    },
  })),
  sheet_is_hidden: unreadable(({ sheet }: { sheet: string }) => ({
    problem: `expected visible rows, found only hidden ones in the sheet ${JSON.stringify(sheet)}`,
    remedy: {
      terminal: 'Unhide its rows, or send them with --rows all.',
      window: 'Unhide its rows, or choose to read all rows.',
    },
  })),
  sheet_header_missing: unreadable(
    (args: {
      sheet: string
      row: number
      /** Null if the row itself is empty. */
      lastRow: number | null
    }) => ({
      problem: `expected the column names in row ${args.row} of the sheet ${JSON.stringify(args.sheet)}, but ${
        args.lastRow === null
          ? 'that row is empty'
          : args.lastRow === 0
            ? 'the whole sheet is empty'
            : `its last row is ${args.lastRow}`
      }`,
      remedy: 'Enter the number of the row with the column names, as the spreadsheet shows it.',
    }),
  ),
  sheet_not_found: unreadable(
    (args: { /** Null if none was named. */ sheet: string | number | null; sheets: readonly string[] }) => ({
      problem:
        args.sheet === null
          ? 'the workbook has no visible sheet'
          : `the sheet ${JSON.stringify(args.sheet)} does not exist`,
      remedy: adviseOnSheets(args.sheets),
    }),
  ),
  sheet_is_chart: unreadable(({ sheet, sheets }: { sheet: string; sheets: readonly string[] }) => ({
    problem: `the sheet ${JSON.stringify(sheet)} is a chart and has no cells`,
    remedy: adviseOnSheets(sheets),
  })),
}

/** The problem of a source without the source's name; null for other errors. */
export function saySourceProblem(said: { id: string }): string | null {
  const entry: ErrorEntry & { problem?: (args: never) => { problem: string } } =
    SOURCE_MESSAGES[said.id as keyof typeof SOURCE_MESSAGES]
  return entry?.problem?.(said as never).problem ?? null
}

function adviseOnSheets(sheets: readonly string[]): string {
  return sheets.length === 0
    ? 'The workbook has no sheets. Choose another file.'
    : `Choose another sheet. Sheets: ${sheets.join(', ')}.`
}
