import { writeSync } from 'node:fs'
import { formatThresholdResult } from '../../../shared/load/thresholds.ts'
import { EXIT, type ExitCode } from '../../../shared/messages/error-entry.ts'
import { sayError } from '../../../shared/messages/error-messages.ts'
import { SluiceError, toSluiceError } from '../../../shared/messages/errors.ts'
import { formatBytes, formatCounted } from '../../../shared/messages/figure-text.ts'
import { isHint } from '../../../shared/messages/problem-traits.ts'
import { countSendable } from '../../../shared/run/counts.ts'
import { sayGuarded } from '../../../shared/run/formula-guard.ts'
import { countLeftOut } from '../../../shared/run/item-state.ts'
import type { ProblemGroup } from '../../../shared/run/problem.ts'
import {
  countTrial,
  hasNoSuccess,
  isLoadRun,
  listRunWarnings,
  type RunSummary,
} from '../../../shared/run/run.ts'
import type { RunSnapshot } from '../../../shared/run/snapshot.ts'
import { listMissing, sayDamaged } from '../../../shared/run/written-rows.ts'
import type { Engine } from '../../engine/engine.ts'
import type { RunHandle } from '../../engine/engine-interface.ts'
import { onThreadCrash } from '../../worker-rpc.ts'
import { type CliContext, watchInterrupts } from '../context.ts'
import { writeDocument } from '../documents/write-document.ts'
import { resolveFromCaller } from '../invocation.ts'
import type { ExportFlags, ReportingFlags, UnknownFlags } from '../options/shared-options.ts'
import { createProgressReporter, type FollowOptions, toFollowOptions } from '../progress/progress-reporter.ts'
import { reportError } from '../report-error.ts'
import { formatLoadSummary } from '../summary/load-summary-text.ts'
import { formatLoadNextSteps, formatNextSteps } from '../summary/next-steps.ts'
import { formatProblemGroups, listProblemSentences } from '../summary/row-text.ts'
import { formatSummary } from '../summary/summary-text.ts'
import { toPrintable } from '../terminal/output.ts'
import { sayUnsupported } from '../unsupported-options.ts'
import { toTargetOf } from '../written-files.ts'
import { chooseOnUnknown } from './consent.ts'
import { tellGithub } from './github-actions.ts'
import type { RunAccess } from './run-access.ts'

/** Follows a run to its end, resends unknown rows if wanted, reports the end, and returns the exit code. */
export async function settleRun(
  context: CliContext,
  engine: Engine,
  handle: RunHandle,
  flags: ReportingFlags & UnknownFlags & ExportFlags,
  access: RunAccess,
  options: { mayResend: boolean } = { mayResend: true },
): Promise<ExitCode> {
  const following = { ...toFollowOptions(flags), followKey: access.followKey }
  let summary = await followRun(context, handle, following)
  // Resuming a trial would send its remaining rows too.
  const mayResend = options.mayResend && !isLoadRun(summary) && countTrial(summary) === null
  if (mayResend && summary.state === 'completed' && summary.rows.unknown > 0) {
    const choice = await chooseOnUnknown(context, summary, flags, 'resume')
    if (choice.onUnknown === 'resend') {
      const again = await engine.runs.resumeRun(summary.run_id, {
        ...choice,
        ...(await access.readSecrets()),
      })
      summary = await followRun(context, again, following)
    }
  }
  try {
    await printSummary(context, engine, summary, flags)
    await tellGithub(context, engine, summary)
  } catch (error) {
    // 2 would mean that nothing was sent.
    throw SluiceError.because(error, { id: 'run_unread', runId: summary.run_id })
  }
  const isExported = await exportEnded(context, engine, summary, flags)
  if (summary.state === 'interrupted' && flags.json && !flags.quiet && !isLoadRun(summary)) {
    await context.err.writeLine(
      `To resume, run: ${context.errTerminal.commandPrefix} resume ${summary.run_id}`,
    )
  }
  if (countTrial(summary) !== null && flags.json && !flags.quiet) {
    await context.err.writeLine(
      `To send the remaining rows, run: ${context.errTerminal.commandPrefix} resume ${summary.run_id}`,
    )
  }
  for (const result of summary.thresholds ?? []) {
    // With --json, also say which threshold failed and by how much on stderr.
    if (flags.json && !result.ok) await context.err.writeLine(formatThresholdResult(result))
  }
  return isExported ? toExitCode(summary) : EXIT.rowsFailed
}

