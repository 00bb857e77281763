import { type Command, InvalidArgumentError } from 'commander'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { formatProblem, toWordedProblem } from '../../../shared/messages/problem-messages.ts'
import { describeState, toStateName } from '../../../shared/messages/state-name.ts'
import { formatRow, toNumbered, toRowAndRecord } from '../../../shared/plan/source-place.ts'
import { type Cell, foreign, number, type Section, text } from '../../../shared/report/report.ts'
import { PAGE_MAX_ROWS, type ResultRow, type RowDetail } from '../../../shared/run/results.ts'
import { isLoadRun, type RunSummary } from '../../../shared/run/run.ts'
import type { Engine } from '../../engine/engine.ts'
import type { CliContext } from '../context.ts'
import { writeDocument } from '../documents/write-document.ts'
import { withEngine } from '../engine-access.ts'
import {
  addFilterOptions,
  type FilterFlags,
  listFilterFlags,
  toRowFilter,
} from '../options/filter-options.ts'
import { createIntegerParser, parseRowArgument } from '../options/parse-values.ts'
import { RUN_ARGUMENT_HELP, resolveRun } from '../options/run-reference.ts'
import { addDocumentOptions, addExamples, type DocumentFlags } from '../options/shared-options.ts'
import { printSummary } from '../session/settle-run.ts'
import { formatProblemGroups, formatRowDetail, toWordedGroups } from '../summary/row-text.ts'
import { toPrintable, toSnakeCase } from '../terminal/output.ts'
import { formatReport } from '../terminal/report-text.ts'

interface ShowFlags extends DocumentFlags, FilterFlags {
  problems?: true
  row?: string
  limit?: number
  offset?: number
}

/** Rows listed without --limit. */
const ROWS_LISTED = 50

/** A row as programs read it: its state and its problems in words. */
function toNamed(detail: RowDetail) {
  const { result, problems } = detail
  return {
    ...detail,
    result: { ...toNumbered(result), state: toStateName(result.state) },
    problems: problems.map(toWordedProblem),
  }
}

/** A load test submits each row many times, and keeps a sample of them. */
function refuseRow(runId: string): never {
  throw new SluiceError({ id: 'row_of_load', runId })
}

/** Adds `show RUN`: the whole run, the problems of its rows, or one row with its exact exchange. */
export function addShowCommand(program: Command, context: CliContext): void {
  const command = program
    .command('show')
    .argument('<run>', RUN_ARGUMENT_HELP)
    .description('Shows the state and results of a run.')
    .option('--problems', 'problems in the source, grouped by cause')
    .option(
      '--row <n>',
      'one row, numbered as in the spreadsheet (the header is row 1), with its cells, request, attempts, answer and callbacks',
      parseRowArgument,
    )
  addFilterOptions(command)
    .option(
      '--limit <n>',
      `rows to list that match the filters (default: ${ROWS_LISTED})`,
      createIntegerParser(1, PAGE_MAX_ROWS),
    )
    .option(
      '--offset <n>',
      'matching rows to skip (default: 0)',
      createIntegerParser(0, Number.MAX_SAFE_INTEGER),
    )
  addDocumentOptions(command).action(async (reference: string, flags: ShowFlags) => {
    refuseContradictions(flags)
    await withEngine(context, flags.workspace, async (engine) => {
      const run = await resolveRun(engine, reference)
      if (flags.row !== undefined) {
        if (isLoadRun(run)) refuseRow(run.run_id)
        const detail = await engine.results.readRow(
          run.run_id,
          await engine.results.findRow(run.run_id, flags.row),
        )
        if (flags.json) return writeDocument(context.out, toSnakeCase(toNamed(detail)) as object)
        return context.out.writeLine(formatRowDetail(context.outTerminal, detail))
      }
      if (flags.problems) {
        if (!flags.json) return printProblems(context, engine, run.run_id)
        const problems = await engine.results.readProblems(run.run_id)
        return writeDocument(context.out, { run_id: run.run_id, problems: toWordedGroups(problems) })
      }
      if (listFilterFlags(flags).length > 0) {
        if (isLoadRun(run)) refuseRow(run.run_id)
        return printRows(context, engine, run, flags)
      }
      await printSummary(context, engine, run, flags)
    })
  })
  addExamples(command, [
    'show latest',
    'show latest --problems',
    'show latest --row 17',
    'show latest:posts.csv --state rejected --limit 10',
    'show latest --flagged --json',
  ])
}

