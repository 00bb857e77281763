import type { Command } from 'commander'
import { findPostIds } from '../../../shared/lookback/run-again.ts'
import { EXIT, type ExitCode } from '../../../shared/messages/error-entry.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { findNeeds } from '../../../shared/messages/problem-traits.ts'
import { mayAddTwice, OPERATIONS } from '../../../shared/operations/operations.ts'
import { CALLBACK_OPTIONS } from '../../../shared/options/callback-options.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { type AcceptCode, joinAccepted } from '../../../shared/run/accept-code.ts'
import type { ProblemGroup } from '../../../shared/run/problem.ts'
import { countTrial, countTrialLeft, isLoadRun, type RunSummary } from '../../../shared/run/run.ts'
import { isKeyRefusal } from '../../../shared/service/errors.ts'
import type { Engine } from '../../engine/engine.ts'
import type { ResumeOptions, RunHandle } from '../../engine/engine-interface.ts'
import type { CliContext } from '../context.ts'
import { resolveWorkspace, withEngine } from '../engine-access.ts'
import { addGivenKeyOptions, type KeyFlags } from '../options/key-options.ts'
import { parseVariableName } from '../options/parse-values.ts'
import { RUN_ARGUMENT_HELP, resolveRun } from '../options/run-reference.ts'
import { addStopOptions, type StopFlags, toStopRule } from '../options/sending-options.ts'
import {
  type AcceptFlags,
  addAcceptOption,
  addDeliveredCodeOption,
  addExamples,
  addExportOption,
  addOnUnknownOption,
  addReportingOptions,
  addYesOption,
  type ExportFlags,
  type ReportingFlags,
  type UnknownFlags,
  type YesFlags,
} from '../options/shared-options.ts'
import { addTableOptions } from '../options/table-options.ts'
import { chooseOnUnknown, confirmSending, findGuarded } from '../session/consent.ts'
import { createRunAccess } from '../session/run-access.ts'
import { exportEnded, printSummary, settleRun, toExitCode } from '../session/settle-run.ts'
import { toPrintable } from '../terminal/output.ts'
import { toLaterTarget } from '../written-files.ts'

interface AgainFlags
  extends ReportingFlags,
    UnknownFlags,
    YesFlags,
    AcceptFlags,
    ExportFlags,
    KeyFlags,
    StopFlags {
  deliveredCode?: string[]
  /** Milliseconds. */
  callbackTimeout?: number
  skipCallbackTest?: boolean
}

/** How a run is resumed or retried. */
interface Again {
  how: 'resume' | 'retry'
  description: string
  examples: readonly string[]
  /** Exit codes, if they differ from those of every command that sends. */
  exits?: string
  /** What is sent, for the production prompt. */
  what(run: RunSummary): string
  /** Whether nothing is left to do, so that no key is needed. */
  hasNothingToSend(run: RunSummary, choice: Pick<AgainFlags, 'onUnknown'>): boolean
  start(engine: Engine, runId: string, options: ResumeOptions): Promise<RunHandle>
}

const CALLBACK_TIMEOUT = {
  ...CALLBACK_OPTIONS.timeoutMs,
  help: "time to wait for a callback before a row is overdue (default: the run's value)",
}

function addAgainOptions(command: Command): Command {
  command.option(
    '--api-key-env <name>',
    "environment variable with the API key (default: the run's variable, or its connection's active key)",
    parseVariableName,
  )
  addGivenKeyOptions(command)
  addDeliveredCodeOption(command)
  addYesOption(command)
  addAcceptOption(command)
  addOnUnknownOption(command)
  addTableOptions(command, { timeoutMs: CALLBACK_TIMEOUT, skipTest: CALLBACK_OPTIONS.skipTest }, ['awaiting'])
  addStopOptions(command, { isAgain: true })
  addExportOption(command)
  return addReportingOptions(command)
}

/** Whether a run has ended and has no row that resuming could settle. */
function hasNothingLeft(run: RunSummary, { onUnknown }: Pick<AgainFlags, 'onUnknown'>): boolean {
  const { rows, state } = run
  const isDone = state === 'completed' && rows.not_sent + rows.awaiting + rows.overdue === 0
  return isDone && !isLoadRun(run) && (rows.unknown === 0 || onUnknown === 'skip')
}

/** Whether a run and its retries have nothing left to send again. */
function hasNothingToRetry(
  run: RunSummary,
  { onUnknown }: { onUnknown: UnknownFlags['onUnknown'] },
): boolean {
  const { rejected, failed, overdue, not_sent, awaiting, unknown } = run.rows
  // An index add whose callback is overdue was acknowledged, and is resent like one with an unknown outcome.
  const [certain, open] = mayAddTwice(run.operation) ? [0, unknown + overdue] : [overdue, unknown]
  if (isLoadRun(run) || rejected + failed + certain + not_sent + awaiting > 0) return false
  return open === 0 || onUnknown === 'skip'
}

