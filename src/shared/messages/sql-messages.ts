import { type ErrorEntry, ofCode } from './error-entry.ts'

/** What statements may do, part of every refusal. */
const READS_VIEWS = {
  terminal:
    'Write one SELECT over the views rows, answers, scores, rules and tries, whose columns docs/sql.md lists.',
  window: 'Write one SELECT over the views that “Views and their columns” lists.',
}

export const SQL_MESSAGES = ofCode('BAD_USAGE', {
  sql_failed: ({ reason }: { reason: string }) => ({
    text: `the statement failed: ${reason}`,
    remedy: READS_VIEWS,
  }),
  sql_refused: ({ reason }: { reason: string }) => ({
    text: `the statement does more than read the views: ${reason}`,
    remedy: READS_VIEWS,
  }),
  sql_several: () => ({
    text: 'there is more than one statement',
    remedy: 'Give one statement at a time.',
  }),
  sql_reads_nothing: () => ({ text: 'the statement gives no rows', remedy: READS_VIEWS }),
  sql_too_large: ({ reason }: { reason: string }) => ({
    text: `the statement needs too much memory: ${reason}`,
    remedy: 'Select fewer columns, sort or group fewer rows, or use LIMIT.',
  }),
  sql_timed_out: ({ seconds }: { seconds: number }) => ({
    text: `the statement took longer than ${seconds} s and was stopped`,
    remedy: {
      terminal: 'Narrow it with WHERE or LIMIT, or allow more time with --timeout.',
      window: 'Narrow it with WHERE or LIMIT.',
    },
  }),
  sql_broke_off: ({ reason }: { reason: string }) => ({
    text: `the process of the statement broke off: ${reason}`,
    remedy: 'It may have needed too much memory. Select fewer columns, or use LIMIT.',
  }),
  sql_of_load: ({ runId }: { runId: string }) => ({
    text: `${runId} is a load test, whose rows have no results of their own`,
    remedy: 'Export what it measured, such as to .csv or .jsonl.',
  }),
  sql_too_many_runs: ({ runs, most }: { runs: number; most: number }) => ({
    text: `these runs and their retries are ${runs}; a statement reads at most ${most}`,
    remedy: {
      terminal: 'Name fewer runs, or ask each run by itself with --each.',
      window: 'Name fewer runs.',
    },
  }),
  sql_columns_differ: ({ runId, names }: { runId: string; names: readonly string[] }) => ({
    text: `run ${runId} answers with other columns than the runs named before it: ${names.join(', ')}`,
    remedy: 'Select columns by name, such as those that all of these runs have.',
  }),
}) satisfies Record<string, ErrorEntry>
