import stringWidth from 'string-width'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { nameRow } from '../../../shared/plan/source-place.ts'
import { countSendable } from '../../../shared/run/counts.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { describeCallbacks, listAnswers } from '../../../shared/run/run-view.ts'
import {
  cutToWidth,
  formatSection,
  padLeft,
  padRight,
  sectionColumns,
  wrapWords,
} from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

const SHOWN_FAILED_TERMS = 5

/**
 * What the service did with terms, items or appeals, the first terms that were not processed by name; nothing for other
 * operations.
 */
export function formatAnswers(terminal: Terminal, summary: RunSummary): string[] {
  const found = listAnswers(summary)
  if (found === null) return []
  const { rows, terms } = summary
  const { title, answers } = found
  if (answers.length === 0)
    return formatSection(terminal, title, [
      rows.rejected > 0 && rows.rejected === countSendable(rows)
        ? 'none: every request was refused'
        : 'none answered',
    ])
  const nameColumns = Math.max(...answers.map(({ name }) => stringWidth(name)))
  const countColumns = Math.max(...answers.map(({ rows: count }) => formatCount(count).length))
  const meaningColumns = Math.max(...answers.map(({ meaning }) => stringWidth(meaning)))
  const hasRoom = nameColumns + countColumns + meaningColumns + 3 <= sectionColumns(terminal)
  const lines = answers.map(({ name, rows: count, tone, meaning }) => {
    const text = `${terminal.tone(tone, padRight(name, nameColumns))} ${padLeft(formatCount(count), countColumns)}`
    return hasRoom && meaning !== '' ? `${text}  ${terminal.tone('quiet', meaning)}` : text
  })
  return [
    ...formatSection(terminal, title, lines),
    ...(terms === undefined ? [] : formatFailedTerms(terminal, terms.failed)),
  ]
}

function formatFailedTerms(terminal: Terminal, failed: NonNullable<RunSummary['terms']>['failed']): string[] {
  const columns = sectionColumns(terminal)
  const lines = failed.slice(0, SHOWN_FAILED_TERMS).map(({ term, notes, ...named }) => {
    const text = `row ${nameRow(named)}: ${toPrintable(term)}${notes === null || notes === '' ? '' : `, notes ${toPrintable(notes)}`}`
    return cutToWidth(text, columns, terminal.glyphs.ellipsis)
  })
  const more = failed.length - lines.length
  return formatSection(terminal, '', [
    ...lines,
    ...(more > 0 ? [terminal.tone('quiet', `and ${formatCounted(more, 'term')} more; --json has them`)] : []),
  ])
}

/** Processed callbacks and their outcomes; nothing for sync runs. */
export function formatCallbacks(terminal: Terminal, { callbacks }: RunSummary): string[] {
  if (callbacks === undefined) return []
  const lines = wrapWords(describeCallbacks(callbacks), sectionColumns(terminal))
  return formatSection(
    terminal,
    'Callbacks',
    lines.map((line) => (callbacks.unreadable > 0 ? terminal.tone('warn', line) : line)),
  )
}
