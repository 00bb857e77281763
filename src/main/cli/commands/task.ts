import type { Command } from 'commander'
import { EXIT } from '../../../shared/errors.ts'
import type { CliContext } from '../context.ts'
import { withEngine } from '../engine-access.ts'
import { resolveFromCaller } from '../invocation.ts'
import { readApiKey } from '../options/api-key.ts'
import { toPlan } from '../options/plan-from-flags.ts'
import { addSendingOptions, type SendingFlags } from '../options/sending-options.ts'
import { dryRun } from '../session/dry-run.ts'
import { settleRun } from '../session/settle-run.ts'
import { resolveWorkspace } from '../workspace.ts'

/** Adds `task SOURCE`: submits each row of a spreadsheet as a task (interface §4.1, §4.2). */
export function addTaskCommand(program: Command, context: CliContext): void {
  const command = program
    .command('task')
    .argument('<source>', 'a .csv or .tsv file')
    .summary('submit each row of a spreadsheet')
    .description(
      'Submits each row of a spreadsheet to the service and records what came of it. ' +
        'Columns are matched by name; --map and --set fill the rest. user_id has no default; ' +
        'post_id defaults to {{run}}-{{row}}.',
    )
  addSendingOptions(command).action(async (source: string, flags: SendingFlags) => {
    const plan = toPlan(resolveFromCaller(source, context.env), flags)
    context.exitCode = await withEngine(resolveWorkspace(flags.workspace, context.env), async (engine) => {
      if (flags.dryRun) return dryRun(context, engine, plan, flags)
      const apiKey = readApiKey(context, plan.connection.apiKeyEnv)
      return settleRun(context, engine, await engine.startRun(plan, apiKey), flags, apiKey)
    })
  })
  command.addHelpText(
    'after',
    `
Exits with ${EXIT.ok} when every row succeeded, ${EXIT.rowsFailed} when some did not or the run stopped itself,
${EXIT.badInput} when nothing was sent, ${EXIT.interrupted} when it was interrupted and can be resumed.`,
  )
}
