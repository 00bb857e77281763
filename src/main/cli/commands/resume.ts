import type { Command } from 'commander'
import { EXIT } from '../../../shared/errors.ts'
import type { Engine } from '../../engine/engine-interface.ts'
import type { CliContext } from '../context.ts'
import { withEngine } from '../engine-access.ts'
import { readApiKey } from '../options/api-key.ts'
import { RUN_ARGUMENT_HELP, resolveRun } from '../options/run-reference.ts'
import {
  addDeliveredCodeOption,
  addOnUnknownOption,
  addReportingOptions,
  type ReportingFlags,
  type UnknownFlags,
} from '../options/shared-options.ts'
import { chooseOnUnknown, settleRun } from '../session/settle-run.ts'
import { resolveWorkspace } from '../workspace.ts'

interface AgainFlags extends ReportingFlags, UnknownFlags {
  apiKeyEnv?: string
  deliveredCode?: string[]
}

/** The key of the variable that was named now, else of the one the run was started with. */
async function readRunApiKey(context: CliContext, engine: Engine, runId: string, flags: AgainFlags) {
  const plan = await engine.readPlan(runId)
  return readApiKey(context, flags.apiKeyEnv ?? plan.connection.apiKeyEnv)
}

function toDelivered({ deliveredCode }: AgainFlags): { deliveredCodes?: string[] } {
  return deliveredCode === undefined ? {} : { deliveredCodes: deliveredCode }
}

function addAgainOptions(command: Command): Command {
  command.option(
    '--api-key-env <name>',
    'environment variable that holds the API key (default: the one the run was started with)',
  )
  addDeliveredCodeOption(command)
  addOnUnknownOption(command)
  return addReportingOptions(command)
}

/** Adds `resume RUN`: goes on after a stop or a crash. */
export function addResumeCommand(program: Command, context: CliContext): void {
  const command = program
    .command('resume')
    .argument('<run>', RUN_ARGUMENT_HELP)
    .summary('go on with a run that was interrupted or stopped')
    .description('Goes on where a run was interrupted or stopped: sends what was not sent yet.')
  addAgainOptions(command).action(async (reference: string, flags: AgainFlags) => {
    context.exitCode = await withEngine(resolveWorkspace(flags.workspace, context.env), async (engine) => {
      const run = await resolveRun(engine, reference)
      const apiKey = await readRunApiKey(context, engine, run.run_id, flags)
      const onUnknown = await chooseOnUnknown(context, run.rows.unknown, flags)
      const handle = await engine.resumeRun(run.run_id, { onUnknown, ...toDelivered(flags), ...apiKey })
      return settleRun(context, engine, handle, flags, apiKey)
    })
  })
}

/** Adds `retry RUN`: sends what did not succeed as a child run, with the same post_ids and bodies. */
export function addRetryCommand(program: Command, context: CliContext): void {
  const command = program
    .command('retry')
    .argument('<run>', RUN_ARGUMENT_HELP)
    .summary('send only what did not succeed, as a run of its own')
    .description(
      'Sends the rows that did not succeed again, as a run of its own, with the same post_ids and bodies. ' +
        'Rows that are invalid are not among them: correct the source and submit it.',
    )
  addAgainOptions(command).action(async (reference: string, flags: AgainFlags) => {
    context.exitCode = await withEngine(resolveWorkspace(flags.workspace, context.env), async (engine) => {
      const run = await resolveRun(engine, reference)
      const apiKey = await readRunApiKey(context, engine, run.run_id, flags)
      const onUnknown = await chooseOnUnknown(context, run.rows.unknown, flags)
      const handle = await engine.retryRun(run.run_id, { onUnknown, ...toDelivered(flags), ...apiKey })
      return settleRun(context, engine, handle, flags, apiKey)
    })
  })
  command.addHelpText('after', `\nExits as task does: ${EXIT.ok} when every row sent again succeeded.`)
}
