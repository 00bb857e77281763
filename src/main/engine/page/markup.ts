import { escapeXml } from './escape-xml.ts'

/** Text that may stand in a page as it is: tags of ours, everything else escaped. Only {@link html} makes it. */
export interface Markup {
  readonly markup: string
}

/** What may be filled into markup: text is escaped, null leaves nothing. */
export type MarkupValue = string | number | null | Markup | readonly Markup[]

/** Markup from a template; whatever is filled in is escaped unless it is markup itself. A figure keeps its unit. */
export function html(parts: TemplateStringsArray, ...fillings: readonly MarkupValue[]): Markup {
  let markup = parts[0] ?? ''
  for (const [index, filling] of fillings.entries()) markup += toText(filling) + (parts[index + 1] ?? '')
  return { markup }
}

export const NOTHING: Markup = html``

/** A text that others wrote: kept apart from what stands around it, whichever way it runs. */
export function quoteForeign(text: string): Markup {
  return { markup: `<bdi>${escapeXml(text)}</bdi>` }
}

/** The one style sheet of a page: ours, and as it is, since its hash lets it pass. */
export function toStyle(css: string): Markup {
  return { markup: `<style>${css}</style>` }
}

function toText(filling: MarkupValue): string {
  if (filling === null) return ''
  if (typeof filling === 'string' || typeof filling === 'number') return escapeXml(bindUnits(String(filling)))
  return isMarkup(filling) ? filling.markup : filling.map(({ markup }) => markup).join('')
}

/** Our own text with its figures and their units on one line; what others wrote stays as it is. */
function bindUnits(text: string): string {
  return text.replaceAll(/(?<=\d) (?=(?:%|µs|ms|s|min|h|B|[kMGT]B)(?!\w))/g, '\u00A0')
}

function isMarkup(filling: Markup | readonly Markup[]): filling is Markup {
  return !Array.isArray(filling)
}

/** A list of texts that may quote others; nothing if there is none. */
export function drawList(texts: readonly string[]): Markup {
  return texts.length === 0
    ? NOTHING
    : html`<ul class="notes">${texts.map((text) => html`<li>${quoteForeign(text)}</li>`)}</ul>`
}
