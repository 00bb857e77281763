import type { LostId } from '../mapping/changed-ids.ts'
import type { AcceptCode } from '../run/accept-code.ts'
import type { ProblemCode } from '../run/problem.ts'
import type { Wording } from './error-entry.ts'

/** The words for a problem code. */
export interface ProblemEntry {
  /** What was expected. Arguments belong to the cause, details to one row; groups leave them out. */
  expected: (args: never, details?: never) => Wording
  /** The cause's title in the window, and what to do about it there. */
  title: string
  remedy: string
  /** What must be accepted before rows with such a warning are sent; absent if a message is enough. */
  needs?: AcceptCode
  /** Whether such a warning counts unsent rows; absent if it counts sent rows. */
  counts?: 'unsent' | 'all'
  /** How to avoid the question in a terminal, as in `to send them, add --rows all`; null if there is none. */
  advice?: (args: never) => string | null
}

/** The problem codes of ids and terms, with their words. */
export const ID_PROBLEMS = {
  forbidden_character: {
    expected: ({ of }: { of: 'id' | 'path' }) =>
      of === 'id'
        ? 'must not contain `_` or `;`'
        : 'must not be "." or "..", which would lead to another path',
    title: 'A forbidden character in an id',
    remedy:
      'The service does not accept "_" or ";" in this id. Replace them reversibly, edit the ids, or build them from {{row}} in Mapping.',
  },
  invisible_characters: {
    expected: () => 'has invisible characters, or white space at its ends, which are sent',
    title: 'Invisible characters in ids or terms',
    remedy:
      'To the service, values that differ only in these characters are different. Trim them, or correct the file.',
  },
  quotes_in_id: {
    expected: () => 'has quotes around it, which are sent',
    title: 'Ids in quotes',
    remedy:
      'To the service they are part of the id. Curly quotes come from a word processor or a phone: replace them with " in the file. Others were written twice, or are not those of the file: state Quote in Source, or edit the rows.',
  },
  fraction_in_id: {
    expected: () => 'is a whole number with .0 at its end; data frames add that to columns with gaps',
    title: 'Ids that end in .0',
    remedy: 'Remove the .0, or export the file again with this column as text.',
  },
  lost_id: {
    expected: ({ as }: { as: LostId }) => {
      const fact = {
        rounded: 'looks rounded by a spreadsheet or data frame; different ids may have become the same',
        missing: 'looks like a missing value, not an id; all rows with it get the same id',
        boolean: 'looks like a truth value, not an id; all rows with it get the same id',
        date: 'looks like a date or time; a spreadsheet may have changed it',
        shortened:
          'is shown in the spreadsheet with fewer digits than it keeps; different ids may look the same',
        wrapped:
          'has signs around it that keep it a text in a spreadsheet (= or an apostrophe); they are sent',
        grouped:
          'looks like a number that a spreadsheet formatted (separators of thousands, a currency or %)',
      }[as]
      // The original ids can be restored, so no new export is needed.
      if (as === 'wrapped') return `${fact}. Remove them from the file, or export it again without them`
      return { terminal: `${fact}. Export the ids again as text`, window: fact }
    },
    title: 'Ids that a spreadsheet or data frame changed',
    remedy:
      'Unless only signs around the ids are to be removed, the original ids are lost: export the file again with this column as text, or leave these rows out.',
    needs: 'ids_changed',
  },
  changed_value: {
    expected: ({ as }: { as: 'missing' | 'rounded' | 'shortened' | 'grouped' | 'wrapped' }) =>
      ({
        missing:
          'looks like what a program writes for a missing value (or an error of a spreadsheet), but is sent as the text',
        rounded: 'looks rounded by a spreadsheet or data frame; the term may have been another',
        shortened: 'is shown in the spreadsheet with fewer digits than it keeps, and sent as it is shown',
        grouped: 'is a number that the spreadsheet shows with separators of thousands, and sent with them',
        wrapped:
          'has signs around it that keep it a text in a spreadsheet (= or an apostrophe); they are sent',
      })[as],
    title: 'Texts or terms that a program may have changed',
    remedy:
      'Check these rows. Leave out those with nothing to moderate, or export the file again with this column as text.',
  },
  id_precision: {
    expected: () => ({
      terminal:
        'is stored as a number with more than 15 digits; spreadsheets change all digits after the 15th. Export the ids again as text',
      window: 'is stored as a number with more than 15 digits; spreadsheets change all digits after the 15th',
    }),
    title: 'Ids with more than 15 digits that are stored as numbers',
    remedy: 'Spreadsheets keep 15 digits. Format the column as text, then enter these ids again.',
    needs: 'ids_changed',
  },
  not_unique: {
    expected: (
      { ignoresCase }: { ignoresCase: boolean },
      also?: { row: number | string; isInvalid?: boolean },
    ) => {
      const other = also === undefined ? '' : `, but is also in row ${also.row}`
      const advice = also?.isInvalid
        ? ', which is invalid, too. Leave that row out, or change its value there'
        : ''
      return `must be unique in the source${ignoresCase ? ' (ignoring case)' : ''}${other}${advice}`
    },
    title: 'Duplicate value',
    remedy:
      'Each row needs its own value: edit the rows, leave the duplicates out, or map another column or a template.',
  },
  same_item: {
    expected: ({ effect }: { effect: 'adds' | 'removes' }, also?: { row: number | string }) => {
      const where = also === undefined ? 'is in an earlier row, too' : `is also in row ${also.row}`
      return effect === 'adds'
        ? `${where}, so that the index gets another item for it`
        : `${where}, and an item can only be removed once`
    },
    title: 'Items that are in the source twice',
    remedy: 'Each of these rows is sent. If that is not meant, leave the later ones out.',
  },
  look_alike: {
    expected: ({ of }: { of: 'term' | 'id' }, also?: { row: number | string }) =>
      of === 'id'
        ? 'has characters that look like others (é as two, full width, letters or digits of another script); to the service, the id that looks the same is another'
        : `looks like ${also === undefined ? `another ${of}` : `the ${of} of row ${also.row}`}, and differs only in characters that look alike; both are sent`,
    title: 'Ids or terms that look alike',
    remedy:
      'Values can differ only in invisible characters, width or composed letters. Check whether each is meant.',
  },
  not_distinct: {
    expected: ({ field }: { field: string }) => `must differ from ${field}`,
    title: 'Ids that must differ are the same',
    remedy: 'group_id must differ from post_id and parent_id. Map other columns.',
  },
} satisfies Partial<Record<ProblemCode, ProblemEntry>>
