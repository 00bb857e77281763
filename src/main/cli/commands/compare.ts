import type { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { withEngine } from '../engine-access.ts'
import { RUN_ARGUMENT_HELP, resolveRun } from '../options/run-reference.ts'
import { addWorkspaceOption, type WorkspaceFlags } from '../options/shared-options.ts'
import { formatComparison } from '../summary/comparison-text.ts'
import { resolveWorkspace } from '../workspace.ts'

/** Adds `compare A B`: whether run B is slower than run A, and how sure that is. */
export function addCompareCommand(program: Command, context: CliContext): void {
  const command = program
    .command('compare')
    .argument('<a>', `the earlier run: ${RUN_ARGUMENT_HELP}`)
    .argument('<b>', `the later run: ${RUN_ARGUMENT_HELP}`)
    .summary('say whether a run is slower than another')
    .description(
      'Puts the latencies of two runs side by side, with how sure each difference is, and says in a sentence whether ' +
        'the second is slower. Requests that did not succeed, throughput and what the two plans say differently are ' +
        'compared, too. Ranges hold the true ratio in 99 of 100 comparisons.',
    )
    .option('--json', 'one JSON document on stdout')
  addWorkspaceOption(command).action(
    async (a: string, b: string, flags: WorkspaceFlags & { json?: true }) => {
      await withEngine(resolveWorkspace(flags.workspace, context.env), async (engine) => {
        const earlier = await resolveRun(engine, a)
        const later = await resolveRun(engine, b)
        const comparison = await engine.compareRuns(earlier.run_id, later.run_id)
        await context.out.writeLine(
          flags.json
            ? JSON.stringify({ a_run_id: earlier.run_id, b_run_id: later.run_id, ...comparison }, null, 2)
            : formatComparison(context.outTerminal, comparison),
        )
      })
    },
  )
}
