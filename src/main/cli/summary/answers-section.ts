import stringWidth from 'string-width'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { cutToWidth, formatSection, padLeft, padRight, sectionColumns } from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal, Tone } from '../terminal/terminal.ts'

const SHOWN_FAILED_TERMS = 5

/** One answer, how many rows have it, and what it means. */
interface AnswerLine {
  count: number
  word: string
  tone: Tone
  meaning: string
}

function formatAnswers(
  terminal: Terminal,
  title: string,
  { rows }: RunSummary,
  answers: readonly AnswerLine[],
): string[] {
  const shown = answers.filter(({ count }) => count > 0)
  if (shown.length === 0)
    return formatSection(terminal, title, [
      rows.rejected > 0 && rows.rejected === rows.read - rows.invalid
        ? 'none: every request was refused'
        : 'none answered',
    ])
  const wordColumns = Math.max(...shown.map(({ word }) => stringWidth(word)))
  const countColumns = Math.max(...shown.map(({ count }) => formatCount(count).length))
  const meaningColumns = Math.max(...shown.map(({ meaning }) => stringWidth(meaning)))
  const hasRoom = wordColumns + countColumns + meaningColumns + 3 <= sectionColumns(terminal)
  return formatSection(
    terminal,
    title,
    shown.map(({ count, word, tone, meaning }) => {
      const text = `${terminal.tone(tone, padRight(word, wordColumns))} ${padLeft(formatCount(count), countColumns)}`
      return hasRoom && meaning !== '' ? `${text}  ${terminal.tone('quiet', meaning)}` : text
    }),
  )
}

function formatFailedTerms(terminal: Terminal, failed: NonNullable<RunSummary['terms']>['failed']): string[] {
  const columns = sectionColumns(terminal)
  const lines = failed.slice(0, SHOWN_FAILED_TERMS).map(({ term, notes, row }) => {
    const text = `row ${row}: ${toPrintable(term)}${notes === null || notes === '' ? '' : `, notes ${toPrintable(notes)}`}`
    return cutToWidth(text, columns, terminal.glyphs.ellipsis)
  })
  const more = failed.length - lines.length
  return formatSection(terminal, '', [
    ...lines,
    ...(more > 0 ? [terminal.tone('quiet', `and ${formatCounted(more, 'term')} more; --json has them`)] : []),
  ])
}

/** The outcome of a watchlist's terms, the first that were not processed by name; nothing for other operations. */
export function formatTerms(terminal: Terminal, summary: RunSummary): string[] {
  const { operation, terms } = summary
  if (terms === undefined) return []
  const { added, pre_existing, added_or_pre_existing = 0, updated, non_existent, failed } = terms
  return [
    ...formatAnswers(terminal, 'Terms', summary, [
      { count: added, word: 'added', tone: 'good', meaning: '' },
      {
        count: pre_existing,
        word: 'pre-existing',
        tone: 'good',
        meaning:
          operation === 'watchlist-add'
            ? 'already in the watchlist; any new notes replaced the old ones'
            : '',
      },
      {
        count: added_or_pre_existing,
        word: 'added or pre-existing',
        tone: 'good',
        meaning: 'the first answer was lost, so it is unknown which',
      },
      { count: updated, word: 'updated', tone: 'good', meaning: '' },
      {
        count: non_existent,
        word: 'non-existent',
        tone: 'bad',
        meaning: 'not in the watchlist; add them with `watchlist add`',
      },
      {
        count: failed.length,
        word: 'not processed',
        tone: 'bad',
        meaning: 'the service could not process them',
      },
    ]),
    ...formatFailedTerms(terminal, failed),
  ]
}

/** Items that were added to or removed from a custom index; nothing for other operations. */
export function formatItems(terminal: Terminal, summary: RunSummary): string[] {
  const { operation, items } = summary
  if (items === undefined) return []
  return formatAnswers(terminal, 'Items', summary, [
    operation === 'index-add'
      ? {
          count: items.added,
          word: 'added',
          tone: 'good',
          meaning: 'the export has their ids, for `index remove`',
        }
      : { count: items.removed, word: 'removed', tone: 'good', meaning: '' },
  ])
}

/** Where the appeals of a run stand; nothing for other operations. */
export function formatAppeals(terminal: Terminal, summary: RunSummary): string[] {
  const { appeals } = summary
  if (appeals === undefined) return []
  return formatAnswers(terminal, 'Appeals', summary, [
    { count: appeals.in_review, word: 'In Review', tone: 'accent', meaning: 'no final decision yet' },
    {
      count: appeals.overturned,
      word: 'overturned',
      tone: 'warn',
      meaning: 'the original decision no longer applies',
    },
    { count: appeals.upheld, word: 'upheld', tone: 'good', meaning: 'the original decision stands' },
    {
      count: appeals.reviewed,
      word: 'Reviewed',
      tone: 'plain',
      meaning: 'decided, neither overturned nor upheld',
    },
    {
      count: appeals.other_status,
      word: 'other status',
      tone: 'warn',
      meaning: 'neither In Review nor Reviewed; see the export',
    },
  ])
}

/** Processed callbacks and their outcomes; nothing for sync runs. */
export function formatCallbacks(terminal: Terminal, { callbacks }: RunSummary): string[] {
  if (callbacks === undefined) return []
  const { received, settled, early, late, doubled, unreadable } = callbacks
  const notes = [
    ...(early > 0 ? [`${formatCount(early)} before the acknowledgement`] : []),
    ...(late > 0 ? [`${formatCount(late)} late`] : []),
  ]
  const parts = [
    `${formatCount(settled)} matched${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`,
    ...(doubled > 0 ? [formatCounted(doubled, 'duplicate')] : []),
    ...(unreadable > 0 ? [terminal.tone('warn', `${formatCount(unreadable)} unreadable`)] : []),
  ]
  return formatSection(terminal, 'Callbacks', [`${formatCount(received)} received: ${parts.join(', ')}`])
}
