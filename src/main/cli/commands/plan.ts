import type { Command } from 'commander'
import { EXIT } from '../../../shared/messages/error-entry.ts'
import { readConnections } from '../../engine/workspace/connections.ts'
import { readPlanFile, requireSource } from '../../engine/workspace/plan-file.ts'
import type { CliContext } from '../context.ts'
import { resolveWorkspace } from '../engine-access.ts'
import { resolveFromCaller } from '../invocation.ts'
import { addOnlyNewOptions, type OnlyNewFlags, withOnlyNew } from '../options/only-new-options.ts'
import { refuseConflicts } from '../options/plan-from-flags.ts'
import {
  addOverrideOptions,
  isConnectionGiven,
  type OverrideFlags,
  overridePlan,
} from '../options/plan-overrides.ts'
import { addLimitOption, addRunTimeOptions, type RunTimeFlags } from '../options/sending-options.ts'
import { noteCorrectedUrls } from '../options/service-options.ts'
import { addExamples, addMetricsOption } from '../options/shared-options.ts'
import { confirmTrust, findUntrusted, type TrustFlags } from '../session/consent.ts'
import { sendPlan } from '../session/send-plan.ts'

export function addPlanCommand(program: Command, context: CliContext): void {
  const command = program
    .command('plan')
    .argument('<file>', 'plan file, written by --save-plan')
    .description(
      'Runs a plan file. Paths in it are relative to the file, ${VARIABLE} in it is filled in from the environment, and options override it. Asks for confirmation if the plan sends a key or appeal ids to ' +
        'an address that is not in a stored connection. --trust-plan skips the confirmation.',
    )
  addOverrideOptions(addOnlyNewOptions(command))
  addMetricsOption(addLimitOption(addRunTimeOptions(command.optionsGroup('Run:'))))
    .option(
      '--trust-plan',
      'skip the confirmation before a plan sends a key or appeal ids to an address that is not stored',
    )
    .action(async (file: string, flags: RunTimeFlags & OnlyNewFlags & TrustFlags & OverrideFlags) => {
      context.command = command.name()
      const workspace = resolveWorkspace(flags.workspace, context.env)
      const connections = readConnections(workspace)
      const path = resolveFromCaller(file, context.env)
      // A connection that is named here replaces the plan's, which then need not be stored.
      const written = readPlanFile(path, connections, {
        env: context.env,
        isConnectionGiven: isConnectionGiven(flags),
      })
      const plan = withOnlyNew(overridePlan(written, flags, { connections, env: context.env }), flags)
      refuseConflicts(plan)
      requireSource(path, plan)
      const trust = { ...flags, isConnectionGiven: isConnectionGiven(flags) }
      // A dry run sends nothing, so it is the way to look at a plan first.
      if (!flags.dryRun && !(await confirmTrust(context, plan, connections, trust))) {
        await context.err.writeLine('Nothing was sent.')
        context.exitCode = EXIT.badInput
        return
      }
      // If a person can be asked, ask: the rows may differ from those that were accepted.
      const { accept: _codes, accepted: _causes, ...unaccepted } = plan
      const asked = context.canAsk ? unaccepted : plan
      const refusal = flags.dryRun ? findUntrusted(plan, connections, trust) : null
      context.exitCode = await sendPlan(context, {
        workspace,
        plan: asked,
        flags,
        notes: noteCorrectedUrls(flags),
        namedFiles: [['plan', path]],
        refusal,
      })
    })
  addExamples(
    command,
    [
      'plan posts.plan.json --dry-run',
      'plan posts.plan.json --trust-plan --json',
      'plan posts.plan.json --connection staging --rate 5 --name "Nightly, staging"',
    ],
    'the same as for the command that wrote the plan.\ndocs/plan.schema.json describes every key of a plan.',
  )
}
