import type { ProblemCode } from '../run/problem.ts'
import { formatCounted } from './figure-text.ts'
import type { ProblemEntry } from './id-problems.ts'

/** Words for problems with the records of delimited text, found before cells have a meaning. */
export const RECORD_PROBLEMS = {
  ragged_row: {
    expected: ({ cells, than }: { cells: number; than: 'header' | 'usual' | 'first_rows' }) =>
      than === 'first_rows'
        ? `has more cells than the first rows (${cells})`
        : `has fewer or more cells than ${than === 'header' ? 'the header' : 'most rows'} (${cells}); the rest is empty`,
    title: 'Rows with a different number of cells',
    remedy:
      'Often the text of a cell contains the delimiter. Look at the first row listed, and put such cells in quotes in the file.',
  },
  surplus_cells: {
    expected: (
      {
        cells,
        than,
        in: inside,
      }: {
        cells: number
        than: 'header' | 'usual' | 'names'
        delimiter: string
        in?: 'curly_quotes'
        /** The last column, if it fills a sent text: surplus cells can be joined to it. */
        into?: string
      },
      /** Indexes of the last cell with a column and of the cells after it. */
      _places?: { places: number[] },
    ) => {
      if (than === 'names') {
        return `has text behind column ${cells}, the last one that the header has a name for; it is not sent`
      }
      const fact = `must have at most ${formatCounted(cells, 'cell')}, ${than === 'header' ? 'like the header' : 'like most rows'}`
      return inside === undefined
        ? fact
        : `${fact}; curly quotes around a text do not keep it in one cell: replace them with " in the file`
    },
    title: 'Rows with more cells than columns',
    remedy:
      'The text of a cell contains the delimiter. If it is that of the last column, join the cells, which is offered if that column fills a text; if not, put such cells in quotes in the file.',
    needs: 'content_cut',
  },
  record_in_quotes: {
    expected: () => 'must not be in quotes as a whole; it is read as one cell',
    title: 'Rows in quotes as a whole',
    remedy:
      'The quotes make one cell of the whole row. Remove the quotes around the row, and choose the file again.',
  },
  quotes_guessed: {
    expected: ({ quote, escape: escaping }: { quote: string; escape: string }) => {
      const around = `cells are read as quoted with ${quote === '' ? 'nothing' : quote}`
      const inside =
        escaping === '' ? '' : `; a ${escaping} before a quote or another ${escaping} is not sent`
      return {
        terminal: `${around}${inside}. To read them otherwise, pass --quote or --escape`,
        window: `${around}${inside}`,
      }
    },
    title: 'Quotes that were guessed',
    remedy: 'Compare the first rows with the file. To read them otherwise, choose Quote or Escape in Source.',
  },
  curly_quotes: {
    expected: () =>
      'has curly quotes around a text that contains the delimiter, which cuts the text into several cells',
    title: 'Texts in curly quotes that the delimiter cuts',
    remedy:
      'Only straight quotes keep a text in one cell: replace the curly ones around cells with " in the file.',
    needs: 'content_cut',
    advice: () => 'to keep such a text in one cell, replace the curly quotes around it with " in the file',
  },
  inner_mark: {
    expected: () => 'has a byte-order mark in front of it, as where files were appended; it is left out',
    title: 'Byte-order marks within the file',
    remedy: 'Files were probably appended to each other. Nothing else was changed.',
    counts: 'all',
  },
  empty_records: {
    expected: () => 'has only empty cells and is skipped',
    title: 'Empty rows were skipped',
    remedy: 'Nothing is sent for them. Check the file if you expected rows there.',
    counts: 'unsent',
  },
  repeated_header: {
    expected: () => 'must be a row, but is the header again',
    title: 'The header occurs again',
    remedy: 'Two files were probably appended to each other. Leave these rows out.',
  },
  below_other_header: {
    expected: () =>
      'must not be below a header with the columns in another order; nobody knows which order it has',
    title: 'Rows below a header in another order',
    remedy:
      'Two files with different columns were probably appended to each other. Send them as two files, or put their columns in one order.',
  },
  half_again: {
    expected: () =>
      'must be a new record, but is the other half of a split one, whose text and URL are in an earlier row of this export',
    title: 'Split records that are in an export twice',
    remedy:
      'Leave these rows out. To send the two halves separately, empty the URL in one row and the text in the other.',
  },
  totals_row: {
    expected: () => 'must be a row, but is the totals row of a table in the spreadsheet',
    title: 'Totals rows of tables',
    remedy:
      'The spreadsheet computes them from the rows above. Leave them out, or switch the totals row off.',
  },
  description_row: {
    expected: ({ as }: { as: 'import_ids' | 'questions' | 'types' | 'unlike' | 'names' }) =>
      ({
        names: {
          terminal:
            'looks like the names of the columns, but is sent as a row; if it is the header, leave out --no-header',
          window: 'looks like the names of the columns, but is sent as a row',
        },
        import_ids: 'must be a row, but has the import ids of a survey',
        questions: 'must be a row, but has the questions of a survey, one for each column',
        types: 'must be a row, but has the types of the columns',
        unlike: 'looks like a second header line (names, units or types), but is sent as a row',
      })[as],
    title: 'Rows that describe the columns',
    remedy: 'These lines say what the columns are. Leave them out.',
  },
  footer_row: {
    expected: ({ as }: { as: 'total' | 'count' | 'count_above' | 'note' }) =>
      ({
        total: 'looks like the totals below a table, but is read as a row',
        count: 'looks like the number of rows that a program writes below a table, but is read as a row',
        count_above: 'must be a row, but is the number of the rows above',
        note: 'looks like a note below a table, but is read as a row',
      })[as],
    title: 'Rows that look like a footer',
    remedy: 'Programs write totals, dates and sources below a table. Leave them out if these are such.',
  },
  second_table: {
    expected: () =>
      'looks like a part of another table below the first, with its own header; it is read with the columns of the first',
    title: 'Rows of a second table',
    remedy:
      'Its cells go into the fields of the first table. Leave these rows out, and send them from a separate file.',
    needs: 'content_cut',
  },
  drawn_line: {
    expected: () => 'must be a row, but is a drawn line',
    title: 'Lines that are drawn in a table',
    remedy: 'A program drew them below the header or around the table. Leave these rows out.',
  },
  stray_line_break: {
    expected: () =>
      'has a line break of another kind than the file, outside quotes; it may be several rows, and is read as one',
    title: 'Line breaks outside quotes that end no row',
    remedy: 'The file mixes kinds of line ends. Save it with one kind, and choose it again.',
    needs: 'content_cut',
  },
  escaped_line_break: {
    expected: () =>
      'ends in a backslash, which may escape the line break; the next row may be the rest of this one',
    title: 'Rows that end in a backslash',
    remedy:
      'In Source, choose \\ as Escape if the next row is the rest of such a row, and None if it is a row of its own.',
    needs: 'content_cut',
    advice: () =>
      'to join such a row with the next one, add --escape CHARACTER with the backslash; if they are rows of their own, --escape none',
  },
  cut_by_line_break: {
    expected: () =>
      'may be one row with the next or previous one, cut by a line break outside quotes; each is read as a row of its own',
    title: 'Rows that a line break may have cut',
    remedy: 'Put texts with line breaks in quotes in the file, or export it again.',
    needs: 'content_cut',
  },
  nul_character: {
    expected: ({ character }: { character: 'NUL' }, at?: { line: number }) =>
      `must not contain a ${character} character${at === undefined ? '' : `; line ${at.line} does`}`,
    title: 'NUL characters in the text',
    remedy: 'Bytes of the file were lost or overwritten. Export it again, or remove the characters.',
  },
  zero_padding: {
    expected: ({ characters }: { characters: number }) =>
      `ends with ${formatCounted(characters, 'NUL character')}, which are not sent`,
    title: 'NUL characters at the end of the file',
    remedy: 'They often mean that the file was cut off. Check that the last rows are there.',
  },
  broken_quotes: {
    expected: (args: {
      effect:
        | 'read_as_is'
        | 'text_behind'
        | 'may_be_escaped'
        | 'space_before'
        | 'may_take_in_rows'
        | 'looks_like_rows'
        | 'text_behind_to_end'
        | 'never_closed'
        | 'open_in_line'
    }) =>
      ({
        read_as_is: 'has a quote that is not doubled inside a quoted cell; the cell is read as written',
        may_be_escaped: {
          terminal:
            'has a backslash before a quote, which may be an escape. Pass --escape "\\" if it is, --escape none if not',
          window: 'has a backslash before a quote, which may be an escape. Choose Escape in Source',
        },
        space_before: {
          terminal:
            'has white space before the quotes around a cell. Remove it, or pass --quote none to send the quotes',
          window: 'has white space before the quotes around a cell. Remove it, or choose no Quote in Source',
        },
        may_take_in_rows:
          'must double each quote inside a quoted cell; the next rows may have become part of this one',
        looks_like_rows: {
          terminal:
            "has a cell in quotes whose lines look like rows. Pass --quote none if quotes are text, --quote '\"' if they are not",
          window: 'has a cell in quotes whose lines look like rows. Choose Quote in Source',
        },
        text_behind:
          'must have no text behind the quote that closes a cell, and double each quote inside the cell',
        text_behind_to_end:
          'must have no text behind the quote that closes a cell; everything up to the end of the file is in this row',
        never_closed:
          'must close the quote that it opens; everything up to the end of the file is in this row',
        open_in_line: 'must close the quote that it opens',
      })[args.effect],
    title: 'Quotes that do not close',
    remedy: 'Double the quotes inside quoted cells, or go back to Source and check the delimiter.',
  },
} satisfies Partial<Record<ProblemCode, ProblemEntry>>