async function printNothingLeft(
  context: CliContext,
  engine: Engine,
  run: RunSummary,
  options: { flags: AgainFlags; how: Again['how'] },
): Promise<ExitCode> {
  const { flags, how } = options
  if (flags.json) await printSummary(context, engine, run, flags)
  if (!flags.quiet)
    await context.err.writeLine(describeNothingLeft(run, how, context.errTerminal.commandPrefix))
  const isExported = await exportEnded(context, engine, run, flags)
  return isExported ? toExitCode(run) : EXIT.rowsFailed
}

function describeNothingLeft(run: RunSummary, how: Again['how'], commandPrefix: string): string {
  const { rejected, failed, unknown, invalid } = run.rows
  const again = mayAddTwice(run.operation) ? '--resend-index-adds' : '--on-unknown resend'
  const resend =
    unknown > 0 ? [`To resend ${formatCounted(unknown, 'row')} with an unknown outcome, add ${again}.`] : []
  if (how === 'resume') {
    return [
      `Run ${run.run_id} has nothing left to send.`,
      ...resend,
      ...(rejected + failed > 0
        ? [`To send unsuccessful rows again: ${commandPrefix} retry ${run.run_id}`]
        : []),
    ].join(' ')
  }
  return [
    `Run ${run.run_id} has nothing to retry.`,
    ...resend,
    ...(invalid > 0
      ? [
          `For ${formatCounted(invalid, 'invalid row')}, correct the source: ${commandPrefix} show ${run.run_id} --problems`,
        ]
      : []),
  ].join(' ')
}

/** Says that the source has changed: a run that has read all of it keeps that, another one reads it again. */
async function noteSourceChange(
  context: CliContext,
  engine: Engine,
  run: RunSummary,
  plan: Plan,
): Promise<void> {
  const { kind } = await engine.runs.findSourceChange(run.run_id, plan.source)
  if (kind !== 'changed') return
  if (run.started_at === null && run.source_read === undefined) {
    await context.err.writeLine(
      'The source has changed since the run began to read it. It is read again, as it is now.',
    )
    return
  }
  const again = `${context.errTerminal.commandPrefix} run-again ${run.run_id}`
  const isRecognized =
    OPERATIONS[plan.operation.kind].recognizedBy !== undefined &&
    (plan.operation.kind !== 'task' ||
      findPostIds(plan, await engine.results.readColumns(run.run_id)) === 'own')
  const onlyNew = isRecognized ? `; to send only what is new in it: ${again} --keep-post-ids --only-new` : ''
  await context.err.writeLine(
    `The source has changed since the run read it; rows are sent as they were read then. To send what it has now, run: ${again}${onlyNew}`,
  )
}

/** Says that the key differs from the one the run was sent with, unless the service refused that one. */
async function noteOtherKey(
  context: CliContext,
  engine: Engine,
  { run_id: runId, errors }: RunSummary,
  apiKey: ResumeOptions['apiKey'],
): Promise<void> {
  if (apiKey === undefined) return
  if (errors.some(({ status, error_code }) => isKeyRefusal(status, error_code))) return
  if ((await engine.runs.wasSentWith(runId, apiKey)) !== false) return
  await context.err.writeLine(
    `Run ${runId} was sent with another key than this one. If this one belongs to another project, the rows go to that project.`,
  )
}

async function sendAgain(
  context: CliContext,
  reference: string,
  flags: AgainFlags,
  again: Again,
): Promise<ExitCode> {
  const workspace = resolveWorkspace(flags.workspace, context.env)
  return withEngine(context, workspace, async (engine) => {
    const named = await resolveRun(engine, reference)
    // A retry sends what is left of the whole run, even if only a part of it is named.
    const isPart = again.how === 'retry' && named.whole_run !== null
    let run = isPart ? await engine.runs.summarizeRun(named.whole_run?.run_id ?? named.run_id) : named
    if (run.state === 'running') {
      // Do not ask about rows that another process is sending.
      await engine.runs.refuseBusy(run.run_id)
      run = await engine.runs.summarizeRun(run.run_id)
    }
    const plan = await engine.runs.readPlan(run.run_id)
    const { connection, operation } = plan
    if (flags.export !== undefined) {
      await engine.runs.checkExport(
        plan,
        toLaterTarget(context, workspace, flags.export, flags, [plan.source]),
      )
    }
    await noteSourceChange(context, engine, run, plan)
    const nothingLeft = () => printNothingLeft(context, engine, run, { flags, how: again.how })
    if (again.hasNothingToSend(run, flags)) return nothingLeft()
    const access = createRunAccess(context, {
      workspace,
      connection,
      operation: operation.kind,
      key: flags,
    })
    const secrets = await access.readSecrets()
    for (const note of access.notes) await context.err.writeLine(toPrintable(note))
    if (!access.isKeyOfConnection) await noteOtherKey(context, engine, run, secrets.apiKey)
    const guarded = findGuarded(context, access.production, flags)
    const choice = await chooseOnUnknown(context, run, flags, again.how)
    if (again.hasNothingToSend(run, choice)) return nothingLeft()
    if (choice.onUnknown === 'skip' && run.rows.unknown > 0 && !flags.quiet) {
      const { unknown } = run.rows
      await context.err.writeLine(
        `${formatCounted(unknown, 'row')} with an unknown outcome ${unknown === 1 ? 'was' : 'were'} left alone. Add ${mayAddTwice(run.operation) ? '--resend-index-adds' : '--on-unknown resend'} to send ${unknown === 1 ? 'it' : 'them'} again.`,
      )
    }
    if (again.how === 'retry' && countTrial(run) !== null) {
      await context.err.writeLine(
        `Also sends the ${formatCounted(run.rows.not_sent, 'row')} that the trial left.`,
      )
    }
    const { deliveredCode: deliveredCodes } = flags
    const send = async (accept: readonly AcceptCode[]) => {
      const handle = await again.start(engine, run.run_id, {
        ...choice,
        ...(flags.callbackTimeout !== undefined && { callbackTimeoutMs: flags.callbackTimeout }),
        ...(flags.skipCallbackTest && { skipCallbackTest: true }),
        ...(deliveredCodes === undefined ? {} : { deliveredCodes }),
        ...toStopRule(flags),
        ...secrets,
        accept: joinAccepted(flags.accept, accept),
      })
      // One consent resends a row once, and a resent index add is never resent again automatically.
      const isResent = choice.onUnknown === 'resend' && run.rows.unknown > 0
      const mayResend = !mayAddTwice(run.operation) && !(isResent && flags.onUnknown === 'resend')
      return settleRun(context, engine, handle, flags, access, { mayResend })
    }
    const question = { what: again.what(run), baseUrl: connection.baseUrl, guarded }
    return sendAccepted(context, engine, { runId: run.run_id, flags, question, send })
  })
}

