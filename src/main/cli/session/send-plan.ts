import { EXIT, type ExitCode } from '../../../shared/messages/error-entry.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import type { StoredConnection } from '../../../shared/plan/stored-connection.ts'
import type { Engine, RunHandle } from '../../engine/engine-interface.ts'
import type { CliContext } from '../context.ts'
import { withEngine } from '../engine-access.ts'
import type { MetricsServer } from '../metrics/serve-metrics.ts'
import type { RunTimeFlags } from '../options/sending-options.ts'
import { toPrintable } from '../terminal/output.ts'
import { completePlan } from './complete-plan.ts'
import { confirmProduction, findGuarded } from './consent.ts'
import { dryRun } from './dry-run.ts'
import { dropRun, exportK6, readSource } from './read-source.ts'
import { createRunAccess, type RunAccess, type RunSecrets } from './run-access.ts'
import { settleRun } from './settle-run.ts'

/** A plan to run, and what to say of it beforehand. */
export interface PlanToSend {
  workspace: string
  plan: Plan
  flags: RunTimeFlags
  /** What a person should know before anything is sent, a sentence each. */
  notes: readonly string[]
}

/** Warnings about what cannot be undone or differs from the request. */
function warnBeforehand({ operation, load, mapping }: Plan): string[] {
  return [
    ...(operation.kind === 'watchlist-add' ? ['Existing notes of these terms will be overwritten.'] : []),
    ...(operation.kind === 'watchlist-update' && operation.emptyNotes === 'clear'
      ? ['Terms with an empty notes cell will lose their notes.']
      : []),
    ...(load !== undefined && mapping['post_id'] !== undefined
      ? ['The post_id mapping is ignored: every request of a load test gets a new post_id.']
      : []),
  ]
}

/** Serves the figures of a load test while it runs, where that is asked for. Throws `BAD_USAGE`. */
async function openMetrics(context: CliContext, { plan, flags }: PlanToSend): Promise<MetricsServer | null> {
  if (flags.metricsPort === undefined) return null
  if (plan.load === undefined) {
    throw new SluiceError({ id: 'metrics_without_load' })
  }
  const { serveMetrics } = await import('../metrics/serve-metrics.ts')
  const metrics = await serveMetrics(flags.metricsPort)
  if (!flags.quiet) await context.err.writeLine(`Metrics for Prometheus at ${metrics.url}`)
  return metrics
}

/** Reads the source, then asks for confirmation; an exit code if it was declined or interrupted. */
async function startConfirmed(
  context: CliContext,
  engine: Engine,
  { plan, flags }: PlanToSend,
  stored: StoredConnection,
  secrets: RunSecrets,
): Promise<RunHandle | ExitCode> {
  const handle = await engine.startRun(plan, { ...secrets, hold: true })
  const how = await readSource(context, handle, { quiet: flags.quiet === true })
  if (how === 'interrupted') {
    await dropRun(engine, handle)
    return EXIT.interrupted
  }
  // Counted in the journal: the newest picture may be from before the last row was read.
  const { rows } = await engine.summarizeRun(handle.runId)
  const sendable = rows.read - rows.invalid
  if (
    sendable > 0 &&
    !(await confirmProduction(context, stored, plan.connection.baseUrl, formatCounted(sendable, 'row')))
  ) {
    await dropRun(engine, handle)
    await context.err.writeLine('Nothing was sent.')
    return EXIT.badInput
  }
  handle.begin()
  return handle
}

/** Without a terminal, resending must be confirmed before the run. Throws `NOT_CONFIRMED`. */
function refuseUnconfirmedResend(context: CliContext, { operation }: Plan, flags: RunTimeFlags): void {
  if (operation.kind !== 'index-add' || flags.onUnknown !== 'resend') return
  if (flags.resendIndexAdds || context.canAsk) return
  throw new SluiceError({ id: 'resend_unconfirmed' })
}

/** Runs a plan to its end and reports; with `--dry-run` only up to where it would be sent. Returns what to exit with. */
export async function sendPlan(context: CliContext, asked: PlanToSend): Promise<ExitCode> {
  const { workspace, flags, plan: given } = asked
  const access = createRunAccess(context, {
    workspace,
    connection: given.connection,
    operation: given.operation.kind,
  })
  if (!flags.quiet) {
    for (const note of [...access.notes, ...asked.notes, ...warnBeforehand(given)]) {
      await context.err.writeLine(toPrintable(note))
    }
  }
  return withEngine(workspace, async (engine) => {
    const plan = await completePlan(context, engine, given, { quiet: flags.quiet === true })
    const { exportK6: folder } = flags
    if (flags.dryRun) return dryRun(context, engine, { plan, ...access.readTrialSecrets() }, flags)
    if (folder !== undefined) {
      const trial = { plan, ...access.readTrialSecrets() }
      return exportK6(context, engine, trial, { ...flags, exportK6: folder })
    }
    return sendAll(context, engine, { ...asked, plan }, access)
  })
}

/** Sends the completed plan. */
async function sendAll(
  context: CliContext,
  engine: Engine,
  toSend: PlanToSend,
  access: RunAccess,
): Promise<ExitCode> {
  const { plan, flags } = toSend
  refuseUnconfirmedResend(context, plan, flags)
  const guarded = findGuarded(context, access.stored, flags)
  const secrets = access.readSecrets()
  const metrics = await openMetrics(context, toSend)
  try {
    const started =
      guarded === null
        ? await engine.startRun(plan, secrets)
        : await startConfirmed(context, engine, toSend, guarded, secrets)
    if (typeof started === 'number') return started
    if (metrics !== null) started.onSnapshot(metrics.update)
    return await settleRun(context, engine, started, flags, access)
  } finally {
    await metrics?.close()
  }
}
