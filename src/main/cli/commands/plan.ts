import type { Command } from 'commander'
import { EXIT } from '../../../shared/errors.ts'
import { readConnections } from '../../engine/connections/connections-file.ts'
import type { CliContext } from '../context.ts'
import { resolveFromCaller } from '../invocation.ts'
import { addMetricsOption } from '../options/metrics-option.ts'
import { addRunTimeOptions, type RunTimeFlags } from '../options/sending-options.ts'
import { readPlanFile } from '../plan-file/read-plan-file.ts'
import { sendPlan } from '../session/send-plan.ts'
import { resolveWorkspace } from '../workspace.ts'

/** Adds `plan FILE`: runs a plan file. */
export function addPlanCommand(program: Command, context: CliContext): void {
  const command = program
    .command('plan')
    .argument('<file>', 'a plan, as --save-plan FILE of every sending command writes one')
    .summary('run a plan file')
    .description(
      'Runs a plan file, which says everything that a sending command can say. Paths in it are relative to the ' +
        'file. It holds no secret, but it names the address and the variable whose value is sent there as the ' +
        'API key: run only plans that you trust.',
    )
  addMetricsOption(addRunTimeOptions(command)).action(async (file: string, flags: RunTimeFlags) => {
    const workspace = resolveWorkspace(flags.workspace, context.env)
    const plan = readPlanFile(resolveFromCaller(file, context.env), readConnections(workspace))
    context.exitCode = await sendPlan(context, { workspace, plan, flags, notes: [] })
  })
  command.addHelpText(
    'after',
    `
docs/plan.schema.json describes every key. Exits as the sending commands do: ${EXIT.ok} when every row succeeded,
${EXIT.badInput} when nothing was sent; a plan of a load test exits as load does.`,
  )
}
