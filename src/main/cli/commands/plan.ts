import type { Command } from 'commander'
import { EXIT } from '../../../shared/messages/error-entry.ts'
import { readConnections } from '../../engine/workspace/connections.ts'
import { readPlanFile, requireSource } from '../../engine/workspace/plan-file.ts'
import type { CliContext } from '../context.ts'
import { resolveWorkspace } from '../engine-access.ts'
import { resolveFromCaller } from '../invocation.ts'
import { addOnlyNewOptions, type OnlyNewFlags, withOnlyNew } from '../options/only-new-options.ts'
import { refuseConflicts } from '../options/plan-from-flags.ts'
import { addLimitOption, addRunTimeOptions, type RunTimeFlags } from '../options/sending-options.ts'
import { addExamples, addMetricsOption } from '../options/shared-options.ts'
import { confirmTrust, findUntrusted, type TrustFlags } from '../session/consent.ts'
import { sendPlan } from '../session/send-plan.ts'

/** Adds `plan FILE`: runs a plan file. */
export function addPlanCommand(program: Command, context: CliContext): void {
  const command = program
    .command('plan')
    .argument('<file>', 'plan file, written by --save-plan')
    .description(
      'Runs a plan file. Paths in it are relative to the file. Asks for confirmation if the plan sends a key or appeal ids to ' +
        'an address that is not in a stored connection. --trust-plan skips the confirmation.',
    )
  addMetricsOption(addLimitOption(addRunTimeOptions(addOnlyNewOptions(command))))
    .option(
      '--trust-plan',
      'skip the confirmation before a plan sends a key or appeal ids to an address that is not stored',
    )
    .action(async (file: string, flags: RunTimeFlags & OnlyNewFlags & TrustFlags) => {
      const workspace = resolveWorkspace(flags.workspace, context.env)
      const connections = readConnections(workspace)
      const path = resolveFromCaller(file, context.env)
      const plan = withOnlyNew(readPlanFile(path, connections), flags)
      refuseConflicts(plan)
      requireSource(path, plan)
      // A dry run sends nothing, so it is the way to look at a plan first.
      if (!flags.dryRun && !(await confirmTrust(context, plan, connections, flags))) {
        await context.err.writeLine('Nothing was sent.')
        context.exitCode = EXIT.badInput
        return
      }
      // Who can be asked is asked, since the rows may be others than those that were accepted.
      const { accept: _codes, accepted: _causes, ...unaccepted } = plan
      const asked = context.canAsk ? unaccepted : plan
      const refusal = flags.dryRun ? findUntrusted(plan, connections, flags) : null
      context.exitCode = await sendPlan(context, { workspace, plan: asked, flags, notes: [], refusal })
    })
  addExamples(
    command,
    ['plan posts.plan.json --dry-run', 'plan posts.plan.json --trust-plan --json'],
    'the same as for the command that wrote the plan.\ndocs/plan.schema.json describes every key of a plan.',
  )
}
