import { type ErrorEntry, ofCode } from './error-entry.ts'

export const EXPORT_MESSAGES = {
  ...ofCode('BAD_USAGE', {
    export_over_source: (args: {
      file: string
      of: 'run' | 'labels'
      how: 'is' | 'in' | 'holds'
      path: string
    }) => {
      const named = args.of === 'run' ? 'a source of this run' : 'the source of the labels'
      const text = {
        is: `${args.file} is ${named}; the export would overwrite it`,
        in: `${args.file} is in a folder that is ${named}, ${args.path}; the export would overwrite the file`,
        holds: `${args.file} contains ${named}, ${args.path}; the export would overwrite it`,
      }
      return {
        text: text[args.how],
        remedy:
          args.how === 'in'
            ? 'Choose a file that is not in that folder.'
            : 'Choose another file, such as results.csv.',
      }
    },
    file_of_others: ({ file, isChanged }: { file: string; isChanged: boolean }) => ({
      text: isChanged
        ? `${file} was changed since Sluice wrote it`
        : `${file} exists, and was not written from this workspace`,
      remedy: {
        terminal: 'Choose another file, or add --overwrite to replace it.',
        window: 'Choose another file.',
      },
    }),
    export_ending: ({ file, ending }: { file: string; ending: string }) => ({
      text: `${file}: expected a name that ends in .csv, .xlsx, .jsonl or .parquet, found ${ending === '' ? 'no ending' : `\`${ending}\``}`,
      remedy:
        'The ending selects the format: .csv or .xlsx for spreadsheets, .jsonl for programs, .parquet for analysis. Text can be compressed: .csv.gz, .jsonl.gz.',
    }),
    export_batch_of_run: ({ file }: { file: string }, sluice: string) => ({
      text: `${file}: OpenAI's batch formats have no place for labels, changes or verdicts`,
      remedy: {
        terminal: `Choose .csv, .xlsx, .jsonl or .parquet here, or export the run itself: ${sluice} export RUN FILE`,
        window: 'Choose .csv, .xlsx, .jsonl or .parquet here, or export the run itself.',
      },
    }),
    export_batch_of_task: ({ file }: { file: string }) => ({
      text: `${file}: only runs that submit content can be exported in OpenAI's batch formats`,
      remedy: 'Choose a name that ends in .csv, .xlsx, .jsonl or .parquet.',
    }),
    export_column_unknown: ({ name, candidates }: { name: string; candidates: readonly string[] }) => ({
      text: `the column \`${name}\` does not exist in this export`,
      remedy:
        candidates.length === 0
          ? 'Use columns of the source, columns that docs/exports.md lists, or one of these sets of columns: default, all, source, scores, rules.'
          : `Did you mean ${candidates.map((one) => `\`${one}\``).join(' or ')}?`,
    }),
    filter_file_unknown: ({ file, files }: { file: string; files: readonly string[] }) => ({
      text: `no row of the run is from the file \`${file}\``,
      remedy:
        files.length === 0
          ? 'The source of the run is a single file. Leave --from-file out.'
          : `Name one of these files, or leave --from-file out: ${listNames(files)}.`,
    }),
    export_rule_unknown: ({ rule, rules }: { rule: string; rules: readonly string[] }) => ({
      text: `no row of the run triggered the rule \`${rule}\``,
      remedy:
        rules.length === 0
          ? {
              terminal: 'No row triggered any rule. Leave --rule out.',
              window: 'No row triggered any rule. Export all rows.',
            }
          : {
              terminal: `Name one of these rules, or leave --rule out: ${listNames(rules)}.`,
              window: `Choose one of these rules: ${listNames(rules)}.`,
            },
    }),
    export_columns_of_jsonl: ({ file }: { file: string }) => ({
      text: `${file}: --columns and --rules-as-columns only apply to .csv, .xlsx and .parquet`,
      remedy: 'A .jsonl export always holds everything. Remove the option, or choose another ending.',
    }),
    export_delimiter_of_csv: ({ file }: { file: string }) => ({
      text: `${file}: --delimiter only applies to .csv`,
      remedy: 'Leave the option out, or choose a name that ends in .csv.',
    }),
    export_delimiter_of_source: ({ delimiter }: { delimiter: string }) => ({
      text: `the source has \`${delimiter}\` as its delimiter, which exports do not support`,
      remedy: 'Pass --delimiter with a comma, semicolon, pipe or tab.',
    }),
    export_gzip_of_text: ({ file }: { file: string }) => ({
      text: `${file}: gzip only applies to .csv and .jsonl`,
      remedy: 'Workbooks and Parquet files are compressed already. Leave the compression out.',
    }),
    export_gzip_of_stdout: ({ file }: { file: string }) => ({
      text: `${file}: --gzip only applies to - (stdout)`,
      remedy: 'The name of a file says that it is compressed: end it in .csv.gz or .jsonl.gz.',
    }),
    export_bytes_to_terminal: () => ({
      text: 'a terminal cannot show compressed or Parquet data',
      remedy: 'Redirect stdout to a file or another program, or name a file.',
    }),
    export_load_to_stdout: () => ({
      text: 'a load test cannot be exported to stdout',
      remedy: 'Name a file that ends in .html, .md, .junit.xml, .hlog, .csv, .jsonl, .k6.zip or .k6.',
    }),
    export_format_of_stdout: ({ file }: { file: string }) => ({
      text: `${file}: --format only applies to - (stdout)`,
      remedy: 'The ending of a file selects its format.',
    }),
    export_over_xlsx_limit: ({ found, limit }: { found: string; limit: string }) => ({
      text: `the report does not fit into an .xlsx file: ${found}, and ${limit}`,
      remedy: 'Export to .csv or .jsonl, which have no such limit.',
    }),
  }),
  ...ofCode('INTERNAL', {
    export_value_untyped: ({ name, value }: { name: string; value: string }) => ({
      text: `the column ${name} of a Parquet file cannot hold \`${value}\``,
      remedy: 'Export to .csv instead, where every cell is text.',
    }),
    export_row_too_wide: ({ row, cells, columns }: { row: string; cells: number; columns: number }) => ({
      text: `row ${row} has ${cells} cells, but only ${columns} columns were recorded for the run`,
      remedy: 'This is a bug in Sluice. Export to .jsonl instead, which keeps every cell of the row.',
    }),
  }),
} satisfies Record<string, ErrorEntry>

function listNames(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ')
}
