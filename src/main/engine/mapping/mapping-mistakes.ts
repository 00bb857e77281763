import type { FieldSource, Operation } from '../../../shared/plan.ts'
import { findColumn, findNearest, listColumns } from './column-lookup.ts'
import { fieldsOf, listFieldNames, parseFieldName } from './operation-fields.ts'
import { findPlaceholder, parseTemplate } from './templates.ts'

/** A mistake in a plan and what to do about it. */
export interface Mistake {
  message: string
  hint: string
}

/** What is wrong with the source of one field: an unknown field, column or placeholder. */
export function findSourceMistakes(
  operation: Operation,
  field: string,
  source: FieldSource,
  columns: readonly string[],
): Mistake[] {
  if (parseFieldName(field, operation) === null) return [toUnknownField(operation, field)]
  if (source.kind === 'column') return findUnknownColumn(field, source.column, columns)
  return findUnknownPlaceholders(field, source.template, columns, [])
}

/** The placeholders of a template that stand for nothing; `known` are those it has beside the usual ones. */
export function findUnknownPlaceholders(
  field: string,
  template: string,
  columns: readonly string[],
  known: readonly string[],
): Mistake[] {
  return parseTemplate(template).flatMap((part) =>
    part.kind === 'text' || known.includes(part.name.trim()) || findPlaceholder(part.name, columns) !== null
      ? []
      : [toUnknownPlaceholder(field, part.name, columns)],
  )
}

function toUnknownField(operation: Operation, field: string): Mistake {
  const nearest = findNearest(
    field,
    fieldsOf(operation).map(({ name }) => name),
  )
  const names = listFieldNames(operation)
  const last = names.pop() ?? ''
  return {
    message: `${operation.kind === 'task' ? 'the service' : operation.kind} has no field \`${field}\`; its fields are ${names.length === 0 ? last : `${names.join(', ')} and ${last}`}`,
    hint: nearest === null ? 'Map one of these fields.' : `Did you mean \`${nearest}\`?`,
  }
}

function findUnknownColumn(field: string, column: string | number, columns: readonly string[]): Mistake[] {
  if (findColumn(columns, column) !== null) return []
  const there = `the source has ${columns.length === 1 ? '1 column' : `${columns.length} columns`}: ${listColumns(columns)}`
  const nearest = typeof column === 'string' ? findNearest(column, columns) : null
  return [
    {
      message: `${field}: there is no column ${typeof column === 'number' ? column : `\`${column}\``}; ${there}`,
      hint:
        nearest === null
          ? `Name one of them or its number: --map ${field}=COLUMN. Where these are the cells of a first row, the source has no header: --no-header.`
          : `Did you mean \`${nearest}\`? --map ${quoteForShell(`${field}=${nearest}`)}`,
    },
  ]
}

function quoteForShell(argument: string): string {
  return /^[\w.=-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`
}

function toUnknownPlaceholder(field: string, name: string, columns: readonly string[]): Mistake {
  const nearest = findNearest(name, ['row', 'run', ...columns])
  return {
    message: `${field}: \`{{${name}}}\` is neither {{row}} nor {{run}} nor a column; the columns are ${listColumns(columns)}`,
    hint:
      nearest === null
        ? 'Put the exact name of a column between the braces.'
        : `Did you mean \`{{${nearest}}}\`?`,
  }
}
