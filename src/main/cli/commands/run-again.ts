import { existsSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import {
  describeSourceChange,
  findPostIds,
  keepPostIds,
  renewPostIds,
} from '../../../shared/lookback/run-again.ts'
import { EXIT } from '../../../shared/messages/error-entry.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { RETRY_OPTIONS } from '../../../shared/options/retry-options.ts'
import { type Plan, type PlanSource, planSchema } from '../../../shared/plan/plan.ts'
import type { SourceChange } from '../../../shared/plan/source-fingerprint.ts'
import { listSourcePaths, nameSource } from '../../../shared/plan/source-paths.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { readConnections } from '../../engine/workspace/connections.ts'
import type { CliContext } from '../context.ts'
import { resolveWorkspace, withEngine } from '../engine-access.ts'
import { resolveFromCaller } from '../invocation.ts'
import { addOnlyNewOptions, type OnlyNewFlags, withOnlyNew } from '../options/only-new-options.ts'
import { refuseConflicts, toPace } from '../options/plan-from-flags.ts'
import { overrideConnection } from '../options/plan-overrides.ts'
import { RUN_ARGUMENT_HELP, resolveRun } from '../options/run-reference.ts'
import {
  addLimitOption,
  addPaceOptions,
  addRunTimeOptions,
  NO_STOP_OF_LOADS,
  type PaceFlags,
  type RunTimeFlags,
  toStopRule,
} from '../options/sending-options.ts'
import {
  addServiceOptions,
  hideDefaults,
  noteCorrectedUrls,
  type ServiceFlags,
} from '../options/service-options.ts'
import { addExamples, addMetricsOption } from '../options/shared-options.ts'
import { readFlags } from '../options/table-options.ts'
import { sendPlan } from '../session/send-plan.ts'

interface RunAgainFlags extends RunTimeFlags, OnlyNewFlags, ServiceFlags, PaceFlags {
  source?: string
  name?: string
  keepPostIds?: true
  ifUnchanged?: true
}

/** Adds `run-again RUN`: starts a new run with the plan of an earlier one. */
export function addRunAgainCommand(program: Command, context: CliContext): void {
  const command = program
    .command('run-again')
    .argument('<run>', RUN_ARGUMENT_HELP)
    .description(
      'Starts a new run or load test with the plan of an earlier one: reads the source again, says whether it has changed, ' +
        'and submits it with new post_ids. Keeps the service and pace of the earlier run, unless options change them. ' +
        'To send only the unsuccessful rows, use `retry`.',
    )
    .option('--source <file>', 'read this source instead')
    .option('--if-unchanged', 'send nothing if the source has changed or may have changed')
    .option(
      '--keep-post-ids',
      'send the post_ids of the source again; the service may refuse them as duplicates',
    )
    .option('--name <text>', 'name of the new run, instead of the name of the earlier run')
  addOnlyNewOptions(command)
  hideDefaults(addPaceOptions(addServiceOptions(command)))
  addMetricsOption(command)
  addLimitOption(addRunTimeOptions(command.optionsGroup('Run:'))).action(
    async (reference: string, flags: RunAgainFlags) => {
      context.command = command.name()
      const workspace = resolveWorkspace(flags.workspace, context.env)
      const { plan, notes } = await withEngine(context, flags.workspace, async (engine) => {
        const named = await resolveRun(engine, reference)
        // A retry sends a part of the source; running it again sends the whole source.
        const run = named.whole_run === null ? named : await engine.runs.summarizeRun(named.whole_run.run_id)
        const earlier = await engine.runs.readPlanAgain(run.run_id)
        const source =
          flags.source === undefined
            ? earlier.source
            : toOtherSource(earlier.source, resolveFromCaller(flags.source, context.env))
        const change = await engine.runs.findSourceChange(run.run_id, source)
        const columns = await engine.results.readColumns(run.run_id)
        refuseChange(run, source, change, flags)
        const { accept: _codes, accepted, onlyNew, ...rest } = earlier
        // Warnings accepted for one source are not accepted for another.
        const kept = change.kind === 'same' && accepted !== undefined ? { accepted } : {}
        const { plan: renewed, notes: renewal } = toRenewed({ ...rest, ...kept, source }, columns, run, flags)
        return {
          plan: toOnlyNew(override(renewed, run, flags, { workspace, env: context.env }), flags),
          notes: [
            ...noteCorrectedUrls(flags),
            describeSourceChange(run.run_id, nameSource(source), change),
            ...renewal,
            ...(onlyNew === undefined || flags.onlyNew
              ? []
              : ['All rows are sent again. To skip those that were sent before, add --only-new.']),
          ],
        }
      })
      context.exitCode = await sendPlan(context, { workspace, plan, flags, notes })
    },
  )
  addExamples(
    command,
    ['run-again latest', 'run-again latest --connection staging --name "After the new rule"'],
    `the same as for the command that started the run; ${EXIT.badInput} if --if-unchanged stopped the new run.`,
  )
}

/** Throws `BAD_PLAN` if none of the rows can be skipped. */
function toOnlyNew(plan: Plan, flags: RunAgainFlags): Plan {
  const asked = withOnlyNew(plan, flags)
  if (asked !== plan) refuseConflicts(asked)
  return asked
}

function toOtherSource({ more: _more, ...reading }: PlanSource, path: string): PlanSource {
  return { ...reading, path }
}

/** Throws `BAD_SOURCE` if the source is missing, or has changed although it must be the same. */
function refuseChange(
  run: RunSummary,
  source: PlanSource,
  change: SourceChange,
  { ifUnchanged }: RunAgainFlags,
): void {
  const missing = listSourcePaths(source).find((path) => !existsSync(path))
  if (change.kind === 'missing' && missing !== undefined) {
    throw new SluiceError({ id: 'again_source_missing', source: missing, runId: run.run_id })
  }
  if (!ifUnchanged || change.kind === 'same') return
  throw new SluiceError({
    id: 'again_source_changed',
    reason: describeSourceChange(run.run_id, nameSource(source), change).replace(/\.$/, ''),
  })
}

/** The plan with new post_ids or those of the source, and notes about them. Throws `InvalidArgumentError`. */
function toRenewed(plan: Plan, columns: readonly string[], run: RunSummary, flags: RunAgainFlags) {
  if (flags.keepPostIds) {
    const kept = keepPostIds(plan, columns)
    if (kept !== null) return { plan: kept, notes: [] }
    throw new InvalidArgumentError(
      `--keep-post-ids: run ${run.run_id} sent post_ids of its own, not those of the source. Name an earlier run that sent these.`,
    )
  }
  return {
    plan: renewPostIds(plan, columns),
    notes:
      findPostIds(plan, columns) === 'own'
        ? [
            'Each row gets a new post_id, {{run}}-{{row}}. To send the post_ids of the source again, add --keep-post-ids.',
          ]
        : [],
  }
}

/** The plan with the overrides of options. Throws `InvalidArgumentError` and `CONNECTION_NOT_FOUND`. */
function override(
  plan: Plan,
  run: RunSummary,
  flags: RunAgainFlags,
  { workspace, env }: { workspace: string; env: NodeJS.ProcessEnv },
): Plan {
  const isPaced = flags.concurrency !== undefined || flags.rate !== undefined
  const retry = readFlags(RETRY_OPTIONS, flags)
  if (plan.load !== undefined && (isPaced || flags.retries !== undefined)) {
    throw new InvalidArgumentError('--concurrency, --rate and --retries do not apply to load tests.')
  }
  const stop = toStopRule(flags, plan.stop)
  if (plan.load !== undefined && stop.stop !== undefined) throw new InvalidArgumentError(NO_STOP_OF_LOADS)
  const connection = overrideConnection(plan.connection, flags, readConnections(workspace), env)
  const parsed = planSchema.parse({
    ...plan,
    connection,
    name: flags.name ?? run.name,
    retry: { ...plan.retry, ...retry },
    ...stop,
  })
  return isPaced ? { ...parsed, pace: toPace(flags, parsed.connection.timeoutMs) } : parsed
}
