import type { Terminal, Tone } from '../terminal/terminal.ts'
import { fitSegments, padRight, type Segment, textWidth } from '../terminal/text-width.ts'

/** Columns of the word before a bar, the space behind it included. */
export const LABEL_COLUMNS = 9

const BAR_MAX_COLUMNS = 40
const BAR_MIN_COLUMNS = 8

function drawBar(terminal: Terminal, share: number, columns: number, tone: Tone): string {
  const full = share >= 1 ? columns : Math.min(columns - 1, Math.floor(share * columns))
  const { barFull, barEmpty } = terminal.glyphs
  return terminal.tone(tone, barFull.repeat(full)) + terminal.tone('quiet', barEmpty.repeat(columns - full))
}

/** A word, a bar where there is room and something to draw, and what fits behind it. `share` is null without an end. */
export function formatBarLine(
  terminal: Terminal,
  label: string,
  { share, tone }: { share: number | null; tone: Tone },
  segments: readonly Segment[],
): string {
  const room = terminal.columns() - 1
  const rest = fitSegments(segments, room - LABEL_COLUMNS, '  ')
  const barRoom = Math.min(BAR_MAX_COLUMNS, room - LABEL_COLUMNS - textWidth(rest) - 2)
  const bar =
    share === null || barRoom < BAR_MIN_COLUMNS ? '' : `${drawBar(terminal, share, barRoom, tone)}  `
  return `${terminal.tone('strong', padRight(label, LABEL_COLUMNS))}${bar}${rest}`
}
