import type { Command } from 'commander'
import { EXIT } from '../../../shared/messages/errors.ts'
import { readConnections } from '../../engine/workspace/connections/connections-file.ts'
import type { CliContext } from '../context.ts'
import { resolveFromCaller } from '../invocation.ts'
import { addMetricsOption } from '../options/metrics-option.ts'
import { addRunTimeOptions, type RunTimeFlags } from '../options/sending-options.ts'
import { readPlanFile, requireSource } from '../plan-file/read-plan-file.ts'
import { sendPlan } from '../session/send-plan.ts'
import { confirmTrust, type TrustFlags } from '../session/trust-plan.ts'
import { resolveWorkspace } from '../workspace.ts'

/** Adds `plan FILE`: runs a plan file. */
export function addPlanCommand(program: Command, context: CliContext): void {
  const command = program
    .command('plan')
    .argument('<file>', 'a plan, as --save-plan FILE of every sending command writes one')
    .description(
      'Runs a plan file, which says everything that a sending command can say. Paths in it are relative to the ' +
        'file. A plan that sends a key where no stored connection sends it is confirmed first, or refused where ' +
        'nobody can be asked.',
    )
  addMetricsOption(addRunTimeOptions(command))
    .option('--trust-plan', 'send the key that the plan names to the address that it names, without asking')
    .action(async (file: string, flags: RunTimeFlags & TrustFlags) => {
      const workspace = resolveWorkspace(flags.workspace, context.env)
      const connections = readConnections(workspace)
      const path = resolveFromCaller(file, context.env)
      const plan = readPlanFile(path, connections)
      requireSource(path, plan)
      // A dry run sends nothing, so it is the way to look at a plan first.
      if (!flags.dryRun && !(await confirmTrust(context, plan, connections, flags))) {
        await context.err.writeLine('Nothing was sent.')
        context.exitCode = EXIT.badInput
        return
      }
      context.exitCode = await sendPlan(context, { workspace, plan, flags, notes: [] })
    })
  command.addHelpText(
    'after',
    `
docs/plan.schema.json describes every key. Exits as the sending commands do: ${EXIT.ok} when every row succeeded,
${EXIT.badInput} when nothing was sent; a plan of a load test exits as load does.`,
  )
}