/** What is left to do once the run to continue is known: ask about it, and send. */
interface Sending {
  runId: string
  flags: AgainFlags
  question: Omit<Parameters<typeof confirmSending>[1], 'open'>
  send: (accept: readonly AcceptCode[]) => Promise<ExitCode>
}

/** Asks about production and about warnings that are not accepted yet, then sends. */
async function sendAccepted(
  context: CliContext,
  engine: Engine,
  { runId, flags, question, send }: Sending,
): Promise<ExitCode> {
  const ask = async (groups: readonly ProblemGroup[], guarded: typeof question.guarded) => {
    const open = groups.filter((group) => !(flags.accept ?? []).some((code) => code === findNeeds(group)))
    return confirmSending(context, { ...question, guarded, open })
  }
  const refuse = async () => {
    await context.err.writeLine('Nothing was sent.')
    return EXIT.badInput
  }
  const accept = await ask(await engine.results.readOpenWarnings(runId), question.guarded)
  if (accept === null) return refuse()
  try {
    return await send(accept)
  } catch (error) {
    // A run interrupted while its source was read reads it again; its warnings are known only then.
    if (!context.canAsk || !(error instanceof SluiceError) || error.said.id !== 'warnings_unaccepted') {
      throw error
    }
    const more = await ask(error.said.groups, null)
    return more === null ? refuse() : send([...accept, ...more])
  }
}

/** Adds a command that continues a run. */
function addAgainCommand(program: Command, context: CliContext, again: Again): void {
  const { how, description, examples, exits } = again
  const command = program.command(how).argument('<run>', RUN_ARGUMENT_HELP).description(description)
  addAgainOptions(command).action(async (reference: string, flags: AgainFlags) => {
    context.exitCode = await sendAgain(context, reference, flags, again)
  })
  addExamples(command, examples, exits)
}

/** Adds `resume RUN`: continues after a stop or a crash. */
export function addResumeCommand(program: Command, context: CliContext): void {
  addAgainCommand(program, context, {
    how: 'resume',
    description:
      'Resumes an interrupted or stopped run: sends the remaining rows and waits for outstanding callbacks. An ' +
      'interrupted trial of the first rows first sends the rest of the trial.',
    what: (run) => `the rest of ${countTrialLeft(run) === null ? '' : 'the trial of '}run ${run.run_id}`,
    hasNothingToSend: hasNothingLeft,
    start: (engine, runId, options) => engine.runs.resumeRun(runId, { ...options, endsWithTrial: true }),
    examples: ['resume latest', 'resume latest --on-unknown resend', 'resume latest --callback-timeout 1h'],
  })
}

/** Adds `retry RUN`: sends what did not succeed again, with the same post_ids and bodies. */
export function addRetryCommand(program: Command, context: CliContext): void {
  addAgainCommand(program, context, {
    how: 'retry',
    description:
      'Sends the unsuccessful rows of a run again, with the same post_ids and bodies. Their new results take the place of ' +
      'the old ones; every try is kept. Also sends rows that the run has not sent yet, such as those after a trial of ' +
      'the first rows. Does not send invalid rows: correct them in the source and submit it again.',
    what: ({ run_id: runId, rows }) =>
      `the ${rows.not_sent > 0 ? 'remaining and ' : ''}unsuccessful rows of run ${runId}`,
    hasNothingToSend: hasNothingToRetry,
    start: (engine, runId, options) => engine.runs.retryRun(runId, options),
    examples: [
      'retry latest',
      'retry latest --on-unknown resend',
      'retry latest --delivered-code DUPLICATE_POST --json',
    ],
    exits: 'the same as for task, counting all rows of the run.',
  })
}
