import stringWidth from 'string-width'
import { formatCount, formatCounted, formatShare } from '../../../shared/messages/figure-text.ts'
import { adviseInTerminal } from '../../../shared/messages/outcome-advice.ts'
import type { Tone } from '../../../shared/report/report.ts'
import { mergeErrorGroups } from '../../../shared/run/counts.ts'
import type { ErrorGroup, RunSummary } from '../../../shared/run/run.ts'
import { COMMAND_PREFIX } from '../invocation.ts'
import {
  cutToWidth,
  formatSection,
  formatShareBar,
  padLeft,
  padRight,
  sectionColumns,
  wrapWords,
} from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

const SHOWN_GROUPS = 10

const TONES: Readonly<Record<ErrorGroup['outcome'], Tone>> = {
  invalid: 'warn',
  rejected: 'bad',
  failed: 'warn',
  unknown: 'odd',
  overdue: 'odd',
}

function toCause(group: ErrorGroup, messages: number): string {
  const code = [
    group.status === null ? '' : String(group.status),
    group.error_code !== null && !group.message.includes(group.error_code) ? group.error_code : '',
  ].filter(Boolean)
  const others = messages > 1 ? ` (and ${formatCounted(messages - 1, 'other message')})` : ''
  return toPrintable([code.join(' '), group.message].filter(Boolean).join(': ')) + others
}

/** Rows that did not succeed by cause, most first, each cause with what to do about it. */
export function formatErrors(terminal: Terminal, summary: RunSummary): string[] {
  // Rows that did not pass the checks are listed by cause, with examples, after the summary.
  const groups = mergeErrorGroups(summary.errors.filter((group) => group.outcome !== 'invalid'))
  if (groups.length === 0) return []
  const shown = groups.slice(0, SHOWN_GROUPS)
  const countColumns = Math.max(...shown.map(({ group }) => formatCount(group.rows).length))
  const indent = countColumns + 12
  const columns = Math.max(24, sectionColumns(terminal) - indent)
  const arrowColumns = stringWidth(terminal.glyphs.arrow) + 1
  const lines = shown.flatMap(({ group, merged }) => {
    const [first = '', ...others] = wrapWords(toCause(group, merged.length), columns)
    const head = `${padLeft(formatCount(group.rows), countColumns)} ${terminal.tone(TONES[group.outcome], padRight(group.outcome, 10))} ${first}`
    const advice = adviseInTerminal(group, summary)
    const adviceLines = advice === null ? [] : wrapWords(advice.text, columns - arrowColumns)
    // A command stays in one piece, however narrow the terminal: it is there to be pasted.
    if (advice?.command !== undefined) adviceLines.push(`${COMMAND_PREFIX} ${advice.command}`)
    return [
      head,
      ...others.map((line) => ' '.repeat(indent) + line),
      ...adviceLines.map(
        (line, index) =>
          ' '.repeat(indent) +
          terminal.tone(
            'quiet',
            `${padRight(index === 0 ? terminal.glyphs.arrow : '', arrowColumns)}${line}`,
          ),
      ),
    ]
  })
  const more = groups.length - shown.length
  return formatSection(terminal, 'Errors', [
    ...lines,
    ...(more > 0
      ? [terminal.tone('quiet', `and ${formatCounted(more, 'cause')} more; --json has them all`)]
      : []),
  ])
}

const SHOWN_RULES = 15
const SHARE_COLUMNS = 12

/** Triggered rules, most rows first. */
export function formatTriggeredRules(terminal: Terminal, summary: RunSummary): string[] {
  const rules = summary.triggered_rules
  if (rules.length === 0) {
    if (summary.rows.succeeded === 0 || summary.operation !== 'task') return []
    return formatSection(terminal, 'Triggered rules', ['none'])
  }
  const most = Math.max(...rules.map((rule) => rule.rows))
  const shown = rules.slice(0, SHOWN_RULES).map((rule) => ({
    rows: rule.rows,
    name: toPrintable(rule.rule_name === '' ? rule.rule_id : rule.rule_name),
  }))
  const room = Math.max(12, sectionColumns(terminal) - 30)
  const nameColumns = Math.min(room, Math.max(...shown.map(({ name }) => stringWidth(name))))
  const countColumns = Math.max(4, formatCount(most).length)
  const lines = shown.map(({ rows, name }) => {
    const cut = padRight(cutToWidth(name, nameColumns, terminal.glyphs.ellipsis), nameColumns)
    const share = padLeft(formatShare(rows, summary.rows.succeeded), SHARE_COLUMNS)
    const text = `${cut} ${padLeft(formatCount(rows), countColumns)} ${share}`
    return `${text}  ${formatShareBar(terminal, rows, most, text)}`
  })
  const header = terminal.tone(
    'quiet',
    `${padRight('', nameColumns)} ${padLeft('rows', countColumns)} ${padLeft('of succeeded', SHARE_COLUMNS)}`,
  )
  const more = rules.length - shown.length
  return formatSection(terminal, 'Triggered rules', [
    header,
    ...lines,
    ...(more > 0
      ? [terminal.tone('quiet', `and ${formatCounted(more, 'rule')} more; --json has them all`)]
      : []),
  ])
}