/** Throws commander's `InvalidArgumentError` for options that exclude each other. */
function refuseContradictions(flags: ShowFlags): void {
  const filters = listFilterFlags(flags)
  const shown = [
    ...(flags.problems ? ['--problems'] : []),
    ...(flags.row === undefined ? [] : ['--row']),
    ...(filters.length === 0 ? [] : [filters.join(' ')]),
  ]
  if (shown.length > 1) throw new InvalidArgumentError(`${shown.join(' and ')} cannot be combined.`)
  if (filters.length > 0) return
  for (const name of ['limit', 'offset'] as const) {
    if (flags[name] === undefined) continue
    throw new InvalidArgumentError(`--${name} needs a filter, such as --state, --rule or --flagged.`)
  }
}

/** Lists the rows that match the filters. Throws `BAD_USAGE` for a rule that no row triggered. */
async function printRows(
  { out, outTerminal }: CliContext,
  engine: Engine,
  run: RunSummary,
  flags: ShowFlags,
): Promise<void> {
  const { limit = ROWS_LISTED, offset = 0 } = flags
  const query = { filter: toRowFilter(run, flags), offset, limit }
  let page = await engine.results.readPage(run.run_id, query)
  // The findings of a large run are read in slices.
  while (!page.isCounted) page = await engine.results.readPage(run.run_id, query)
  const { rows, total } = page
  if (flags.json) {
    await writeDocument(out, { run_id: run.run_id, total, offset, rows: rows.map(toListed) })
    return
  }
  const left = total - offset - rows.length
  const section: Section = {
    title: `${formatCounted(total, 'row')} of run ${run.run_id}`,
    tables: [
      {
        columns: [number('row'), foreign('post_id', 12), text('state'), foreign('answer', 16)],
        rows: rows.map((row): Cell[] => [
          formatRow(row.place),
          row.postId ?? '',
          describeState(row),
          describeAnswer(row),
        ]),
      },
    ],
    notes:
      left > 0 ? [`and ${formatCounted(left, 'row')} more; --offset ${offset + rows.length} lists them`] : [],
  }
  await out.writeLine(
    formatReport(outTerminal, [
      rows.length === 0 ? { title: `${formatCounted(total, 'row')} of run ${run.run_id}` } : section,
    ]),
  )
}

/** What the service answered for a row, on one line. */
function describeAnswer({ status, errorCode, message, triggeredRules }: ResultRow): string {
  const rules = triggeredRules.map(({ ruleId, ruleName }) => ruleName || ruleId)
  const said = [status === null ? '' : String(status), errorCode ?? '', message ?? '', rules.join(', ')]
  return said.filter((part) => part !== '').join(' ')
}

/** A row of the list as `--json` has it. */
function toListed(row: ResultRow) {
  const { postId, state, status, errorCode, message, taskId, answer, triggeredRules, attempts } = row
  return {
    ...toRowAndRecord(row.row, row.place),
    post_id: postId,
    state: toStateName(state),
    status,
    error_code: errorCode,
    message,
    task_id: taskId,
    answer,
    attempts,
    triggered_rules: triggeredRules.map(({ ruleId, ruleName }) => ({ rule_id: ruleId, rule_name: ruleName })),
  }
}

const EXAMPLES = 10
const PAGE_ROWS = 500

/** Prints what is wrong with rows of a run's source: by cause, then each row if the examples omit some. */
export async function printProblems(context: CliContext, engine: Engine, runId: string): Promise<void> {
  const { out, outTerminal } = context
  const groups = await engine.results.readProblems(runId)
  if (groups.length === 0) {
    await out.writeLine('No problems: every row is valid.')
    return
  }
  for (const line of formatProblemGroups(outTerminal, groups, EXAMPLES, 'with_fixes'))
    await out.writeLine(line)
  const isCut = groups.some((group) => group.severity === 'error' && group.rows > group.examples.length)
  if (!isCut) return
  await out.writeLine(`\n${outTerminal.tone('strong', 'All invalid rows')}`)
  for (let offset = 0; out.isOpen(); offset += PAGE_ROWS) {
    const { rows } = await engine.results.readPage(runId, {
      filter: { state: 'invalid' },
      offset,
      limit: PAGE_ROWS,
    })
    for (const { row } of rows) {
      const { problems } = await engine.results.readRow(runId, row)
      for (const problem of problems) {
        if (problem.severity === 'error') await out.writeLine(`  ${toPrintable(formatProblem(problem))}`)
      }
    }
    if (rows.length < PAGE_ROWS) return
  }
}
