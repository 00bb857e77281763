import type { RunSummary } from '../../../shared/run/run.ts'
import { COMMAND_PREFIX } from '../invocation.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { padRight, textWidth } from '../terminal/text-width.ts'
import { isDuplicate, isFinal, toDeliveredRetry } from './advice.ts'

/** Commands to type, each with what it does; nothing where there are none. */
export function formatCommands(terminal: Terminal, steps: readonly [string, string][]): string[] {
  if (steps.length === 0) return []
  const commands = steps.map(([command]) => `  ${COMMAND_PREFIX} ${command}`)
  const commandColumns = Math.max(...commands.map(textWidth))
  const meaningColumns = Math.max(...steps.map(([, meaning]) => textWidth(meaning)))
  // A command stays in one piece, to be pasted; what it does is left out where it would not stand beside it.
  const hasRoom = commandColumns + 2 + meaningColumns <= terminal.columns()
  const lines = steps.map(([, meaning], index) => {
    const command = commands[index] ?? ''
    return hasRoom ? `${padRight(command, commandColumns)}  ${terminal.tone('quiet', meaning)}` : command
  })
  return [terminal.tone('strong', 'Next'), ...lines]
}

/** What to type after a load test: a report, a look, a comparison. */
export function formatLoadNextSteps(
  terminal: Terminal,
  { rows, run_id: runId, state, started_at }: RunSummary,
): string[] {
  if (state === 'running') return formatCommands(terminal, [[`show ${runId}`, 'how it stands']])
  const steps: [string, string][] = []
  if (state === 'interrupted' && started_at === null) {
    steps.push([`resume ${runId}`, 'nothing was sent yet'])
  }
  if (started_at !== null && rows.read > rows.invalid) {
    steps.push(
      [`export ${runId} report.html`, 'a page with charts; .junit.xml, .hlog, .csv, .jsonl too'],
      [`compare EARLIER ${runId}`, 'whether it is slower than an earlier run'],
    )
  }
  if (rows.invalid > 0) steps.push([`show ${runId} --problems`, 'rows that did not pass, and why'])
  return formatCommands(terminal, steps)
}

/** Whether any row that did not succeed may do so when it is sent again as it is. */
function hasHopeOfRetry({ rows, errors }: RunSummary): boolean {
  const final = errors.filter(isFinal).reduce((sum, group) => sum + group.rows, 0)
  return rows.rejected + rows.failed > final
}

/** What to type next: resume, retry, look closer, export. */
export function formatNextSteps(terminal: Terminal, summary: RunSummary): string[] {
  const { rows, state, whole_run: whole } = summary
  // What is left is left of the whole run; a retry shows only its own part.
  const runId = whole?.run_id ?? summary.run_id
  const steps: [string, string][] = []
  if (state === 'running') steps.push([`show ${runId}`, 'how it stands'])
  const isResumable = state === 'interrupted' || (state === 'stopped' && rows.not_sent > 0)
  if (isResumable) steps.push([`resume ${runId}`, 'send what is still to be sent'])
  const duplicates = summary.errors.find(isDuplicate)
  if (state !== 'running' && duplicates?.error_code) {
    steps.push([toDeliveredRetry(runId, duplicates), 'take what the service had before as delivered'])
  } else if (!isResumable && state !== 'running' && hasHopeOfRetry(summary)) {
    steps.push([`retry ${runId}`, 'send what did not succeed again'])
  } else if (isResumable && hasHopeOfRetry(summary)) {
    steps.push([`retry ${runId}`, 'that and what did not succeed'])
  }
  if (rows.unknown > 0 && state !== 'running') {
    const again = `${isResumable ? 'resume' : 'retry'} ${runId}`
    if (summary.operation === 'index-add') {
      steps.push([`${again} --resend-index-adds`, 'the unknown rows, too; may add them twice'])
    } else {
      steps.push([
        `${again} --on-unknown resend`,
        steps.length > 0 ? 'the same, unknown rows too' : 'send the unknown rows again',
      ])
    }
  }
  if (rows.overdue > 0 && !isResumable && state !== 'running') {
    steps.push(['receiver', 'take callbacks that come late; they still settle their rows'])
  }
  if (rows.invalid > 0) steps.push([`show ${runId} --problems`, 'rows that did not pass, and why'])
  if (whole !== null) steps.push([`show ${runId}`, 'the whole run, with every retry'])
  if (rows.read > 0) steps.push([`export ${runId} results.csv`, 'your columns and the results'])
  return formatCommands(terminal, steps)
}
