import { SluiceError } from '../../../shared/errors.ts'
import type { FieldSource, Mapping, Plan } from '../../../shared/plan.ts'
import { V1_MAX_MODELS } from '../../../shared/service/limits.ts'
import { TASK_FIELDS } from '../../../shared/service/tasks.ts'
import { findColumn, findNearest, listColumns } from './column-lookup.ts'
import { parseFieldName } from './field-names.ts'
import { matchColumns } from './match-columns.ts'
import { parseModels } from './models-cell.ts'
import { findPlaceholder, isConstantTemplate, parseTemplate } from './templates.ts'

/** What post_id is without a mapping: unique for each row of each run. */
export const DEFAULT_POST_ID: FieldSource = { kind: 'template', template: '{{run}}-{{row}}' }

/** A mistake in a plan and what to do about it. */
interface Mistake {
  message: string
  hint: string
}

/**
 * The plan's mapping over the automatic one: columns matched by name fill the fields that the plan does not, post_id
 * gets {@link DEFAULT_POST_ID}, user_id nothing. A template without text (`--set url=`) leaves a field empty on
 * purpose. Resolving again changes nothing. Throws `BAD_PLAN` naming every unknown field, column and placeholder, and
 * every required field without a source.
 */
export function resolveMapping(plan: Plan, columns: readonly string[]): Mapping {
  const mapping: Mapping = { ...matchColumns(columns), ...plan.mapping }
  mapping['post_id'] ??= DEFAULT_POST_ID
  const mistakes = Object.entries(mapping).flatMap(([field, source]) => findMistakes(field, source, columns))
  mistakes.push(...findMissing(plan, mapping, columns), ...findSurplusModels(plan, mapping))
  const [first] = mistakes
  if (first === undefined) return mapping
  throw new SluiceError({
    code: 'BAD_PLAN',
    message: mistakes.map(({ message }) => message).join('; '),
    hint: [...new Set(mistakes.map(({ hint }) => hint))].join(' '),
  })
}

function isEmpty(source: FieldSource | undefined): boolean {
  return source === undefined || (source.kind === 'template' && source.template === '')
}

function findMistakes(field: string, source: FieldSource, columns: readonly string[]): Mistake[] {
  if (parseFieldName(field) === null) {
    const names = TASK_FIELDS.map(({ name }) => name)
    const nearest = findNearest(field, names)
    return [
      {
        message: `the service has no field \`${field}\`; its fields are ${names.join(', ')}, user_metadata.KEY and content_metadata.KEY`,
        hint: nearest === null ? 'Map one of these fields.' : `Did you mean \`${nearest}\`?`,
      },
    ]
  }
  if (source.kind === 'column') return findUnknownColumn(field, source.column, columns)
  return parseTemplate(source.template).flatMap((part) =>
    part.kind === 'text' || findPlaceholder(part.name, columns) !== null
      ? []
      : [toUnknownPlaceholder(field, part.name, columns)],
  )
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
          ? `Name one of them or its number: --map ${field}=COLUMN.`
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

function findMissing(plan: Plan, mapping: Mapping, columns: readonly string[]): Mistake[] {
  const mistakes: Mistake[] = []
  const there = `the columns are ${listColumns(columns)}`
  for (const { name, required } of TASK_FIELDS) {
    if (required !== 'always' || !isEmpty(mapping[name])) continue
    mistakes.push({
      message: `${name} is required and nothing fills it; ${there}`,
      hint: `Say where it comes from: --map ${name}=COLUMN for a column, or --set ${name}=VALUE for the same value in every row.`,
    })
  }
  if (isEmpty(mapping['text_data']) && isEmpty(mapping['url'])) {
    mistakes.push({
      message: `one of text_data and url is required and nothing fills either; ${there}`,
      hint: `Say which column holds the content: --map text_data=COLUMN for text, or --map url=COLUMN for addresses of media.${plan.source.header ? '' : ' Without a header, columns go by number.'}`,
    })
  }
  return mistakes
}

/** Models that every row would name; those of a column are a matter of each row. */
function findSurplusModels(plan: Plan, mapping: Mapping): Mistake[] {
  if (plan.operation.kind !== 'task' || plan.operation.api !== 'v1') return []
  const source = mapping['models']
  const lists = [plan.operation.models]
  if (source?.kind === 'template' && isConstantTemplate(source.template)) {
    lists.push(parseModels(source.template) ?? [])
  }
  const surplus = lists.find((models) => models.length > V1_MAX_MODELS)
  if (surplus === undefined) return []
  return [
    {
      message: `models: v1 takes at most one model, found ${surplus.map((model) => `\`${model}\``).join(', ')}`,
      hint: 'Name one model, or submit to v2, which takes several: --api v2.',
    },
  ]
}
