import { type Command, InvalidArgumentError } from 'commander'
import { fromStateName, type StateName } from '../../../shared/messages/state-name.ts'
import type { ExportResult, RowFilter } from '../../../shared/run/results.ts'
import { rowAnswerSchema } from '../../../shared/run/row-answer.ts'
import type { CliContext } from '../context.ts'
import { withEngine } from '../engine-access.ts'
import { resolveFromCaller } from '../invocation.ts'
import { RUN_ARGUMENT_HELP, resolveRun } from '../options/run-reference.ts'
import { addWorkspaceOption, type WorkspaceFlags } from '../options/shared-options.ts'
import { isLoadRun } from '../summary/exit-code.ts'
import { formatBytes, formatCounted } from '../terminal/number-format.ts'
import { resolveWorkspace } from '../workspace.ts'

const STATES = [
  'succeeded',
  'rejected',
  'failed',
  'unknown',
  'overdue',
  'invalid',
  'awaiting',
  'not_sent',
] as const satisfies readonly StateName[]

/** Beside the states: every row that ended without success. */
const UNSUCCESSFUL = 'unsuccessful'

interface ExportFlags extends WorkspaceFlags {
  lossless?: true
  state?: RowFilter
  answer?: RowFilter
  json?: true
}

function parseState(text: string): RowFilter {
  if (text === UNSUCCESSFUL) return { unsuccessful: true }
  const state = STATES.find((candidate) => candidate === text.replaceAll(/[- ]/g, '_'))
  if (state === undefined) {
    throw new InvalidArgumentError(
      `expected one of ${[...STATES, UNSUCCESSFUL].join(', ')}, found \`${text}\`.`,
    )
  }
  return { state: fromStateName(state) }
}

function parseAnswer(text: string): RowFilter {
  const answer = rowAnswerSchema.options.find((candidate) => candidate === text.replaceAll('-', '_'))
  if (answer === undefined) {
    throw new InvalidArgumentError(
      `expected one of ${rowAnswerSchema.options.join(', ')}, found \`${text}\`.`,
    )
  }
  return { answer }
}

/** What only exports of rows take; a load test's are of other things. */
function refuseRowOptions({ lossless, state, answer }: ExportFlags): void {
  const given = [
    ...(lossless ? ['--lossless'] : []),
    ...(state === undefined ? [] : ['--state']),
    ...(answer === undefined ? [] : ['--answer']),
  ]
  if (given.length === 0) return
  throw new InvalidArgumentError(`${given.join(', ')}: a load test has no rows to choose from.`)
}

/** `372 rows in results.csv (48 kB)`; what a load test's file holds is no rows. */
function formatResult({ rows, file, sizeBytes }: ExportResult, isLoad: boolean): string {
  const size = formatBytes(sizeBytes)
  if (!isLoad) return `${formatCounted(rows, 'row')} in ${file} (${size})`
  return rows === 0 ? `${file} (${size})` : `${formatCounted(rows, 'record')} in ${file} (${size})`
}

/** Adds `export RUN FILE`: writes the source's columns and what came of each row; the file's ending says how. */
export function addExportCommand(program: Command, context: CliContext): void {
  const command = program
    .command('export')
    .argument('<run>', RUN_ARGUMENT_HELP)
    .argument(
      '<file>',
      'where to; a file that is there already is replaced. Endings: .csv, .xlsx, .jsonl; of a load test .html, .junit.xml, .hlog, .csv, .jsonl, .k6',
    )
    .description(
      'Writes every row of a run with what came of it. A .csv keeps the columns of the source, their order and ' +
        'cells, and appends columns that begin with sluice_ or score.; cells that a spreadsheet would run as a formula get ' +
        'an apostrophe in front, unless --lossless. A .xlsx has the same columns, every cell as text. A .jsonl has ' +
        'one JSON document a line, with request, answer and callbacks as they were. The export of an `index add` run is a source of `index remove` as it is. ' +
        'Of a load test, .html is a page with charts that opens offline, .junit.xml has its thresholds as tests, ' +
        '.hlog its latencies for the tools of HdrHistogram, .csv its seconds, .jsonl the requests that were kept, and .k6 a folder with the same load as a project of k6.',
    )
    .option('--lossless', 'names and cells exactly as they were, formulas unguarded')
    .option(
      '--state <state>',
      `only rows of this state: ${[...STATES, `or ${UNSUCCESSFUL} for all that did not succeed`].join(', ')}`,
      parseState,
    )
    .option(
      '--answer <answer>',
      'only rows of which the service answered this, such as failed or pre_existing terms, or overturned appeals',
      parseAnswer,
    )
    .option('--json', 'one JSON document on stdout')
  addWorkspaceOption(command).action(async (reference: string, file: string, flags: ExportFlags) => {
    await withEngine(resolveWorkspace(flags.workspace, context.env), async (engine) => {
      const run = await resolveRun(engine, reference)
      if (isLoadRun(run)) refuseRowOptions(flags)
      const result = await engine.exportRun(run.run_id, {
        file: resolveFromCaller(file, context.env),
        lossless: flags.lossless === true,
        ...(flags.state === undefined && flags.answer === undefined
          ? {}
          : { filter: { ...flags.state, ...flags.answer } }),
      })
      await context.out.writeLine(
        flags.json
          ? JSON.stringify({
              run_id: run.run_id,
              file: result.file,
              rows: result.rows,
              bytes: result.sizeBytes,
            })
          : formatResult(result, isLoadRun(run)),
      )
    })
  })
}
