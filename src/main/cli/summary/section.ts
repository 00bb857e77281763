import type { RunState } from '../../../shared/run/run.ts'
import type { Terminal, Tone } from '../terminal/terminal.ts'
import { padRight, textWidth } from '../terminal/text-width.ts'

const TITLE_COLUMNS = 17

/** A titled part of the summary: the title stands left of its first line, the others are set under it. */
export function formatSection(terminal: Terminal, title: string, lines: readonly string[]): string[] {
  return lines.map((line, index) =>
    `${terminal.tone('strong', padRight(index === 0 ? title : '', TITLE_COLUMNS))}${line}`.trimEnd(),
  )
}

/** Columns left of the title's own for a section's lines. */
export function sectionColumns(terminal: Terminal): number {
  return Math.max(30, terminal.columns() - TITLE_COLUMNS)
}

/** A bar for a share of the most, drawn only where there is room next to `used` columns. */
export function formatShareBar(terminal: Terminal, part: number, most: number, used: string): string {
  const room = Math.min(24, sectionColumns(terminal) - textWidth(used) - 2)
  if (room < 6 || most === 0) return ''
  return terminal.tone(
    'accent',
    terminal.glyphs.barFull.repeat(Math.max(1, Math.round((part / most) * room))),
  )
}

/** How the word for where a run stands is set off. */
export const STATE_TONES: Readonly<Record<RunState, Tone>> = {
  running: 'accent',
  completed: 'good',
  stopped: 'bad',
  interrupted: 'warn',
}
