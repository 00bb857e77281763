import stringWidth from 'fast-string-width'
import { isDuplicate, isFinal, toDeliveredRetry } from '../../../shared/messages/outcome-advice.ts'
import { mayAddTwice } from '../../../shared/operations/operations.ts'
import { countSendable } from '../../../shared/run/counts.ts'
import { LOAD_EXPORT_FORMATS, listEndings } from '../../../shared/run/export-formats.ts'
import {
  canResume,
  countTrialLeft,
  isSourceUnread,
  listRowWarnings,
  type RunSummary,
} from '../../../shared/run/run.ts'
import { isKeyRefusal } from '../../../shared/service/errors.ts'
import { padRight } from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Commands to type, each with what it does; nothing if there are none. */
export function formatCommands(terminal: Terminal, steps: readonly [string, string][]): string[] {
  if (steps.length === 0) return []
  const commands = steps.map(([command]) => `  ${terminal.commandPrefix} ${toPrintable(command)}`)
  const commandColumns = Math.max(...commands.map((text) => stringWidth(text)))
  const meaningColumns = Math.max(...steps.map(([, meaning]) => stringWidth(meaning)))
  // A command stays in one piece for pasting; its meaning is left out if it does not fit beside it.
  const hasRoom = commandColumns + 2 + meaningColumns <= terminal.columns()
  const lines = steps.map(([, meaning], index) => {
    const command = commands[index] ?? ''
    return hasRoom ? `${padRight(command, commandColumns)}  ${terminal.tone('quiet', meaning)}` : command
  })
  return [terminal.tone('strong', 'Next'), ...lines]
}

/** What to type after a load test: report, view, compare. */
export function formatLoadNextSteps(terminal: Terminal, summary: RunSummary): string[] {
  const { rows, run_id: runId, state, started_at } = summary
  if (state === 'running') return formatCommands(terminal, [[`show ${runId}`, 'show progress']])
  const steps: [string, string][] = []
  if (state === 'interrupted' && started_at === null) {
    steps.push([`resume ${runId}`, 'start sending'])
  }
  if (started_at !== null && countSendable(rows) > 0) {
    steps.push(
      [
        `export ${runId} report.html`,
        `report with charts; also ${listEndings(LOAD_EXPORT_FORMATS.slice(1))}`,
      ],
      [`compare EARLIER ${runId}`, 'compare with an earlier run'],
    )
  }
  steps.push(...toProblemsStep(summary, runId))
  return formatCommands(terminal, steps)
}

/** The command that lists what is wrong with rows, if anything is. */
function toProblemsStep({ rows, warnings }: RunSummary, runId: string): [string, string][] {
  const isWarned = listRowWarnings(warnings).length > 0
  if (rows.invalid === 0 && !isWarned) return []
  const listed = rows.invalid === 0 ? 'rows with warnings' : `invalid rows${isWarned ? ', warnings' : ''}`
  return [[`show ${runId} --problems`, `${listed} and why`]]
}

/** Whether a row that did not succeed may succeed if it is sent again unchanged. */
function canRetry({ rows, errors }: RunSummary): boolean {
  const final = errors.filter(isFinal).reduce((sum, group) => sum + group.rows, 0)
  return rows.rejected + rows.failed > final
}

/** Whether a run stopped because all answers named other ids; it would stop there again. */
function isRewriting({ state, echoes }: RunSummary): boolean {
  return state === 'stopped' && echoes?.verified === 0 && echoes.mismatched > 0
}

function sayResume(summary: RunSummary): string {
  const { rows, errors } = summary
  const left = countTrialLeft(summary)
  if (isSourceUnread(summary)) return `read the source and send ${left === null ? 'its rows' : 'the trial'}`
  if (left !== null && left > 0) return 'send the remaining rows of the trial'
  // Rows that were refused only because of the key are sent again.
  const isRefused = errors.some(({ status, error_code }) => isKeyRefusal(status, error_code))
  if ((left === null && rows.not_sent > 0) || isRefused) return 'send the remaining rows'
  return rows.awaiting > 0 ? 'await callbacks' : 'end the run; nothing is sent'
}

/** What to type next: resume, retry, view, export. */
export function formatNextSteps(terminal: Terminal, summary: RunSummary): string[] {
  const { rows, state, whole_run: whole } = summary
  // Rows are left in the whole run; a retry shows only its own part.
  const runId = whole?.run_id ?? summary.run_id
  const steps: [string, string][] = []
  if (state === 'running') steps.push([`show ${runId}`, 'show progress'])
  const duplicates = summary.errors.find(isDuplicate)
  // Resuming would meet the same duplicates and stop again; a retry sends the remaining rows too.
  const isResumable = canResume(summary) && !(state === 'stopped' && duplicates?.error_code)
  const resume = `resume ${runId}${isRewriting(summary) ? ' --accept ids_rewritten' : ''}`
  if (isResumable) steps.push([resume, sayResume(summary)])
  if (state !== 'running' && duplicates?.error_code) {
    if (summary.corrected !== undefined) steps.push([`run-again ${runId}`, 'send all rows as new posts'])
    const why =
      summary.corrected === undefined ? 'count duplicates as delivered' : 'only if they arrived corrected'
    steps.push([toDeliveredRetry(runId, duplicates.error_code), why])
  } else if (!isResumable && state !== 'running' && canRetry(summary)) {
    steps.push([`retry ${runId}`, 'send unsuccessful rows again'])
  } else if (isResumable && canRetry(summary)) {
    steps.push([`retry ${runId}`, 'send remaining and unsuccessful rows'])
  }
  if (rows.unknown > 0 && state !== 'running') {
    const again = isResumable ? resume : `retry ${runId}`
    if (mayAddTwice(summary.operation)) {
      steps.push([`${again} --resend-index-adds`, 'also send unknown rows; may add them twice'])
    } else {
      steps.push([
        `${again} --on-unknown resend`,
        steps.length > 0 ? 'also send unknown rows' : 'send unknown rows again',
      ])
    }
  }
  if (rows.overdue > 0 && !(isResumable && rows.not_sent > 0) && state !== 'running') {
    steps.push(['receiver', 'receive late callbacks'])
  }
  steps.push(...toProblemsStep(summary, runId))
  if (whole !== null) steps.push([`show ${runId}`, 'show the whole run with its retries'])
  if (rows.read > 0) steps.push([`export ${runId} results.csv`, 'export your columns with the results'])
  return formatCommands(terminal, steps)
}
