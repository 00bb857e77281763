import { compileTemplate, parseTemplate, type ReadCell } from '../../../shared/mapping/templates.ts'
import { isJson } from '../../../shared/messages/pretty-json.ts'
import type { RequestField } from '../../../shared/service/request-field.ts'

/**
 * Compiles a field's template. In JSON, a placeholder between quotes is part of that text, any other a JSON
 * value of its own, so that no cell can add a key or break the JSON. A list of models need not be JSON.
 */
export function compileFieldTemplate(
  kind: RequestField['kind'],
  template: string,
  columns: readonly string[],
  runToken: string,
): ReadCell {
  const isJsonField =
    kind === 'json_object' || (kind === 'string_array' && template.trimStart().startsWith('['))
  const parts = parseTemplate(template)
  // A lone placeholder is the whole value, which is checked like a column's.
  return isJsonField && parts.length > 1
    ? compileJsonTemplate(template, columns, runToken)
    : compileTemplate(template, columns, runToken)
}

function compileJsonTemplate(template: string, columns: readonly string[], runToken: string): ReadCell {
  const quotes = new QuoteTracker()
  let isSound = true
  let sample = ''
  const readers = parseTemplate(template).map((part): ReadCell => {
    if (part.kind === 'text') {
      quotes.read(part.text)
      sample += part.text
      return () => part.text
    }
    const read = compileTemplate(`{{${part.name}}}`, columns, runToken)
    if (quotes.isEscaping) isSound = false
    sample += quotes.isInside ? '0' : ' 0 '
    return quotes.isInside
      ? (row, cells) => escapeText(read(row, cells))
      : toJsonValue(part.name.trim(), read)
  })
  // Left unfilled, it is refused in every row and shown as written.
  if (!isSound || !isJson(sample)) return () => template
  return (row, cells) => {
    let text = ''
    for (const read of readers) text += read(row, cells)
    return text
  }
}

/** Text as it is written between two quotes. */
function escapeText(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** What is not one JSON value stands in braces, which are never valid JSON, and names its column. */
function toJsonValue(name: string, read: ReadCell): ReadCell {
  return (row, cells) => {
    const text = read(row, cells)
    return isJson(text) ? text : `{{${name} is ${text || 'empty'}}}`
  }
}

/** Tracks the quotes of a JSON text from piece to piece. */
class QuoteTracker {
  isInside = false
  /** Whether the text so far ends within an escape. */
  isEscaping = false

  read(text: string): void {
    // An escape that a placeholder would complete is refused, so none continues from the last piece.
    let at = 0
    while (at < text.length) {
      const unit = text[at]
      if (unit === '"') this.isInside = !this.isInside
      at += this.isInside && unit === '\\' ? (text[at + 1] === 'u' ? 6 : 2) : 1
    }
    this.isEscaping = at > text.length
  }
}
