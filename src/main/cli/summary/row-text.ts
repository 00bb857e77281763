import { formatBytes, formatCount, formatFigure } from '../../../shared/messages/figure-text.ts'
import { isJson, prettyJson } from '../../../shared/messages/pretty-json.ts'
import { describeState } from '../../../shared/messages/state-name.ts'
import { formatLine } from '../../../shared/plan/source-place.ts'
import { formatProblem } from '../../../shared/run/problem.ts'
import type { AttemptDetail, CutFrom, RowDetail } from '../../../shared/run/results.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { padRight, textWidth } from '../terminal/text-width.ts'
import { formatSection } from './section.ts'

function formatCells(terminal: Terminal, detail: RowDetail): string[] {
  const names = detail.result.cells.map((_, index) =>
    toPrintable(detail.columns[index] ?? `Column ${index + 1}`),
  )
  const nameColumns = Math.min(30, Math.max(0, ...names.map(textWidth)))
  return detail.result.cells.map(
    (cell, index) =>
      `${terminal.tone('quiet', padRight(names[index] ?? '', nameColumns))}  ${toPrintable(cell)}`,
  )
}

function formatAttempt(attempt: AttemptDetail): string {
  const phase = (name: string, ms: number | null) => (ms === null ? [] : [`${name} ${formatFigure(ms)} ms`])
  const answer = [attempt.status === null ? '' : String(attempt.status), attempt.errorCode ?? '']
  const text = [
    `${attempt.number}. ${attempt.sentAt}  ${attempt.outcome}`,
    answer.filter(Boolean).join(' '),
    attempt.message ?? '',
    phase('took', attempt.durationMs).join(''),
    ...phase('waiting', attempt.waitingMs),
    ...phase('connecting', attempt.connectMs),
    ...phase('TLS', attempt.tlsMs),
  ]
  return toPrintable(text.filter(Boolean).join('  '))
}

function formatJson(body: string): string[] {
  return isJson(body) ? prettyJson(body).split('\n').map(toPrintable) : [toPrintable(body)]
}

/** The row's own part of a request that carries many, else all of it. */
function formatRequestBody(terminal: Terminal, { requestBody, requestPart }: RowDetail): string[] {
  if (requestPart === undefined) return requestBody === null ? [] : formatJson(requestBody)
  return [
    terminal.tone('quiet', `1 of ${formatCount(requestPart.rows)} terms in the request; --json has all`),
    ...formatJson(requestPart.body),
  ]
}

/** How long after its request a row's callback came; the first settles it, so only one has a latency. */
function formatCallbackLatency({ result, callbacks }: RowDetail): string {
  if (result.callbackLatencyMs === null || callbacks.length !== 1) return ''
  return `  ${formatFigure(result.callbackLatencyMs)} ms after the request`
}

/** Says where a body was cut, in bytes. */
function formatCut(terminal: Terminal, body: string, cutFrom: CutFrom | null): string[] {
  if (cutFrom === null) return []
  const { bytes } = cutFrom
  const whole = bytes === null ? 'of an unknown length' : `of ${formatBytes(bytes)}`
  return [terminal.tone('warn', `cut here: kept the first ${formatBytes(Buffer.byteLength(body))} ${whole}`)]
}

/** One row for a person to read: its outcome, its cells, the exact request, every attempt, the answer. */
export function formatRowDetail(terminal: Terminal, detail: RowDetail): string {
  const { result } = detail
  const state = [
    describeState(result),
    result.status === null ? '' : String(result.status),
    result.errorCode ?? '',
    result.message ?? '',
  ]
  const parts = [
    formatSection(terminal, `Row ${result.row}${formatLine(result.row, result.place)}`, [
      toPrintable(state.filter(Boolean).join('  ')),
    ]),
    result.answer === null
      ? []
      : formatSection(terminal, 'Answer type', [toPrintable(result.answer.replaceAll('_', ' '))]),
    result.customIndexItemId === null
      ? []
      : formatSection(terminal, 'Index item', [toPrintable(result.customIndexItemId)]),
    result.taskId === null ? [] : formatSection(terminal, 'Task', [toPrintable(result.taskId)]),
    result.triggeredRules.length === 0
      ? []
      : formatSection(
          terminal,
          'Triggered rules',
          result.triggeredRules.map((rule) => toPrintable(`${rule.ruleName} (${rule.ruleId})`)),
        ),
    formatSection(terminal, 'Cells', formatCells(terminal, detail)),
    formatSection(
      terminal,
      'Problems',
      detail.problems.map(
        (problem) =>
          `${problem.severity === 'warning' ? 'warning: ' : ''}${toPrintable(formatProblem(problem))}`,
      ),
    ),
    result.state === 'invalid'
      ? []
      : formatSection(terminal, 'Request', [
          `${detail.requestMethod} ${toPrintable(detail.requestUrl)}`,
          ...formatRequestBody(terminal, detail),
        ]),
    formatSection(terminal, 'Attempts', detail.attempts.map(formatAttempt)),
    formatSection(
      terminal,
      'Callbacks',
      detail.callbacks.flatMap(({ receivedAt, effect, body, cutFrom }) => [
        `${receivedAt}  ${effect}${formatCallbackLatency(detail)}`,
        ...formatJson(body),
        ...formatCut(terminal, body, cutFrom),
      ]),
    ),
    formatSection(
      terminal,
      'Class scores',
      detail.classScores.map((entry) => toPrintable(`${entry.className} ${entry.score}`)),
    ),
    detail.responseBody === null
      ? []
      : formatSection(terminal, 'Answer', [
          ...formatJson(detail.responseBody),
          ...formatCut(terminal, detail.responseBody, detail.responseCutFrom),
        ]),
  ]
  return parts
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n')
}
