import type { ErrorGroup, RunSummary } from '../../../shared/run.ts'
import { formatCount, formatCounted } from '../terminal/number-format.ts'
import { toPrintable } from '../terminal/printable.ts'
import { wrapWords } from '../terminal/table.ts'
import type { Terminal, Tone } from '../terminal/terminal.ts'
import { padLeft, padRight } from '../terminal/text-width.ts'
import { adviseOn } from './advice.ts'
import { formatSection, sectionColumns } from './section.ts'

const SHOWN_GROUPS = 10

const TONES: Readonly<Record<ErrorGroup['outcome'], Tone>> = {
  invalid: 'warn',
  rejected: 'bad',
  failed: 'warn',
  unknown: 'odd',
}

function toCause(group: ErrorGroup): string {
  const code = [group.status === null ? '' : String(group.status), group.error_code ?? ''].filter(Boolean)
  return toPrintable([code.join(' '), group.message].filter(Boolean).join(': '))
}

/** Rows that did not succeed by cause, most first, each cause with what to do about it. */
export function formatErrors(terminal: Terminal, summary: RunSummary): string[] {
  // Rows that did not pass the checks are listed by cause, with examples, after the summary.
  const groups = summary.errors
    .filter((group) => group.outcome !== 'invalid')
    .toSorted((one, other) => other.rows - one.rows)
  if (groups.length === 0) return []
  const shown = groups.slice(0, SHOWN_GROUPS)
  const countColumns = Math.max(...shown.map((group) => formatCount(group.rows).length))
  const indent = countColumns + 12
  const columns = Math.max(24, sectionColumns(terminal) - indent)
  const lines = shown.flatMap((group) => {
    const [first = '', ...others] = wrapWords(toCause(group), columns)
    const head = `${padLeft(formatCount(group.rows), countColumns)} ${terminal.tone(TONES[group.outcome], padRight(group.outcome, 10))} ${first}`
    const advice = adviseOn(group, summary)
    const adviceLines = advice === null ? [] : wrapWords(advice.text, columns - 2)
    // A command stays in one piece, however narrow the terminal: it is there to be pasted.
    if (advice?.command !== undefined) adviceLines.push(advice.command)
    return [
      head,
      ...others.map((line) => ' '.repeat(indent) + line),
      ...adviceLines.map(
        (line, index) =>
          ' '.repeat(indent) + terminal.tone('quiet', `${index === 0 ? terminal.glyphs.arrow : ' '} ${line}`),
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
