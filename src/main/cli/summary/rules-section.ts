import { formatCount, formatCounted, formatShare } from '../../../shared/messages/figure-text.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { toPrintable } from '../terminal/printable.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { cutToWidth, padLeft, padRight, textWidth } from '../terminal/text-width.ts'
import { formatSection, formatShareBar, sectionColumns } from './section.ts'

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
  const nameColumns = Math.min(room, Math.max(...shown.map(({ name }) => textWidth(name))))
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
