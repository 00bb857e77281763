import type { Command } from 'commander'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toStateName } from '../../../shared/messages/state-name.ts'
import type { RowDetail } from '../../../shared/run/results.ts'
import type { CliContext } from '../context.ts'
import { withEngine } from '../engine-access.ts'
import { createIntegerParser } from '../options/number-option.ts'
import { RUN_ARGUMENT_HELP, resolveRun } from '../options/run-reference.ts'
import { addWorkspaceOption, type WorkspaceFlags } from '../options/shared-options.ts'
import { printProblems } from '../session/print-problems.ts'
import { printSummary } from '../session/settle-run.ts'
import { isLoadRun } from '../summary/exit-code.ts'
import { formatRowDetail } from '../summary/row-text.ts'
import { toSnakeCase } from '../terminal/snake-case.ts'
import { resolveWorkspace } from '../workspace.ts'

interface ShowFlags extends WorkspaceFlags {
  json?: true
  problems?: true
  row?: number
}

/** A row with its state in the words of every document. */
function toNamed(detail: RowDetail) {
  return { ...detail, result: { ...detail.result, state: toStateName(detail.result.state) } }
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
      'one row with its cells, request, attempts, answer and callbacks',
      createIntegerParser(1, Number.MAX_SAFE_INTEGER),
    )
    .option('--json', 'one JSON document on stdout')
  addWorkspaceOption(command).action(async (reference: string, flags: ShowFlags) => {
    await withEngine(resolveWorkspace(flags.workspace, context.env), async (engine) => {
      const run = await resolveRun(engine, reference)
      if (flags.row !== undefined) {
        if (isLoadRun(run)) refuseRow(run.run_id)
        const detail = await engine.readRow(run.run_id, flags.row)
        await context.out.writeLine(
          flags.json
            ? JSON.stringify(toSnakeCase(toNamed(detail)), null, 2)
            : formatRowDetail(context.outTerminal, detail),
        )
        return
      }
      if (flags.problems) {
        if (!flags.json) return printProblems(context, engine, run.run_id)
        const problems = await engine.readProblems(run.run_id)
        await context.out.writeLine(JSON.stringify({ run_id: run.run_id, problems }, null, 2))
        return
      }
      await printSummary(context, engine, run, flags)
    })
  })
}
