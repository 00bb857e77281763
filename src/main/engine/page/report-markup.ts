import type { Notice } from '../../../shared/load/load-view.ts'
import {
  type Cell,
  type Column,
  type Fact,
  getMarks,
  isNumeric,
  type Line,
  listPieces,
  type Marked,
  type Section,
  type Sign,
  type Table,
  toCellText,
  toValue,
} from '../../../shared/report/report.ts'
import { drawShareBar } from './charts.ts'
import { drawList, html, type Markup, NOTHING, quoteForeign } from './markup.ts'

/** The head of a report: its caveats, then what it covers and how that was done. */
export function drawHead(
  name: string,
  notices: readonly Notice[],
  { lines = [], notes = [] }: Section,
  caveats: readonly string[] = [],
): Markup {
  return html`<header>
<h1>${quoteForeign(name)}</h1>
${notices.map(drawNotice)}
${
  caveats.length === 0
    ? NOTHING
    : html`<section class="notice warn" role="note"><h2>What the percentiles leave out or include</h2>${drawList(caveats)}</section>
`
}${lines.map(
  (line) => html`<p class="about">${drawLine(line)}</p>
`,
)}${notes.map((note) => html`<p class="plan">${drawLine(note)}</p>`)}
</header>`
}

function drawNotice({ title, text, details }: Notice): Markup {
  return html`<section class="notice warn" role="note"><h2>${quoteForeign(title)}</h2>
<p>${text}</p>${drawList(details)}</section>
`
}

/** Draws a part of a report. Title and lines of a section with a table are its caption. */
export function drawReportSection({
  title,
  lines = [],
  warnings = [],
  tables = [],
  notes = [],
}: Section): Markup {
  const heading = title === undefined ? [] : [title]
  const said = lines.flatMap((line, index) => [...(index === 0 ? [] : [' ']), ...listPieces(line)])
  const caption = [...heading.flatMap(listPieces), heading.length > 0 && said.length > 0 ? ': ' : '', ...said]
  return html`${tables.length > 0 ? NOTHING : [...heading, ...lines].map((line) => html`<p>${drawLine(line)}</p>`)}${drawList(warnings)}${tables.map(
    (table) => drawTable({ caption, ...table }),
  )}${notes.map((note) => html`<p class="about">${drawLine(note)}${toEnd(note)}</p>`)}
`
}

/** A page ends its sentences with a full stop, a terminal does not. */
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

/** Most rows of a table that is printed on one page. */
const SHORT_ROWS = 12

/** A table for screen readers, too; its first column heads each row, and it scrolls by itself if too wide. */
export function drawTable({ caption = '', columns, rows }: Table): Markup {
  const classes = columns.map((column) => (isNumeric(column) ? 'number' : 'text'))
  return html`<div class="${rows.length > SHORT_ROWS ? 'scroll' : 'scroll short'}"><table>
<caption>${drawLine(caption)}</caption>
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

function drawCell(column: Column, cell: Cell): Markup {
  const { tone = 'plain' } = getMarks(cell)
  if (column.kind === 'bar') return drawShareBar(Number(toValue(cell)), tone)
  if (Array.isArray(cell)) return html`${listPieces(cell).map((piece) => drawMarked(piece.text, piece))}`
  return drawMarked(toCellText(column, cell), {
    isCode: column.kind === 'code',
    isForeign: column.kind === 'foreign',
    ...getMarks(cell),
  })
}

function drawMarked(
  said: string,
  { tone, sign, meaning, isForeign, isCode, column }: Partial<Marked>,
): Markup {
  const drawn = isForeign ? quoteForeign(said) : isCode ? html`<code>${said}</code>` : html`${said}`
  const signed = sign === undefined ? drawn : html`${SIGNS[sign] ?? ''} ${drawn}`
  const toned =
    tone === 'good' || tone === 'bad'
      ? html`<span class="${tone === 'good' ? 'ok' : 'bad'}">${signed}</span>`
      : signed
  if (column !== undefined) {
    return html`<span class="cell"><span class="unit">${quoteForeign(column)}</span> ${toned}</span>`
  }
  return meaning === undefined
    ? toned
    : html`${toned}<span class="meaning">${isForeign ? quoteForeign(meaning) : html`${meaning}`}</span>`
}
