import { toPrintable } from '../messages/printable.ts'
import {
  type Cell,
  type Column,
  type Fact,
  getMarks,
  isNumeric,
  type Line,
  listPieces,
  type Section,
  type Sign,
  type Table,
  toCellText,
  toValue,
} from './report.ts'

/**
 * A report as GitHub's Markdown, which GitLab and most others also read. Texts of the source, the plan or the
 * service remain plain text: they cannot become headings, links, HTML or mentions. Commands are left out,
 * since readers may not have Sluice. Ends with a line break.
 */
export function formatMarkdown(sections: readonly Section[]): string {
  const blocks = sections.flatMap(formatSection)
  return `${blocks.join('\n\n')}\n`
}

/** A heading of a document or of a part. */
export function formatMarkdownHeading(level: 1 | 2 | 3, text: string): string {
  return `${'#'.repeat(level)} ${escapeMarkdown(text)}`
}

/** Paragraphs, lists and tables, each without an empty line inside. */
function formatSection({ title, lines = [], warnings = [], facts = [], tables = [], notes = [] }: Section) {
  const blocks = [
    ...lines.map(formatParagraph),
    ...warnings.map((warning) => `> ⚠ ${escapeMarkdown(warning)}`),
    ...formatFacts(facts),
    ...tables.flatMap(formatTable),
    ...notes.map((note) => `_${formatLine(note)}_`),
  ]
  return title === undefined || blocks.length === 0 ? blocks : [`### ${formatLine(title)}`, ...blocks]
}

/** One-line facts form one list; a fact with a table is a part of its own. */
function formatFacts(facts: readonly Fact[]): string[] {
  const blocks: string[] = []
  let list: string[] = []
  const end = () => {
    if (list.length > 0) blocks.push(list.join('\n'))
    list = []
  }
  for (const { label, lines = [], table, notes = [] } of facts) {
    const drawn = table === undefined ? [] : formatTable(table)
    if (lines.length === 0 && drawn.length === 0 && notes.length === 0) continue
    if (drawn.length === 0) {
      const said = [...lines, ...notes].map(formatLine).join('<br>')
      list.push(label === '' ? `- ${said}` : `- **${escapeMarkdown(label)}:** ${said}`)
      continue
    }
    end()
    if (label !== '') blocks.push(`**${escapeMarkdown(label)}**`)
    blocks.push(...lines.map(formatParagraph), ...drawn, ...notes.map((note) => `_${formatLine(note)}_`))
  }
  end()
  return blocks
}

/** A table, without bars: these repeat the figure beside them. */
function formatTable({ caption, columns, rows }: Table): string[] {
  const drawn = columns.flatMap((column, index) => (column.kind === 'bar' ? [] : [{ column, index }]))
  if (rows.length === 0 || drawn.length === 0) return []
  const toRow = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const table = [
    toRow(drawn.map(({ column }) => escapeMarkdown(column.title))),
    toRow(drawn.map(({ column }) => (isNumeric(column) ? '--:' : ':--'))),
    ...rows.map((row) => toRow(drawn.map(({ column, index }) => formatCell(column, row[index] ?? null)))),
  ].join('\n')
  return [...(caption === undefined ? [] : [formatParagraph(caption)]), table]
}

/** Signs that carry information of their own. */
const SIGNS: Partial<Record<Sign, string>> = { held: '✓', crossed: '✗' }

function formatCell(column: Column, cell: Cell): string {
  const {
    sign,
    meaning,
    command,
    isForeign = column.kind === 'foreign' || column.kind === 'code',
  } = getMarks(cell)
  const said = toCellText(column, cell).trim()
  const drawn = isForeign && toValue(cell) !== null ? toCode(said) : escapeMarkdown(said)
  const signed = [sign === undefined ? '' : (SIGNS[sign] ?? ''), drawn]
    .filter((part) => part !== '')
    .join(' ')
  // Advice that introduces a command ends here instead.
  const advice = command === undefined ? meaning : meaning?.replace(/:$/, '.')
  const whole = advice === undefined || advice === '' ? signed : `${signed}<br>${escapeMarkdown(advice)}`
  return whole.replaceAll('|', '\\|')
}

function formatParagraph(line: Line): string {
  // These characters could make a line a list or a heading.
  return formatLine(line)
    .replace(/^[-+=]/, '\\$&')
    .replace(/^(\d+)([.)])/, '$1\\$2')
}

function formatLine(line: Line): string {
  return listPieces(line)
    .map(({ text, isForeign, tone }) => {
      if (isForeign) return toCode(text)
      const escaped = escapeMarkdown(text)
      return tone === 'strong' && text.trim() === text && text !== '' ? `**${escaped}**` : escaped
    })
    .join('')
}

/** A text by others, in which no character is markup. */
function toCode(text: string): string {
  const shown = toPrintable(text)
  if (shown.trim() === '') return shown === '' ? '' : `\`${shown}\``
  const fence = '`'.repeat(Math.max(0, ...(shown.match(/`+/g) ?? []).map((run) => run.length)) + 1)
  const space = /^`|`$/.test(shown) ? ' ' : ''
  return `${fence}${space}${shown}${space}${fence}`
}

/** A text in which no character is markup. Names such as http_req_duration stay readable. */
export function escapeMarkdown(text: string): string {
  return (
    toPrintable(text)
      .replaceAll(/[\\`*[\]~#]/g, '\\$&')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll(/(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\_')
      // Keeps the service's texts from mentioning people and from becoming links.
      .replaceAll(/@(?=[\w-])/g, '@<!-- -->')
      .replaceAll(/(https?):\/\//gi, '$1<!-- -->://')
      .replaceAll(/\bwww\./gi, 'www<!-- -->.')
  )
}