/**
 * Exports a run and its retries with `--export`, except an interrupted run, which can be resumed. False if
 * the file could not be written, or lacks what damaged answers say, after saying so, also with `--quiet`: the
 * run has been sent, and its summary is on stdout.
 */
export async function exportEnded(
  context: CliContext,
  engine: Engine,
  { run_id: runId, state, whole_run: whole }: RunSummary,
  flags: ReportingFlags & ExportFlags,
): Promise<boolean> {
  if (flags.export === undefined) return true
  const say = async (text: string) => {
    if (!flags.quiet) await context.err.writeLine(toPrintable(text))
  }
  if (state === 'interrupted') {
    await say(
      `Not exported: the run was interrupted. To export it: ${context.errTerminal.commandPrefix} export ${runId} FILE`,
    )
    return true
  }
  const file = resolveFromCaller(flags.export, context.env)
  const exported = whole?.run_id ?? runId
  try {
    // Something may have replaced the file while the run was sent.
    await toTargetOf(context, engine, exported, flags.export, flags)
    const result = await engine.results.exportRun(exported, { file })
    const { sizeBytes, guardedCells = 0 } = result
    await say(`Exported to ${file} (${formatBytes(sizeBytes)})`)
    for (const missing of listMissing(result)) await say(missing)
    if (guardedCells > 0) {
      const lossless = `${context.errTerminal.commandPrefix} export ${exported} FILE --lossless`
      await say(
        sayGuarded(guardedCells, `to write ${guardedCells === 1 ? 'it' : 'them'} unchanged: ${lossless}`),
      )
    }
    const damaged = sayDamaged(result)
    if (damaged !== null && flags.quiet) await context.err.writeLine(toPrintable(damaged))
    return damaged === null
  } catch (error) {
    const reason = toSluiceError(error).message
    const said = new SluiceError({ id: 'run_not_exported', runId: exported, file, reason }, { cause: error })
    await reportError(context, said, { asJson: false })
    return false
  }
}

/**
 * Shows a run's progress until it ends. The first Ctrl-C lets requests in flight end and keeps the rest
 * pending; the second leaves at once. Throws the `SluiceError` that ended the run, if any.
 */
export async function followRun(
  context: CliContext,
  handle: RunHandle,
  options: FollowOptions & { followKey?: RunAccess['followKey'] },
): Promise<RunSummary> {
  const progress = createProgressReporter(context, options)
  const stopListening = handle.onSnapshot(progress.update)
  const stopFollowing = options.followKey?.(handle, progress.say)
  const stopHearing = onThreadCrash(({ said }) => {
    // If a run's own thread crashes, the run ends; of the others, only a crash of the receiver can affect it.
    if (said.id !== 'receiver_ended') return
    const { title, hint } = sayError(said, 'terminal', context.errTerminal.commandPrefix)
    progress.say(toPrintable(`sluice: ${title}. ${hint}`))
  })
  const stopWatching = watchInterrupts({
    first: () => {
      const snapshot = handle.snapshot()
      const inFlight = sayInFlight(snapshot)
      const stopping = inFlight === null ? 'Stopping.' : `Stopping: waiting for ${inFlight}.`
      if (snapshot?.load) {
        progress.say(`${stopping} Results so far are kept. Press Ctrl-C again to quit at once.`)
        handle.stop()
        return
      }
      const awaiting = snapshot?.rows.awaiting ?? 0
      const awaited =
        awaiting === 0
          ? ''
          : ` ${formatCounted(awaiting, 'callback')} outstanding; resume waits for ${awaiting === 1 ? 'it' : 'them'}.`
      progress.say(`${stopping}${awaited} Press Ctrl-C again to quit at once.`)
      handle.stop()
    },
    second: () => {
      progress.finish()
      const inFlight = sayInFlight(handle.snapshot())
      const lost = inFlight === null ? '' : ` The outcome of ${inFlight} is unknown.`
      // The process ends in this turn of the loop, so nothing may stay in a buffer.
      writeSync(
        2,
        handle.snapshot()?.load
          ? `Quit at once. Results so far are kept.\nTo view them, run: ${context.errTerminal.commandPrefix} show ${handle.runId}\n`
          : `Quit at once.${lost}\nTo resume, run: ${context.errTerminal.commandPrefix} resume ${handle.runId}\n`,
      )
      process.exit(EXIT.interrupted)
    },
  })
  try {
    // `ended` rejects with the error that ended intake too, once what was left of the run is cleared away.
    handle.ready.catch(() => {})
    return await handle.ended
  } finally {
    stopWatching()
    stopHearing()
    stopFollowing?.()
    stopListening()
    progress.finish()
  }
}

