import { escapeXml } from './escape-xml.ts'

/** Text that may go into a page as it is: our tags, all else escaped. Only {@link html} creates it. */
export interface Markup {
  readonly markup: string
}

/** What markup can be filled with: text is escaped, null adds nothing. */
export type MarkupValue = string | number | null | Markup | readonly Markup[]

/** Markup from a template; fillings are escaped unless they are markup. A figure keeps its unit. */
export function html(parts: TemplateStringsArray, ...fillings: readonly MarkupValue[]): Markup {
  let markup = parts[0] ?? ''
  for (const [index, filling] of fillings.entries()) markup += toText(filling) + (parts[index + 1] ?? '')
  return { markup }
}

export const NOTHING: Markup = html``

/** A text that others wrote, isolated from the text around it in either writing direction. */
export function quoteForeign(text: string): Markup {
  return { markup: `<bdi>${escapeXml(text)}</bdi>` }
}

/** The only style sheet of a page: ours, unchanged, since the policy allows it by its hash. */
export function toStyle(css: string): Markup {
  return { markup: `<style>${css}</style>` }
}

function toText(filling: MarkupValue): string {
  if (filling === null) return ''
  if (typeof filling === 'string' || typeof filling === 'number') return escapeXml(bindUnits(String(filling)))
  return isMarkup(filling) ? filling.markup : filling.map(({ markup }) => markup).join('')
}

/** Keeps figures in our own text on one line with their units; what others wrote stays unchanged. */
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
