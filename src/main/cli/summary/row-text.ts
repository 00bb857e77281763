import stringWidth from 'fast-string-width'
import {
  formatBytes,
  formatCount,
  formatCounted,
  formatFigure,
} from '../../../shared/messages/figure-text.ts'
import { isJson, prettyJson } from '../../../shared/messages/pretty-json.ts'
import {
  formatProblemOfRow,
  sayExpected,
  toWorded,
  toWordedProblem,
} from '../../../shared/messages/problem-messages.ts'
import { findCounted, findNeeds } from '../../../shared/messages/problem-traits.ts'
import { describeState } from '../../../shared/messages/state-name.ts'
import type { Correction } from '../../../shared/plan/fixes.ts'
import { listLeaveOut, listReadyFixes, type ReadyFix } from '../../../shared/plan/ready-fixes.ts'
import { formatRow } from '../../../shared/plan/source-place.ts'
import { isOfKind, toAnswerWords } from '../../../shared/run/item-state.ts'
import { formatProblemRow, type Problem, type ProblemGroup } from '../../../shared/run/problem.ts'
import type { AttemptDetail, CutFrom, RowDetail } from '../../../shared/run/results.ts'
import { formatSection, padRight } from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** One row for a person to read: its outcome, its cells, the exact request, every attempt, the answer. */
export function formatRowDetail(terminal: Terminal, detail: RowDetail): string {
  const { result, requestMethod, requestUrl, responseBody } = detail
  const state = [describeState(result), String(result.status ?? ''), result.errorCode, result.message]
  const parts: readonly (readonly [label: string, lines: readonly string[]])[] = [
    [`Row ${formatRow(result.place)}`, [toPrintable(state.filter(Boolean).join('  '))]],
    ['Answer type', some(result.answer === null ? null : toAnswerWords(result.answer))],
    ['Index item', some(result.customIndexItemId)],
    ['Task', some(result.taskId)],
    [
      'Triggered rules',
      result.triggeredRules.map((rule) => toPrintable(`${rule.ruleName} (${rule.ruleId})`)),
    ],
    ['Cells', formatCells(terminal, detail)],
    [
      'Problems',
      detail.problems.map(
        (problem) =>
          `${problem.severity === 'warning' ? 'warning: ' : ''}${toPrintable(formatProblemOfRow(problem))}`,
      ),
    ],
    [
      isOfKind(result.state, 'unsent') ? 'Corrected' : 'Sent as',
      (detail.corrections ?? []).map(formatCorrection),
    ],
    [
      'Request',
      isOfKind(result.state, 'unsent')
        ? []
        : [`${requestMethod} ${toPrintable(requestUrl)}`, ...formatRequestBody(terminal, detail)],
    ],
    [
      'Attempts',
      detail.attempts.flatMap(({ response, ...attempt }) => [
        formatAttempt(attempt),
        ...(response === undefined ? [] : formatBody(terminal, response.body, response.cutFrom)),
      ]),
    ],
    [
      'Callbacks',
      detail.callbacks.flatMap(({ receivedAt, effect, body, cutFrom }) => [
        `${receivedAt}  ${effect}${formatCallbackLatency(detail)}`,
        ...formatBody(terminal, body, cutFrom),
      ]),
    ],
    [
      'Class scores',
      result.classScores
        .toSorted((a, b) => b.score - a.score)
        .map((entry) => toPrintable(`${entry.className} ${entry.score}`)),
    ],
    ['Answer', responseBody === null ? [] : formatBody(terminal, responseBody, detail.responseCutFrom)],
  ]
  return parts.flatMap(([label, lines]) => formatSection(terminal, label, lines)).join('\n')
}

function some(text: string | null | undefined): string[] {
  return text === null || text === undefined ? [] : [toPrintable(text)]
}

function formatCorrection({ field, before, sent }: Correction): string {
  const text = (value: string) => (value === '' ? 'nothing' : `\`${value}\``)
  return toPrintable(`${field}: ${text(sent)}, in the source ${text(before)}`)
}

function formatCells(terminal: Terminal, detail: RowDetail): string[] {
  const names = detail.result.cells.map((_, index) =>
    toPrintable(detail.columns[index] ?? `Column ${index + 1}`),
  )
  const nameColumns = Math.min(30, Math.max(0, ...names.map((text) => stringWidth(text))))
  return detail.result.cells.map(
    (cell, index) =>
      `${terminal.tone('quiet', padRight(names[index] ?? '', nameColumns))}  ${toPrintable(cell)}`,
  )
}

function formatAttempt(attempt: AttemptDetail): string {
  const phase = (name: string, ms: number | null) => (ms === null ? [] : [`${name} ${formatFigure(ms)} ms`])
  const answer = [attempt.status === null ? '' : String(attempt.status), attempt.errorCode ?? '']
  const text = [
    `${attempt.number}. ${attempt.sentAt === null ? '' : `${attempt.sentAt}  `}${attempt.outcome}`,
    answer.filter(Boolean).join(' '),
    attempt.message ?? '',
    phase('took', attempt.durationMs).join(''),
    ...phase('waiting', attempt.waitingMs),
    ...phase('connecting', attempt.connectMs),
    ...phase('TLS', attempt.tlsMs),
    attempt.traceparent === undefined ? '' : `traceparent ${attempt.traceparent}`,
  ]
  return toPrintable(text.filter(Boolean).join('  '))
}

/** The row's own part of a request with many rows, else the whole request. */
function formatRequestBody(terminal: Terminal, { requestBody, requestPart }: RowDetail): string[] {
  if (requestPart === undefined) return requestBody === null ? [] : formatJson(requestBody)
  return [
    terminal.tone('quiet', `1 of ${formatCount(requestPart.rows)} terms in the request; --json has all`),
    ...formatJson(requestPart.body),
  ]
}

