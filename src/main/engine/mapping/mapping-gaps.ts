import { REQUEST_FIELD } from '../../../shared/operation-fields.ts'
import type { FieldSource, Mapping, Plan } from '../../../shared/plan.ts'
import { V1_MAX_MODELS } from '../../../shared/service/limits.ts'
import { listColumns } from './column-lookup.ts'
import type { Mistake } from './mapping-mistakes.ts'
import { hasMediaFiles } from './media-urls.ts'
import { parseModels } from './models-cell.ts'
import { fieldsOf } from './operation-fields.ts'
import { isConstantTemplate } from './templates.ts'

/** Whether nothing fills a field: no source, or a template without text. */
export function isEmpty(source: FieldSource | undefined): boolean {
  return source === undefined || (source.kind === 'template' && source.template === '')
}

/** Required fields that nothing fills. Where rows may be whole requests, each of them says what it lacks. */
export function findMissing(plan: Plan, mapping: Mapping, columns: readonly string[]): Mistake[] {
  if (!isEmpty(mapping[REQUEST_FIELD.name])) return findUnsaidClearing(plan, mapping)
  const there = `the columns are ${listColumns(columns)}`
  const mistakes: Mistake[] = []
  for (const { name, required } of fieldsOf(plan.operation)) {
    if (required !== 'always' || !isEmpty(mapping[name])) continue
    mistakes.push({
      message: `${name} is required and nothing fills it; ${there}`,
      hint: `Say where it comes from: --map ${name}=COLUMN for a column, or --set ${name}=VALUE for the same value in every row.`,
    })
  }
  const content = fieldsOf(plan.operation).filter(({ required }) => required === 'content')
  const [first, second] = content.map(({ name }) => name)
  if (
    first !== undefined &&
    second !== undefined &&
    content.every(({ name }) => isEmpty(mapping[name])) &&
    !(hasMediaFiles(plan, columns) && plan.source.media !== undefined)
  ) {
    mistakes.push({
      message: `one of ${first} and ${second} is required and nothing fills either; ${there}`,
      hint: `Say which column holds the content: ${toContentHint(first, second)}${plan.source.header ? '' : ' Without a header, columns go by number.'}`,
    })
  }
  return [...mistakes, ...findUnsaidClearing(plan, mapping)]
}

function toContentHint(first: string, second: string): string {
  return first === 'text_data'
    ? `--map ${first}=COLUMN for text, or --map ${second}=COLUMN for addresses of media.`
    : `--map ${first}=COLUMN or --map ${second}=COLUMN for addresses of media.`
}

/** Clearing the notes of every term because a column has another name would be a loss; it must be asked for. */
function findUnsaidClearing({ operation }: Plan, mapping: Mapping): Mistake[] {
  if (operation.kind !== 'watchlist-update' || operation.emptyNotes !== 'clear') return []
  if (mapping['notes'] !== undefined || !isEmpty(mapping[REQUEST_FIELD.name])) return []
  return [
    {
      message:
        'notes: empty notes are to be cleared, and no column fills them, which would clear those of every term',
      hint: 'Say which column holds them: --map notes=COLUMN. To clear them all: --set notes=',
    },
  ]
}

/** Models that every row would name; those of a column are a matter of each row. */
export function findSurplusModels({ operation }: Plan, mapping: Mapping): Mistake[] {
  if (operation.kind !== 'task' || operation.api !== 'v1') return []
  const source = mapping['models']
  const lists = [operation.models]
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
