import { toColumnIndex } from '../../../shared/mapping/match-columns.ts'
import { findPlaceholder, parseTemplate } from '../../../shared/mapping/templates.ts'
import { REQUEST_FIELD } from '../../../shared/plan/operation-fields.ts'
import type { Mapping } from '../../../shared/plan/plan.ts'

/** Fields that hold what people wrote, posted or banned; a whole request holds one of them. */
const CONTENT_FIELDS: readonly string[] = ['text_data', 'url', 'media', 'term', REQUEST_FIELD.name]

/** Whether a field holds user content, which is masked on every screen until it is revealed. */
export function isContentField(field: string): boolean {
  return CONTENT_FIELDS.includes(field)
}

const PROSE_CHARACTERS = 80
const PROSE_WORDS = 4
/** Longer than most labels of several words. */
const LABEL_CHARACTERS = 32

/** Whether a text reads like something a person wrote rather than an id, a number or a label. */
export function isProse(text: string, length = text.length): boolean {
  if (length > PROSE_CHARACTERS) return true
  const words = text.trim().split(/\s+/u, PROSE_WORDS).length
  return words >= PROSE_WORDS || (words > 1 && length > LABEL_CHARACTERS)
}

/** Tells the cells of a source that are user content. */
export type ContentRule = (column: number, cell: string, length?: number) => boolean

/**
 * The one rule of what is masked: every cell of a column that fills a content field; cells that read like prose in
 * columns that fill none; never ids, metadata and numbers.
 */
export function createContentRule(columns: readonly string[], mapping: Mapping): ContentRule {
  const content = new Set<number>()
  const others = new Set<number>()
  for (const [field, source] of Object.entries(mapping)) {
    const filling = isContentField(field) ? content : others
    if (source.kind === 'column') filling.add(toColumnIndex(columns, source))
    else {
      for (const part of parseTemplate(source.template)) {
        const meaning = part.kind === 'text' ? null : findPlaceholder(part.name, columns)
        if (meaning?.kind === 'column') filling.add(meaning.index)
      }
    }
  }
  return (column, cell, length) =>
    content.has(column) || (!others.has(column) && isProse(cell, length ?? cell.length))
}
