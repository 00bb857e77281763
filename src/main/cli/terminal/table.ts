import type { Terminal } from './terminal.ts'
import { cutToWidth, padLeft, padRight, textWidth } from './text-width.ts'

/** One column of a {@link formatTable}. */
export interface TableColumn {
  title: string
  align: 'left' | 'right'
  /** Narrower than this the column is never cut; without it, it is never cut at all. */
  minColumns?: number
}

/**
 * Lines of a table, header first, columns two spaces apart, everything `indent` spaces to the right. Where the terminal is too narrow, the columns that may be
 * cut give way, the widest first.
 */
export function formatTable(
  terminal: Terminal,
  columns: readonly TableColumn[],
  rows: readonly string[][],
  indent = 0,
): string[] {
  const widths = columns.map((column, index) =>
    Math.max(textWidth(column.title), ...rows.map((row) => textWidth(row[index] ?? ''))),
  )
  let excess =
    widths.reduce((sum, width) => sum + width, 2 * (columns.length - 1)) + indent - terminal.columns()
  while (excess > 0) {
    let widest = -1
    for (const [index, column] of columns.entries()) {
      const width = widths[index] ?? 0
      if (column.minColumns === undefined || width <= column.minColumns) continue
      if (widest < 0 || width > (widths[widest] ?? 0)) widest = index
    }
    if (widest < 0) break
    widths[widest] = (widths[widest] ?? 0) - 1
    excess -= 1
  }
  const toLine = (cells: string[]) =>
    ' '.repeat(indent) +
    columns
      .map((column, index) => {
        const width = widths[index] ?? 0
        const cell = cells[index] ?? ''
        const cut = textWidth(cell) > width ? cutToWidth(cell, width, terminal.glyphs.ellipsis) : cell
        return column.align === 'right' ? padLeft(cut, width) : padRight(cut, width)
      })
      .join('  ')
      .trimEnd()
  return [
    terminal.tone('quiet', toLine(columns.map((column) => column.title))),
    ...rows.map((row) => toLine(row)),
  ]
}

/** Breaks words into lines of at most `columns`; words longer than a line are left whole. */
export function wrapWords(text: string, columns: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && textWidth(line) + 1 + textWidth(word) > columns) {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  lines.push(line)
  return lines
}
