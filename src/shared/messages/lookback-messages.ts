import type { LedgerKind, LedgerService } from '../lookback/ledger.ts'
import { type ErrorEntry, ofCode } from './error-entry.ts'
import { formatCount, formatCounted } from './figure-text.ts'

const DIFFERENT_KEYS =
  'If the file of labels and the run call the column differently, name both: --key FILE_COLUMN=RUN_COLUMN.'

function sayNearest(nearest: string | null): string {
  return nearest === null ? 'Use one of these columns, by name or number.' : `Did you mean \`${nearest}\`?`
}

/** Errors of evaluations, verdicts, samples and other views of past runs. */
export const LOOKBACK_MESSAGES = {
  ...ofCode('BAD_USAGE', {
    evaluation_not_of_tasks: ({ runId }: { runId: string }) => ({
      text: `run ${runId} cannot be evaluated: it is a load test, or not a \`task\` run`,
      remedy: 'Choose a `task` run that is not a load test.',
    }),
    lookback_column_missing: (args: {
      option: string
      column: string
      file: string
      /** The existing columns, listed for a sentence. */
      columns: string
      nearest: string | null
    }) => ({
      text: {
        terminal: `${args.option}: \`${args.column}\` is not a column of ${args.file}; the columns are ${args.columns}`,
        window: `\`${args.column}\` is not a column of ${args.file}; the columns are ${args.columns}`,
      },
      remedy: {
        terminal: sayNearest(args.nearest) + (args.option === '--key' ? ` ${DIFFERENT_KEYS}` : ''),
        window: sayNearest(args.nearest),
      },
    }),
    labels_name_no_rule: ({
      values,
      rules,
      positives = [],
    }: {
      values: readonly string[]
      rules: readonly string[]
      /** Mapped labels that no row has. */
      positives?: readonly string[]
    }) => ({
      text:
        (positives.length === 0
          ? 'none of the labels is the name of a rule'
          : `no evaluated row has the ${positives.length === 1 ? 'label' : 'labels'} ${quoteAll(positives)}`) +
        `; labels: ${quoteAll(values)}; triggered rules: ${quoteAll(rules)}`,
      remedy: {
        terminal:
          'Map each label to its rule, for example: --positive "spam=Likely spam" or --positive "yes=any rule"',
        window: 'Under Labels, say for each value which rule it stands for, or any rule.',
      },
    }),
    evaluation_without_labels: ({ runId, withoutAnswer }: { runId: string; withoutAnswer: number }) => ({
      text:
        withoutAnswer === 0
          ? `no row of run ${runId} has a label`
          : `no row of run ${runId} has both a label and an answer (rows with a label but no answer: ${withoutAnswer})`,
      remedy:
        'Check the label column. If the labels are in another file, also check the column that matches its rows to those of the run.',
    }),
    evaluation_forgotten: () => ({
      text: 'the evaluation that these rows are from is no longer in memory',
      remedy: 'Open Evaluate and press the cell again.',
    }),
    assertion_of_unknown_rule: ({ expression, rules }: { expression: string; rules: readonly string[] }) => ({
      text: `assertion \`${expression}\`: the rule is not part of this evaluation; its rules: ${quoteAll(rules)}`,
      remedy: 'Use one of these rules, or overall, macro or micro.',
    }),
    cell_of_unknown_rule: ({ rule, rules }: { rule: string; rules: readonly string[] }) => ({
      text: `--list: \`${rule}\` is not part of this evaluation; its rules: ${quoteAll(rules)}`,
      remedy: 'Use one of these rules, or overall.',
    }),
    report_of_load: ({ runId }: { runId: string }) => ({
      text: `run ${runId} is a load test, which has no evaluation and no rows to report`,
      remedy: 'Choose a file that ends in .html or .md. To write other formats of a load test, use `export`.',
    }),
    report_ending: ({ file }: { file: string }) => ({
      text: `${file}: expected a name that ends in .html, .md or .xlsx`,
      remedy: 'The ending selects the format: .html for a page, .md for Markdown, .xlsx for a workbook.',
    }),
    comparison_of_load_test: ({ runId }: { runId: string }) => ({
      text: `the decisions of run ${runId} cannot be compared: it is a load test, which keeps no result for each row`,
      remedy:
        'Compare two runs that send each row once, or leave out the options for changed rows and labels.',
    }),
    comparison_of_operations: (args: { operation: string; otherOperation: string }) => ({
      text: `the decisions of these runs cannot be compared: one is \`${args.operation}\`, the other \`${args.otherOperation}\``,
      remedy: 'Choose two runs of the same operation.',
    }),
    comparison_without_post_id: ({ runId }: { runId: string }) => ({
      text: `--by post_id: run ${runId} is not a \`task\` run, so its rows have no post_id`,
      remedy: 'Use --by row, --by content or a column.',
    }),
    comparison_without_labels: () => ({
      text: 'no row that was answered in both runs has a label',
      remedy: 'Check the label column, and that --by joins the rows that belong together.',
    }),
    list_of_unknown_rule: ({ rule, rules }: { rule: string; rules: readonly string[] }) => ({
      text: `--list: no row of either run triggered \`${rule}\`; triggered rules: ${quoteAll(rules)}`,
      remedy: 'Use one of these rules, by name or id.',
    }),
    baseline_missing: (args: { name: string; runId: string | null; source: string | null }) => ({
      text:
        args.runId === null
          ? `no baseline \`${args.name}\` is set for any run`
          : `run ${args.runId} has no baseline \`${args.name}\`: none is set for ${args.source} on its connection`,
      remedy: 'Set one with `baseline set RUN`. `baseline list` shows the existing ones.',
    }),
    baseline_alone: ({ name }: { name: string }) => ({
      text: `no other run has the source and connection of a baseline \`${name}\``,
      remedy: 'Send the source again, or name the runs to compare.',
    }),
    baseline_is_run: ({ name, runId }: { name: string; runId: string }) => ({
      text: `run ${runId} is the baseline \`${name}\` itself`,
      remedy: 'Send the source again, or name a later run.',
    }),
    baseline_deleted: ({ name, runId }: { name: string; runId: string }) => ({
      text: `the baseline \`${name}\` points to run ${runId}, which no longer exists`,
      remedy: 'Set another run as the baseline with `baseline set RUN`.',
    }),
    run_is_baseline: ({ runId, names }: { runId: string; names: readonly string[] }) => ({
      text: `run ${runId} is the baseline ${quoteAll(names)}, which later runs are compared with`,
      remedy: {
        terminal: `To delete it all the same, first remove the mark: baseline remove ${runId}`,
        window:
          'Make another run the baseline under Compare, or remove the baseline there. Then delete the run.',
      },
    }),
    baseline_not_of_run: ({ reference, known }: { reference: string; known: readonly string[] }) => ({
      text: `\`${reference}\` is not a baseline; baselines: ${quoteAll(known)}`,
      remedy: 'Name a run that `baseline list` shows.',
    }),
    trend_without_runs: ({ source, known }: { source: string; known: readonly string[] }) => ({
      text: `no run sent ${source}; sources of runs: ${quoteAll(known)}`,
      remedy: 'Name one of these sources, or a run.',
    }),
    trend_without_tag: ({ tag }: { tag: string }, sluice: string) => ({
      text: `no run has the tag ${quoteAll([tag])}`,
      remedy: {
        terminal: `Name sources, or tag runs first: ${sluice} runs edit RUN --tag TAG`,
        window: 'Tag runs first, or choose sources.',
      },
    }),
    pattern_too_wide: ({ pattern, max }: { pattern: string; max: number }) => ({
      text: `the braces of the pattern ${quoteAll([pattern])} stand for more than ${formatCount(max)} names`,
      remedy: 'Use * instead, such as posts-*.csv.',
    }),
    verdict_changed: ({ row, now }: { row: string; now: readonly string[] }) => ({
      text:
        `the verdict was not stored: row ${row} was judged elsewhere meanwhile; ` +
        `its verdicts are now: ${now.length === 0 ? 'none' : now.join(', ')}`,
      remedy: 'If you see it otherwise, give your verdict again.',
    }),
    labelling_missing: ({ runId }: { runId: string }) => ({
      text: `no rows of run ${runId} are drawn for labelling`,
      remedy: 'Draw a sample, then label its rows.',
    }),
    labelling_replaced: ({ runId }: { runId: string }) => ({
      text: `other rows of run ${runId} were drawn for labelling meanwhile; your position was not stored`,
      remedy: 'Continue with these rows. Your verdicts are kept.',
    }),
    labelling_empty: ({ runId }: { runId: string }) => ({
      text: `run ${runId} has no answered rows to label`,
      remedy: 'Wait until the service has answered, or choose another run.',
    }),
    annotations_refused: ({ reason }: { reason: string }) => ({
      text: reason,
      remedy: 'Nothing was changed.',
    }),
    annotations_changed: ({ what, value }: { what: 'name' | 'note'; value: string }) => ({
      text: `the ${what} was changed elsewhere meanwhile; nothing was saved. It is now: ${value === '' ? 'empty' : `“${value}”`}`,
      remedy: 'Save again to replace it, or cancel to keep it.',
    }),
    sample_over_source: ({ file }: { file: string }) => ({
      text: `${file} is the file that the sample is drawn from`,
      remedy: 'Choose another file for the sample.',
    }),
    sample_strata_too_many: ({ by, most }: { by: string; most: number }) => ({
      text: {
        terminal: `--by ${by}: the column has more than ${most} different values`,
        window: `the column ${by} has more than ${most} different values, too many for groups`,
      },
      remedy: 'Choose a column with fewer values, such as a language or a label.',
    }),
    ledger_without_runs: ({ of, commands, services }: LedgerRunsArgs) => ({
      text: `no run has ${DEEDS[of]} on this service`,
      remedy:
        services.length === 0
          ? `The ledger is made from runs of ${listCommands(commands)}. The workspace has none.`
          : `The workspace has such runs on ${listServices(services)}.`,
    }),
    ledger_of_several: ({ commands, services }: LedgerRunsArgs) => ({
      text: `several services have runs of ${listCommands(commands)}: ${listServices(services)}`,
      remedy: {
        terminal: 'Choose one with --connection, --base-url or --api-key-env.',
        window: 'Choose one of them.',
      },
    }),
    ledger_list_unknown: (args: { of: LedgerKind; name: string; names: readonly string[] }) => ({
      text: `no run has ${DEEDS[args.of]} in \`${args.name}\` on this service`,
      remedy:
        args.names.length === 0
          ? `These runs changed no ${args.of}. Check whether the service accepted their rows.`
          : `Choose one of ${quoteAll(args.names)}.`,
    }),
    ledger_list_open: ({ of, names }: { of: LedgerKind; names: readonly string[] }) => ({
      text:
        names.length === 0
          ? `there is nothing to export: these runs did not change any ${of}`
          : `an export covers only one ${of}, but these runs changed several: ${quoteAll(names)}`,
      remedy: names.length === 0 ? 'Check whether these runs sent any rows.' : 'Name one of them.',
    }),
  }),
  ...ofCode('WORKSPACE_UNUSABLE', {
    baselines_unusable: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot use the baselines in ${file}: ${reason}`,
      remedy: 'To start without baselines, move the file to another folder. Runs are not affected.',
    }),
    verdicts_unusable: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot use the verdicts in ${file}: ${reason}`,
      remedy: 'To start without verdicts, move the file to another folder. The run itself is not affected.',
    }),
    labelling_unusable: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot use the labelling in ${file}: ${reason}`,
      remedy: 'To draw another sample, delete the file. Run and verdicts are not affected.',
    }),
    annotations_unusable: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot use the name, tags and note in ${file}: ${reason}`,
      remedy: 'To start without them, delete the file. The run itself is not affected.',
    }),
  }),
  ...ofCode('BAD_SOURCE', {
    row_column_unclear: ({ file, column }: { file: string; column: string }) => ({
      text: `${file} does not say whether ${column} holds row numbers of a spreadsheet or record numbers`,
      remedy: `In the file, rename it to row for numbers as a spreadsheet shows them, or to sluice_record for record numbers (1 is the first row below the header), as versions up to 0.2 wrote them.`,
    }),
    label_file_wrong: ({ file, row, reason }: { file: string; row: string; reason: string }) => ({
      text: `${file}, row ${row}: ${reason}`,
      remedy: 'Correct this row of the file, then evaluate again.',
    }),
    verdict_columns_doubled: ({
      file,
      column,
      columns,
    }: {
      file: string
      column: string
      columns: string
    }) => ({
      text: `${file} has several columns called ${column}: ${columns}`,
      remedy: 'Nothing was stored. Rename all of them but one in the file, then import it again.',
    }),
    verdict_file_wrong: ({ file, row, reason }: { file: string; row: string; reason: string }) => ({
      text: `${file}, row ${row}: ${reason}`,
      remedy: 'Nothing was stored. Correct this row of the file and import the file again.',
    }),
  }),
  assertions_unanswered: {
    code: 'BAD_SOURCE',
    exit: 'notJudged',
    words: ({ runId, withoutAnswer }: { runId: string; withoutAnswer: number }) => ({
      text: `assertions cannot be judged: ${formatCounted(withoutAnswer, 'labelled row')} of run ${runId}, and none has an answer`,
      remedy: 'Retry the run, then evaluate it again.',
    }),
  },
} satisfies Record<string, ErrorEntry>

const DEEDS: Record<LedgerKind, string> = {
  index: 'added or removed items',
  watchlist: 'added or updated terms',
  appeals: 'checked appeals',
}

/** `commands` start the runs that contribute to a ledger. */
interface LedgerRunsArgs {
  of: LedgerKind
  commands: readonly string[]
  services: readonly LedgerService[]
}

function listCommands(commands: readonly string[]): string {
  return commands.map((command) => `\`${command}\``).join(' and ')
}

/** The address of a service and, if known, the connection or variable of its key. */
export function sayLedgerService({ base_url: url, connections, api_key_env: env }: LedgerService): string {
  if (connections.length > 0) return `${url} (connection ${connections.join(', ')})`
  return env === null ? url : `${url} (key in ${env})`
}

function listServices(services: readonly LedgerService[]): string {
  return services.map(sayLedgerService).join(', ')
}

/** A list of quoted names, or `none`. */
function quoteAll(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.map((name) => `\`${name}\``).join(', ')
}
