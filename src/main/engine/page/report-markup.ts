import {
  type Cell,
  type Column,
  type Fact,
  isNumeric,
  type Line,
  listPieces,
  type Section,
  type Sign,
  type Table,
  toCellText,
} from '../../../shared/report/report.ts'
import { drawShareBar } from './charts.ts'
import { drawList, html, type Markup, NOTHING, quoteForeign } from './markup.ts'

/** Draws a part of a report. Title and lines of a section with a table are its caption. */
export function drawReportSection({
  title,
  lines = [],
  warnings = [],
  tables = [],
  notes = [],
}: Section): Markup {
  const heading = title === undefined ? [] : [drawLine(title)]
  const said = lines.map(drawLine)
  const caption = html`${heading}${heading.length > 0 && said.length > 0 ? ': ' : ''}${join(said)}`
  return html`${tables.length > 0 ? NOTHING : [...heading, ...said].map((line) => html`<p>${line}</p>`)}${drawList(warnings)}${tables.map(
    (table) => drawTable(table.caption === undefined ? { ...table, caption: caption } : table),
  )}${notes.map((note) => html`<p class="about">${drawLine(note)}${toEnd(note)}</p>`)}
`
}

/** A page ends its sentences, which a terminal leaves open. */
function toEnd(note: Line): string {
  return listPieces(note).at(-1)?.text.endsWith('.') === true ? '' : '.'
}

function join(lines: readonly Markup[]): Markup {
  return html`${lines.map((line, index) => html`${index === 0 ? '' : ' '}${line}`)}`
}

/** Facts by name, in as many columns as there is room for; nothing without any. */
export function drawFacts(facts: readonly Fact[]): Markup {
  if (facts.length === 0) return NOTHING
  return html`<dl class="facts">${facts.map(({ label, lines = [] }) => html`<div><dt>${label}</dt><dd>${join(lines.map(drawLine))}</dd></div>`)}</dl>`
}

function drawLine(line: Line): Markup {
  return html`${listPieces(line).map(({ text, isForeign }) => (isForeign ? quoteForeign(text) : html`${text}`))}`
}

/** Rows of a table that is printed on one page. */
const SHORT_ROWS = 12

/**
 * Draws a table that a screen reader can navigate; its first column heads each row, and it scrolls by itself if it is too
 * wide. Cells may be drawn already.
 */
export function drawTable({
  caption,
  columns,
  rows,
}: Omit<Table<Cell | Markup>, 'caption'> & { caption?: Line | Markup }): Markup {
  const classes = columns.map((column) => (isNumeric(column) ? 'number' : 'text'))
  return html`<div class="${rows.length > SHORT_ROWS ? 'scroll' : 'scroll short'}"><table>
<caption>${isMarkup(caption) ? caption : drawLine(caption ?? '')}</caption>
<thead><tr>${columns.map(({ title }, index) => (title === '' ? html`<td></td>` : html`<th scope="col" class="${classes[index] ?? ''}">${title}</th>`))}</tr></thead>
<tbody>${rows.map(
    (cells) => html`<tr>${columns.map((column, index) => {
      const cell = drawCell(column, cells[index] ?? null)
      return index === 0
        ? html`<th scope="row" class="${classes[index] ?? ''}">${cell}</th>`
        : html`<td class="${classes[index] ?? ''}">${cell}</td>`
    })}</tr>
`,
  )}</tbody>
</table></div>`
}

const SIGNS: Partial<Record<Sign, string>> = { held: '✓', crossed: '✗' }

function drawCell(column: Column, cell: Cell | Markup): Markup {
  if (isMarkup(cell)) return cell
  if (column.kind === 'bar') {
    const { text = cell, tone = 'plain' } = typeof cell === 'object' && cell !== null ? cell : {}
    return drawShareBar(Number(text), tone)
  }
  const {
    tone,
    sign,
    meaning,
    isForeign = column.kind === 'foreign',
  } = typeof cell === 'object' && cell !== null ? cell : {}
  const said = toCellText(column, cell)
  const drawn = isForeign
    ? quoteForeign(said)
    : column.kind === 'code'
      ? html`<code>${said}</code>`
      : html`${said}`
  const signed = sign === undefined ? drawn : html`${SIGNS[sign] ?? ''} ${drawn}`
  const toned =
    tone === 'good' || tone === 'bad'
      ? html`<span class="${tone === 'good' ? 'ok' : 'bad'}">${signed}</span>`
      : signed
  return meaning === undefined ? toned : html`${toned}<span class="meaning">${meaning}</span>`
}

function isMarkup(value: unknown): value is Markup {
  return typeof value === 'object' && value !== null && 'markup' in value
}
