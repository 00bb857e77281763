import type { FieldSource } from '../plan/plan.ts'
import { findColumn, findColumnOfName } from './match-columns.ts'

/** A part of a template: literal text, or the name between `{{` and `}}`. */
export type TemplatePart = { kind: 'text'; text: string } | { kind: 'placeholder'; name: string }

/** Returns the value for one row. Pure: the same row, cells and run give the same text. */
export type ReadCell = (row: number, cells: readonly string[]) => string

/** Splits a template at its placeholders; unpaired braces are text. */
export function parseTemplate(template: string): TemplatePart[] {
  const parts: TemplatePart[] = []
  let from = 0
  for (const match of template.matchAll(/\{\{((?:(?!\{\{|\}\}).)+)\}\}/gs)) {
    if (match.index > from) parts.push({ kind: 'text', text: template.slice(from, match.index) })
    parts.push({ kind: 'placeholder', name: match[1] ?? '' })
    from = match.index + match[0].length
  }
  if (from < template.length) parts.push({ kind: 'text', text: template.slice(from) })
  return parts
}

/**
 * What a placeholder stands for; `{{row}}` and `{{run}}` win over columns of these names, which {@link
 * OF_COLUMN} reaches.
 */
export type PlaceholderMeaning = { kind: 'row' } | { kind: 'run' } | { kind: 'column'; index: number }

/** Prefix of a placeholder that always means a column: `{{column:row}}`. */
const OF_COLUMN = 'column:'

/** The meaning of a placeholder's name, which may have spaces around it; null if it has none. */
export function findPlaceholder(name: string, columns: readonly string[]): PlaceholderMeaning | null {
  const trimmed = name.trim()
  if (trimmed === 'row') return { kind: 'row' }
  if (trimmed === 'run') return { kind: 'run' }
  const exact = columns.indexOf(name)
  const named = exact === -1 ? findColumnOfName(columns, trimmed) : exact
  const isStated = named === -1 && trimmed.startsWith(OF_COLUMN)
  const index = isStated ? findColumnOfName(columns, trimmed.slice(OF_COLUMN.length).trim()) : named
  return index === -1 ? null : { kind: 'column', index }
}

/** Placeholders of a template that mean the row or the run although a column has that name. */
export function findShadowing(template: string, columns: readonly string[]): ('row' | 'run')[] {
  const kinds = parseTemplate(template).flatMap((part) => {
    const meaning = part.kind === 'text' ? null : findPlaceholder(part.name, columns)
    return meaning === null || meaning.kind === 'column' ? [] : [meaning.kind]
  })
  return [...new Set(kinds)].filter((kind) => findColumnOfName(columns, kind) !== -1)
}

/**
 * Compiles a template into a function from a row to its text: `{{row}}` is the row's number, `{{run}}` the
 * run's token, `{{column name}}` the cell of that column, empty if the row is too short. Throws a plain error
 * for an unknown placeholder, which `resolveMapping` refuses earlier.
 */
export function compileTemplate(template: string, columns: readonly string[], runToken: string): ReadCell {
  const readers = parseTemplate(template).map((part) => compilePart(part, columns, runToken))
  const [first, second, third] = readers
  if (first === undefined) return () => ''
  if (second === undefined) return first
  if (third !== undefined && readers.length === 3) {
    return (row, cells) => first(row, cells) + second(row, cells) + third(row, cells)
  }
  return (row, cells) => {
    let text = ''
    for (const read of readers) text += read(row, cells)
    return text
  }
}

function compilePart(part: TemplatePart, columns: readonly string[], runToken: string): ReadCell {
  if (part.kind === 'text') {
    const { text } = part
    return () => text
  }
  const meaning = findPlaceholder(part.name, columns)
  if (meaning === null) throw new Error(`unknown placeholder {{${part.name}}}`)
  if (meaning.kind === 'row') return (row) => String(row)
  if (meaning.kind === 'run') return () => runToken
  const { index } = meaning
  return (_row, cells) => cells[index] ?? ''
}

/** Indexes of the columns that fill a field: a single one, or those in a template. */
export function listColumnsOf(source: FieldSource | undefined, columns: readonly string[]): number[] {
  if (source === undefined) return []
  if (source.kind === 'column') {
    const index = findColumn(columns, source.column)
    return index === null ? [] : [index]
  }
  return parseTemplate(source.template).flatMap((part) => {
    const meaning = part.kind === 'text' ? null : findPlaceholder(part.name, columns)
    return meaning?.kind === 'column' ? [meaning.index] : []
  })
}

/** Whether a template reads no column and neither row nor run: the same text for every row of every run. */
export function isConstantTemplate(template: string): boolean {
  return parseTemplate(template).every((part) => part.kind === 'text')
}

/**
 * Whether no two rows of a run can get the same text: exactly one `{{row}}`, and otherwise only constants and
 * `{{run}}`. Such values need no check for duplicates.
 */
export function isUniqueByConstruction(template: string): boolean {
  let rows = 0
  for (const part of parseTemplate(template)) {
    if (part.kind === 'text') continue
    const name = part.name.trim()
    if (name === 'row') rows += 1
    else if (name !== 'run') return false
  }
  return rows === 1
}
