import { appendFileSync, statSync } from 'node:fs'
import type { LoadReport } from '../../../shared/load/load-report.ts'
import { formatThresholdResult } from '../../../shared/load/thresholds.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { joinSentences } from '../../../shared/messages/join-sentences.ts'
import { MAY_INCLUDE_DELAYS } from '../../../shared/messages/own-delays.ts'
import { toPrintable } from '../../../shared/messages/printable.ts'
import { toThrownText } from '../../../shared/messages/thrown.ts'
import { formatMarkdown, formatMarkdownHeading } from '../../../shared/report/markdown.ts'
import { formatLoadMarkdown, formatRunMarkdown } from '../../../shared/report/markdown-reports.ts'
import type { Section } from '../../../shared/report/report.ts'
import { countLeftOut } from '../../../shared/run/item-state.ts'
import {
  countTrial,
  isLoadRun,
  type RunSummary,
  sayNoSuccess,
  toLoadOutcome,
} from '../../../shared/run/run.ts'
import type { Engine } from '../../engine/engine.ts'
import { type Annotation, annotate } from '../annotations.ts'
import type { CliContext } from '../context.ts'

/** GitHub's limit for a step's summary, in bytes; it refuses a longer one entirely. */
const SUMMARY_MAX_BYTES = 1024 ** 2

/**
 * Adds a Markdown document to the job's summary in GitHub Actions, if this runs in one
 * (`GITHUB_STEP_SUMMARY`). A summary that cannot be written, or would be too long, is only reported.
 */
export async function addStepSummary(
  { env, err }: CliContext,
  toDocument: () => string | Promise<string>,
): Promise<void> {
  const file = env['GITHUB_STEP_SUMMARY'] ?? ''
  if (file === '') return
  try {
    const document = `${await toDocument()}\n`
    const before = statSync(file, { throwIfNoEntry: false })?.size ?? 0
    if (before + Buffer.byteLength(document) > SUMMARY_MAX_BYTES) {
      await err.writeLine('The summary for GitHub is left out: the summary of this step would be too long.')
      return
    }
    appendFileSync(file, document)
  } catch (error) {
    await err.writeLine(toPrintable(`The summary for GitHub was not written: ${toThrownText(error)}`))
  }
}

/** Sections as a part of a step's summary. */
export function toSummaryPart(title: string, sections: readonly Section[]): string {
  return `${formatMarkdownHeading(2, title)}\n\n${formatMarkdown(sections)}`
}

/** Tells GitHub Actions how a run ended: its report without content, and what failed. */
export async function tellGithub(context: CliContext, engine: Engine, summary: RunSummary): Promise<void> {
  const { run_id: runId } = summary
  await addStepSummary(context, async () =>
    isLoadRun(summary)
      ? formatLoadMarkdown(leaveMessagesOut(await engine.results.readLoadReport(runId)), { level: 2 })
      : formatRunMarkdown(await engine.results.reportRun(runId, { withContent: false, evaluation: null }), {
          level: 2,
        }),
  )
  await annotate(context, listAnnotations(summary))
}

/** Leaves out the service's messages, which may quote the refused row. */
function leaveMessagesOut(report: LoadReport): LoadReport {
  const { errors, firstRequest, stopReason } = report
  const leaveOut = <T extends { status: number | null; message: string | null }>(told: T): T =>
    told.status === null || told.message === null ? told : { ...told, message: '…' }
  return {
    ...report,
    stopReason: withoutMessage(stopReason, firstRequest),
    errors: errors.map(leaveOut),
    ...(firstRequest && { firstRequest: leaveOut(firstRequest) }),
  }
}

/** Why a load test ended, without the service's answer to its first request. */
function withoutMessage(
  reason: string | null,
  first: { status: number | null; message: string | null } | undefined,
): string | null {
  const message = first?.status == null ? null : first.message
  return reason === null || message === null ? reason : reason.replace(`: ${message}`, () => ': …')
}

/** What failed, and what makes figures or rows doubtful. */
function listAnnotations(summary: RunSummary): Annotation[] {
  const { name, state, thresholds = [], rows, warnings, generator } = summary
  const reason = withoutMessage(summary.stop_reason, summary.load?.first_request)
  const error = (title: string, message: string): Annotation => ({ level: 'error', title, message })
  const warning = (title: string, message: string): Annotation => ({ level: 'warning', title, message })
  const noSuccess = isLoadRun(summary) ? sayNoSuccess(toLoadOutcome(summary)) : null
  const unsuccessful = isLoadRun(summary) || state === 'interrupted' ? 0 : countUnsuccessful(summary)
  return [
    ...(reason === null ? [] : [error(`${name}: stopped`, reason)]),
    ...(state === 'interrupted' ? [warning(`${name}: interrupted`, 'The run was interrupted.')] : []),
    ...thresholds
      .filter(({ ok }) => !ok)
      .map((result) => error(`${name}: threshold failed`, formatThresholdResult(result))),
    ...(summary.load?.silence === undefined
      ? []
      : [warning(`${name}: no answers`, `${summary.load.silence.message}.`)]),
    ...(noSuccess === null ? [] : [error(`${name}: no success`, `${noSuccess}.`)]),
    ...(unsuccessful === 0
      ? []
      : [
          error(
            `${name}: rows without success`,
            `${formatCount(unsuccessful)} of ${formatCounted(rows.read, 'row')} did not succeed.`,
          ),
        ]),
    ...(generator.limited
      ? [
          warning(
            `${name}: latencies`,
            joinSentences([`${MAY_INCLUDE_DELAYS}.`, ...(generator.reasons ?? [])]),
          ),
        ]
      : []),
    ...warnings.map(({ rows: warned, message }) =>
      warning(
        `${name}: warning`,
        warned === undefined ? message : `${formatCounted(warned, 'row')}: ${message}`,
      ),
    ),
  ]
}

/** Rows that should have succeeded and did not; rows that a trial or a fix leaves out do not count. */
function countUnsuccessful(summary: RunSummary): number {
  const { read, succeeded, not_sent: notSent } = summary.rows
  const due = countTrial(summary) === null ? 0 : notSent
  return Math.max(0, read - countLeftOut(summary.rows) - due - succeeded)
}
