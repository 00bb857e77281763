import { type Fact, type Line, listPieces, type Section, type Tone } from '../../../shared/report/report.ts'
import { drawSign, formatSection, formatTable, hang, sectionColumns, wrapWords } from './layout.ts'
import { toPrintable } from './output.ts'
import type { Terminal } from './terminal.ts'

/** A report for a person to read: sections separated by blank lines, lines indented below their titles. */
export function formatReport(terminal: Terminal, sections: readonly Section[], indent = 2): string {
  return joinParts(sections.map((section) => formatReportSection(terminal, section, indent)))
}

/** Parts of a text, each an array of lines, separated by blank lines. */
export function joinParts(parts: readonly (readonly string[])[]): string {
  return parts
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n')
}

export function formatReportSection(
  terminal: Terminal,
  { title, lines = [], warnings = [], facts = [], tables = [], notes = [] }: Section,
  titleIndent = 2,
): string[] {
  const columns = terminal.columns()
  const indent = title === undefined ? 0 : titleIndent
  const indented = (line: Line, tone: Tone = 'plain') =>
    wrapWords(formatLine(terminal, line, tone), columns - indent).map((one) => ' '.repeat(indent) + one)
  return [
    ...(title === undefined ? [] : [formatLine(terminal, title, 'strong')]),
    ...lines.flatMap((line) => indented(line)),
    ...warnings.flatMap((warning) => formatWarning(terminal, warning)),
    ...facts.flatMap((fact) => formatFact(terminal, fact)),
    ...tables.flatMap((table) => formatTable(terminal, table, { indent })),
    ...notes.flatMap((note) => indented(note, 'quiet')),
  ]
}

function formatFact(terminal: Terminal, { label, lines = [], table, notes = [] }: Fact): string[] {
  const room = sectionColumns(terminal)
  return formatSection(terminal, label, [
    ...lines.flatMap((line) => wrapWords(formatLine(terminal, line, 'plain'), room)),
    ...(table === undefined || table.rows.length === 0 ? [] : formatTable(terminal, table, { room })),
    ...notes.flatMap((note) => wrapWords(formatLine(terminal, note, 'quiet'), room)),
  ])
}

/** A line with its tones; pieces without a tone have the `usual` one. */
function formatLine(terminal: Terminal, line: Line, usual: Tone): string {
  return listPieces(line)
    .map(({ text, tone = usual, sign }) => {
      const shown = toPrintable(text)
      return terminal.tone(tone, sign === undefined ? shown : `${drawSign(terminal, sign)}${shown}`)
    })
    .join('')
}

function formatWarning(terminal: Terminal, warning: string): string[] {
  return hang('! ', toPrintable(warning), terminal.columns()).map((line) => terminal.tone('warn', line))
}
