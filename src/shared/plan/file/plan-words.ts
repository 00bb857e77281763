import { VALUE_WORDS } from '../../options/plan-options.ts'

/**
 * What each key of a plan file means, a sentence, by its path; `*` stands for any key. Editors show these next to what
 * is typed. Kinds of a union share the words of a key they have in common.
 */
export const PLAN_WORDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Array.from(VALUE_WORDS, ([path, { words }]) => [path, words])),
  $schema: 'Schema of plan files, for editors; Sluice does not read it.',
  $comment: 'A note for people; Sluice does not read it.',
  version: 'Format version.',
  name: 'Run name (default: the name of the source).',
  connection: 'The service to send to.',
  source: 'The file or folder of rows, and how to read it.',
  mapping: 'What fills each field of the request (default: columns matched by name).',
  'mapping.*': 'What fills this field: a column, or a template.',
  'mapping.*.kind': 'A column of the source, or a text with placeholders.',
  'mapping.*.column': 'Name of a column, or its number from 1.',
  'mapping.*.template':
    'Text with {{row}} (the record number, from 1), {{run}} and {{column name}} as placeholders.',
  filledBy:
    'Fields of the mapping that nobody stated, each with how it was filled: by a column of its name, or by a guess (default: none). Before content is lost to a guess, a run asks.',
  accept:
    'Kinds of warnings about the source that do not stop the rows from being sent, whatever their cause: content_cut, ids_changed, hidden_rows, encoding_uncertain, fixes_do_not_fit; and ids_rewritten, the service answers with other ids (default: none). Better name causes under `accepted`.',
  accepted:
    'Causes of warnings that were accepted, as a run or --save-plan writes them. Other causes stop the rows from being sent, unless a person is asked.',
  'accepted.columns':
    'Columns of the source that the causes were accepted for; in a source with others, nothing is accepted.',
  'accepted.causes': 'The causes, each a problem, its field and what else tells it from others.',
  'accepted.causes.*.problem': 'Code of the problem, as show --problems --json prints it.',
  'accepted.causes.*.field': 'Field of the request that the problem is about.',
  'accepted.causes.*.args': 'What else tells the cause from others, such as the name of a column.',
  fixes:
    'Corrections laid over the source, which stays as it is: of single cells, and rules for every row that they fit.',
  'fixes.*.kind':
    'cell: another text in one row. value: one value for all rows with a problem. substitute: `_` and `;` in ids. trim: white space at the ends, and invisible characters. drop_fraction: .0 behind whole numbers. split: text_data and url as two rows. join_cells: surplus cells of a row as part of its last. leave_out, leave_out_row: do not send.',
  'fixes.*.record':
    'Record number, from 1 for the first row below the header, as `record` in --json and `sluice_record` in exports.',
  'fixes.*.row': 'The record number in plans of versions up to 0.2; use `record`.',
  'fixes.*.field':
    'Field of the request, such as post_id; for leave_out the field that the problem is about.',
  'fixes.*.value':
    'What to send. In cell the text itself, in value a template with {{row}}, {{run}} and {{column name}}; empty leaves the field out.',
  'fixes.*.from': 'Number of the last column, from 1: this cell and those behind it become one.',
  'fixes.*.with': 'Text between the joined cells: the delimiter of the file.',
  'fixes.*.rowHash':
    'Hash of the cells of that row, as `row_hash` in show --row --json. In a row with other cells the fix does nothing, and a run asks before it sends.',
  'fixes.*.was':
    'Correct the cell only while the source has this text in it; if not, a run asks before it sends.',
  'fixes.*.escapes':
    'Characters that an id is changed for (default: _;~). With _; ids may get the same value, as in version 0.2.0.',
  'fixes.*.problem': 'Code of the problem, as show --problems --json prints it.',
  operation: 'What to do with each row.',
  'operation.kind': 'Submit content, maintain a custom index or a watchlist, or read the status of appeals.',
  'operation.mode': 'sync: wait for each result. async: results arrive as callbacks.',
  'operation.api': 'Version of the task endpoints.',
  'operation.legacy': 'Request the legacy response of v1 with class scores.',
  'operation.models': 'Models to run; v1 accepts one.',
  'operation.indexId': 'Custom index id, from the dashboard.',
  'operation.watchlist': 'API field name of the watchlist.',
  'operation.termsPerRequest': 'Maximum terms per request.',
  'operation.emptyNotes': 'What an empty notes cell does: keep the notes, or clear them.',
  callback: 'Where to receive callbacks of an async run, and how long to wait.',
  pace: 'How fast to send.',
  'pace.kind': 'closed: a number of requests in flight. open: a rate of requests per second.',
  'pace.concurrency': 'Maximum requests in flight.',
  'pace.ratePerSecond': 'Requests per second, sent on schedule even if the service slows down.',
  'pace.maxInFlight': 'Maximum requests in flight; at the limit, due requests wait.',
  load: "Load test instead of sending each row once; its pace replaces the plan's pace.",
  retry: 'Retries of requests that are safe to repeat.',
}
