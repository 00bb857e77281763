import { type Command, Option } from 'commander'
import {
  type AnswerText,
  createCsvText,
  createJsonlText,
  toValueText,
} from '../../../shared/lookback/sql-answer-text.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { sayGuarded } from '../../../shared/run/formula-guard.ts'
import type { CliContext } from '../context.ts'
import { withEngine } from '../engine-access.ts'
import { createDurationParser } from '../options/parse-values.ts'
import { RUN_ARGUMENT_HELP, resolveRunIds } from '../options/run-reference.ts'
import { addExamples, addWorkspaceOption, type WorkspaceFlags } from '../options/shared-options.ts'
import { formatTable } from '../terminal/layout.ts'

const FORMATS = ['table', 'csv', 'jsonl'] as const

interface SqlFlags extends WorkspaceFlags {
  format: (typeof FORMATS)[number]
  timeout: number
  each?: boolean
}

/** Rows of a table at most: all are measured before the first is shown. */
const TABLE_ROWS_MAX = 500

/** Least width of a column, in columns of the terminal. */
const COLUMN_MIN = 8

/** Writes an answer as its rows come. */
interface AnswerWriter extends AnswerText {
  end: (rows: number) => string
}

/** Adds `sql RUN… STATEMENT`: answers a statement about the rows of runs. */
export function addSqlCommand(program: Command, context: CliContext): void {
  const command = program
    .command('sql')
    .usage('[options] <run...> <statement>')
    .argument('<words...>', `runs, each a ${RUN_ARGUMENT_HELP}; then one SELECT statement of SQLite`)
    .description(
      'Answers an SQL statement about the rows of runs, over the views rows, answers, scores, rules and tries.\n' +
        'docs/sql.md lists their columns. It only reads.',
    )
    .addOption(
      new Option('--format <format>', 'how rows are written; a table shows the first 500')
        .choices(FORMATS)
        .default('table'),
    )
    .addOption(
      new Option('--timeout <duration>', 'longest time the statement may take')
        .argParser(createDurationParser('1h'))
        .default(60_000, '60s'),
    )
    .option('--each', 'ask each run by itself, however many there are, and put its id before its rows')
  addWorkspaceOption(command).action(async (words: readonly string[], flags: SqlFlags) => {
    const sql = words.at(-1) ?? ''
    const references = words.slice(0, -1)
    if (references.length === 0) command.error("error: missing the run: sluice sql RUN 'SELECT …'")
    await withEngine(context, flags.workspace, async (engine) => {
      const runIds = await resolveRunIds(engine, references)
      const writer = WRITERS[flags.format](context)
      const isData = flags.format === 'csv'
      let written = 0
      const asking = engine.lookback.askSql([...new Set(runIds)], {
        sql,
        timeoutMs: flags.timeout,
        each: flags.each,
        onRow: async (values, index) => {
          const text = index === 0 ? writer.names(values.map(String)) : writer.row(values)
          if (text === '') return
          await context.out.write(text, { isData })
          written = index
        },
      })
      const rows = await asking.catch(async (error: unknown) => {
        if (written > 0) {
          await context.err.writeLine(
            `The output is incomplete: it ends after ${formatCounted(written, 'row')}.`,
          )
        }
        throw error
      })
      await context.out.write(writer.end(rows), { isData })
      const guarded = writer.guardedCells()
      if (guarded > 0) await context.err.writeLine(sayGuarded(guarded, 'JSON lines hold them unchanged'))
    })
  })
  addExamples(command, [
    "sql latest 'SELECT state, count(*) AS n FROM rows GROUP BY state'",
    "sql latest 'SELECT rule_name, avg(score) FROM rules JOIN scores USING (run, record) GROUP BY 1'",
    "sql 20261121-0915 latest 'SELECT run, max(duration_ms) FROM tries GROUP BY run' --format csv",
    "sql 20261121-0915 latest --each 'SELECT state, count(*) AS n FROM rows GROUP BY state'",
  ])
}

const WRITERS: Readonly<Record<SqlFlags['format'], (context: CliContext) => AnswerWriter>> = {
  table: createTableWriter,
  csv: () => ({ ...createCsvText(), end: () => '' }),
  jsonl: () => ({ ...createJsonlText(), end: () => '' }),
}

function createTableWriter({ outTerminal }: CliContext): AnswerWriter {
  let columns: readonly string[] = []
  const kept: (readonly unknown[])[] = []
  return {
    guardedCells: () => 0,
    names(names) {
      columns = names
      return ''
    },
    row(values) {
      if (kept.length < TABLE_ROWS_MAX) kept.push(values)
      return ''
    },
    end(rows) {
      const lines = formatTable(outTerminal, {
        columns: columns.map((title) => ({ title, kind: 'text' as const, minColumns: COLUMN_MIN })),
        rows: kept.map((values) => values.map(toValueText)),
      })
      const more =
        rows > kept.length
          ? `${formatCounted(rows, 'row')}; the first ${kept.length} are shown, --format csv writes all`
          : formatCounted(rows, 'row')
      return `${[...lines, '', more].join('\n')}\n`
    },
  }
}
