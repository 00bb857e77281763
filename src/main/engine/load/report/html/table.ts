import { html, type Markup } from './markup.ts'

/** A table: what its columns hold, and its rows. The first column heads each row. */
export interface Table {
  caption: string
  columns: readonly { title: string; align: 'left' | 'right' }[]
  rows: readonly (readonly (string | Markup)[])[]
}

/** Draws a table that a screen reader can find its way in; it scrolls on its own where it is too wide. */
export function drawTable({ caption, columns, rows }: Table): Markup {
  const toClass = (index: number) => (columns[index]?.align === 'right' ? 'number' : 'text')
  return html`<div class="scroll"><table>
<caption>${caption}</caption>
<thead><tr>${columns.map(({ title }, index) => (title === '' ? html`<td></td>` : html`<th scope="col" class="${toClass(index)}">${title}</th>`))}</tr></thead>
<tbody>${rows.map(
    (cells) => html`<tr>${cells.map((cell, index) =>
      index === 0
        ? html`<th scope="row" class="${toClass(index)}">${cell}</th>`
        : html`<td class="${toClass(index)}">${cell}</td>`,
    )}</tr>
`,
  )}</tbody>
</table></div>`
}

/** Names and what they stand for, side by side. */
export function drawFacts(facts: readonly (readonly [name: string, value: string | Markup])[]): Markup {
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}