/** The requests in flight, without their number while that is not known yet; null if there are none. */
function sayInFlight(snapshot: RunSnapshot | null): string | null {
  if (snapshot === null) return null
  if (snapshot.inFlight > 0) return `${formatCounted(snapshot.inFlight, 'request')} in flight`
  return ['running', 'draining'].includes(snapshot.phase) ? 'requests in flight' : null
}

/** Prints how a run ended, as a document or for a person to read. */
export async function printSummary(
  context: CliContext,
  engine: Engine,
  summary: RunSummary,
  flags: ReportingFlags,
): Promise<void> {
  const { out, outTerminal } = context
  if (flags.json) {
    await writeDocument(out, summary)
    return
  }
  const isLoad = isLoadRun(summary)
  await out.writeLine(
    isLoad
      ? formatLoadSummary(outTerminal, summary, await engine.results.readLoadReport(summary.run_id))
      : formatSummary(outTerminal, summary),
  )
  const groups = await engine.results.readProblems(summary.run_id)
  await printInvalidRows(context, summary, groups)
  const shown = groups.filter((group) => group.severity === 'error' || !isHint(group))
  const advice = [...listRunWarnings(summary.warnings), ...listProblemSentences(shown)].join('\n')
  const unsupported = sayUnsupported(context.command, advice)
  if (unsupported !== '') await out.writeLine(`\n${unsupported}`)
  const next = isLoad ? formatLoadNextSteps(outTerminal, summary) : formatNextSteps(outTerminal, summary)
  if (next.length > 0) await out.writeLine(`\n${next.join('\n')}`)
}

/** Examples of each cause if no row could be sent, and if some could. */
const EXAMPLES_ALONE = 10

const EXAMPLES_BESIDE = 3

async function printInvalidRows(
  context: CliContext,
  summary: RunSummary,
  groups: readonly ProblemGroup[],
): Promise<void> {
  const { out, outTerminal } = context
  if (summary.rows.invalid === 0) return
  const isAlone = summary.rows.invalid === summary.rows.read
  const errors = groups.filter((group) => group.severity === 'error')
  await out.writeLine()
  await out.writeLine(
    outTerminal.tone(
      'strong',
      isAlone
        ? `All rows are invalid; nothing was sent. To list them, run: ${context.errTerminal.commandPrefix} show ${summary.run_id} --problems`
        : 'Invalid rows',
    ),
  )
  for (const line of formatProblemGroups(outTerminal, errors, isAlone ? EXAMPLES_ALONE : EXAMPLES_BESIDE)) {
    await out.writeLine(`  ${line}`)
  }
}

export function toExitCode(summary: RunSummary): ExitCode {
  if (summary.state === 'interrupted') return EXIT.interrupted
  // A retry that is a run of its own is judged together with its whole run.
  const rows = summary.whole_run?.rows ?? summary.rows
  const { read, succeeded } = rows
  // Having no new rows is not a mistake.
  const { skipped = 0 } = rows
  if (read > 0 && skipped === 0 && countSendable(rows) === 0) return EXIT.badInput
  // A load test that its first request ended has measured nothing that a threshold could judge.
  if (isLoadRun(summary) && summary.state === 'stopped' && summary.requests.sent === 0) return EXIT.rowsFailed
  // A load test passes or fails by its thresholds, not by single requests, unless nothing succeeded.
  if (summary.thresholds?.some(({ ok }) => !ok)) return EXIT.thresholdCrossed
  if (summary.state === 'stopped') return EXIT.rowsFailed
  if (isLoadRun(summary)) return hasNoSuccess(summary) ? EXIT.rowsFailed : EXIT.ok
  const due = countTrial(summary) === null ? 0 : rows.not_sent
  return succeeded === read - countLeftOut(rows) - due ? EXIT.ok : EXIT.rowsFailed
}
