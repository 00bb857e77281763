import { type Command, InvalidArgumentError } from 'commander'
import type { RowFilter } from '../../../shared/results.ts'
import { rowAnswerSchema } from '../../../shared/row-answer.ts'
import type { CliContext } from '../context.ts'
import { withEngine } from '../engine-access.ts'
import { resolveFromCaller } from '../invocation.ts'
import { RUN_ARGUMENT_HELP, resolveRun } from '../options/run-reference.ts'
import { addWorkspaceOption, type WorkspaceFlags } from '../options/shared-options.ts'
import { formatBytes, formatCounted } from '../terminal/number-format.ts'
import { resolveWorkspace } from '../workspace.ts'

const STATES = [
  'succeeded',
  'rejected',
  'failed',
  'unknown',
  'overdue',
  'invalid',
  'acknowledged',
  'pending',
] as const satisfies readonly RowFilter['state'][]

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
  const state = STATES.find((candidate) => candidate === text)
  if (state === undefined) {
    throw new InvalidArgumentError(
      `expected one of ${[...STATES, UNSUCCESSFUL].join(', ')}, found \`${text}\`.`,
    )
  }
  return { state }
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

/** Adds `export RUN FILE`: writes the source's columns and what came of each row; the file's ending says how. */
export function addExportCommand(program: Command, context: CliContext): void {
  const command = program
    .command('export')
    .argument('<run>', RUN_ARGUMENT_HELP)
    .argument('<file>', 'where to; a file that is there already is replaced. Endings: .csv, .xlsx, .jsonl')
    .summary('write the results to a .csv, .xlsx or .jsonl file')
    .description(
      'Writes every row of a run with what came of it. A .csv keeps the columns of the source, their order and ' +
        'cells, and appends columns that begin with sluice_; cells that a spreadsheet would run as a formula get ' +
        'an apostrophe in front, unless --lossless. A .xlsx has the same columns, every cell as text. A .jsonl has ' +
        'one JSON document a line. The export of an `index add` run is a source of `index remove` as it is.',
    )
    .option('--lossless', 'cells exactly as they were, formulas unguarded')
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
          : `${formatCounted(result.rows, 'row')} in ${result.file} (${formatBytes(result.sizeBytes)})`,
      )
    })
  })
}