/** Time from a row's request to its callback; only the first callback has one, since it settles the row. */
function formatCallbackLatency({ result, callbacks }: RowDetail): string {
  if (result.callbackLatencyMs === null || callbacks.length !== 1) return ''
  return `  ${formatFigure(result.callbackLatencyMs)} ms after the request`
}

function formatBody(terminal: Terminal, body: string, cutFrom: CutFrom | null): string[] {
  return [...formatJson(body), ...formatCut(terminal, body, cutFrom)]
}

function formatJson(body: string): string[] {
  return isJson(body) ? prettyJson(body).split('\n').map(toPrintable) : [toPrintable(body)]
}

/** Says where a body was cut, in bytes. */
function formatCut(terminal: Terminal, body: string, cutFrom: CutFrom | null): string[] {
  if (cutFrom === null) return []
  const { bytes } = cutFrom
  const whole = bytes === null ? 'of an unknown length' : `of ${formatBytes(bytes)}`
  return [terminal.tone('warn', `cut here: kept the first ${formatBytes(Buffer.byteLength(body))} ${whole}`)]
}

const WARNING_KINDS = { sent: 'warning, still sent', unsent: 'warning, not sent', all: 'warning' } as const

/** Problems by cause, errors first, each with up to `limit` examples and the number of further rows. */
export function formatProblemGroups(
  terminal: Terminal,
  groups: readonly ProblemGroup[],
  limit: number,
  fixes: 'with_fixes' | 'alone' = 'alone',
): string[] {
  const ready = fixes === 'alone' ? () => [] : listFixes
  const ordered = groups.toSorted(
    (one, other) =>
      Number(one.severity === 'warning') - Number(other.severity === 'warning') || other.rows - one.rows,
  )
  const lines = ordered.flatMap((group) => {
    const isError = group.severity === 'error'
    const sign = isError ? terminal.glyphs.rejected : terminal.glyphs.failed
    const field = group.field === null ? '' : `${group.field}: `
    const rows = group.rows > 0 ? group.rows : (group.unsent ?? 0)
    const counted = group.rows > 0 ? findCounted(group) : 'unsent'
    const unsent = group.rows > 0 && !isError ? (group.unsent ?? 0) : 0
    const alsoUnsent = unsent > 0 ? `; ${formatCounted(unsent, 'more row')} not sent` : ''
    const kind = isError ? '' : ` (${WARNING_KINDS[counted]}${alsoUnsent})`
    const head = `${sign} ${formatCounted(rows, 'row')}${kind}  ${toPrintable(`${field}${sayExpected(group, 'terminal')}`)}`
    const examples = group.examples.slice(0, limit)
    const more = rows - new Set(examples.map((example) => example.row)).size
    return [
      terminal.tone(isError ? 'bad' : 'warn', head),
      ...formatExamples(group, examples).map((example) => `    ${toPrintable(example)}`),
      ...(more > 0 && examples.length > 0
        ? [terminal.tone('quiet', `    and ${formatCounted(more, 'row')} more`)]
        : []),
      ...ready(group).map(({ label, fix }) => `    ${label}: ${toPrintable(JSON.stringify(fix))}`),
    ]
  })
  return ordered.some((group) => ready(group).length > 0)
    ? [...lines, terminal.tone('quiet', 'Add such a fix to "fixes" of a plan, which --save-plan FILE writes')]
    : lines
}

/** What {@link formatProblemGroups} says of these groups in our own words, without what is found. */
export function listProblemSentences(groups: readonly ProblemGroup[]): string[] {
  return groups.flatMap((group) => [group, ...group.examples].map((one) => sayExpected(one, 'terminal')))
}

/** The fixes that can go into a plan; rows that are not sent anyway need no fix to leave them out. */
function listFixes(group: ProblemGroup): ReadyFix[] {
  return [...listReadyFixes(group), ...(mayLeaveOut(group) ? listLeaveOut(group) : [])]
}

/** Whether to offer leaving rows out: if a person is asked, or they are probably not the table's. */
function mayLeaveOut(group: ProblemGroup): boolean {
  return findNeeds(group) !== null || group.code === 'description_row' || group.code === 'footer_row'
}

/** Groups for JSON, with sentences instead of arguments. */
export function toWordedGroups(groups: readonly ProblemGroup[]) {
  return groups.map(toWordedGroup)
}

export function toWordedGroup(group: ProblemGroup) {
  return { ...toWorded(group), examples: group.examples.map(toWordedProblem) }
}

/** A line for each example, one for several in the same words, without what the group already says. */
function formatExamples(group: ProblemGroup, examples: readonly Problem[]): string[] {
  const said = sayExpected(group, 'terminal')
  const alike = new Map<string, Problem[]>()
  for (const example of examples) {
    const key = `${sayExpected(example, 'terminal')}\n${example.found ?? ''}`
    alike.set(key, [...(alike.get(key) ?? []), example])
  }
  return [...alike.values()].flatMap((same) => {
    const [first] = same
    if (first === undefined) return []
    const sentence = sayExpected(first, 'terminal')
    const parts = [
      ...(sentence === said ? [] : [sentence]),
      ...(first.found === undefined ? [] : [`found \`${first.found}\``]),
    ]
    const rows = `${same.length === 1 ? 'row' : 'rows'} ${same.map(formatProblemRow).join(', ')}`
    return [parts.length === 0 ? rows : `${rows}: ${parts.join(', ')}`]
  })
}
