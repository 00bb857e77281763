import type { Command } from 'commander'
import type { ProblemGroup } from '../../../shared/results.ts'
import type { Engine } from '../../engine/engine-interface.ts'
import type { CliContext } from '../context.ts'
import { withEngine } from '../engine-access.ts'
import { createIntegerParser } from '../options/number-option.ts'
import { RUN_ARGUMENT_HELP, resolveRun } from '../options/run-reference.ts'
import { addWorkspaceOption, type WorkspaceFlags } from '../options/shared-options.ts'
import { printSummary } from '../session/settle-run.ts'
import { formatProblemGroups } from '../summary/problems-text.ts'
import { formatRowDetail } from '../summary/row-text.ts'
import { resolveWorkspace } from '../workspace.ts'

interface ShowFlags extends WorkspaceFlags {
  json?: true
  problems?: true
  row?: number
}

async function showProblems(context: CliContext, engine: Engine, runId: string, asJson: boolean) {
  const groups: ProblemGroup[] = await engine.readProblems(runId)
  if (asJson) {
    await context.out.writeLine(JSON.stringify({ run_id: runId, problems: groups }, null, 2))
    return
  }
  if (groups.length === 0) await context.out.writeLine('No problems: every row passed the checks.')
  for (const line of formatProblemGroups(context.outTerminal, groups, Number.POSITIVE_INFINITY)) {
    if (!context.out.isOpen()) return
    await context.out.writeLine(line)
  }
}

/** Adds `show RUN`: the whole run, the problems of its rows, or one row with its exact exchange. */
export function addShowCommand(program: Command, context: CliContext): void {
  const command = program
    .command('show')
    .argument('<run>', RUN_ARGUMENT_HELP)
    .summary('show a run, its problems, or one of its rows')
    .description('Shows how a run stands or ended.')
    .option('--problems', 'what is wrong with rows of the source, by cause')
    .option(
      '--row <n>',
      'one row: its cells, the exact request, every try, the answer',
      createIntegerParser(1, Number.MAX_SAFE_INTEGER),
    )
    .option('--json', 'one JSON document on stdout')
  addWorkspaceOption(command).action(async (reference: string, flags: ShowFlags) => {
    await withEngine(resolveWorkspace(flags.workspace, context.env), async (engine) => {
      const run = await resolveRun(engine, reference)
      if (flags.row !== undefined) {
        const detail = await engine.readRow(run.run_id, flags.row)
        await context.out.writeLine(
          flags.json ? JSON.stringify(detail, null, 2) : formatRowDetail(context.outTerminal, detail),
        )
        return
      }
      if (flags.problems) {
        await showProblems(context, engine, run.run_id, flags.json === true)
        return
      }
      await printSummary(context, engine, run, flags)
    })
  })
}
