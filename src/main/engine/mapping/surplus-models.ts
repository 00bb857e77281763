import { isConstantTemplate } from '../../../shared/mapping/templates.ts'
import type { MappingMistake } from '../../../shared/messages/mapping-messages.ts'
import type { Mapping, Plan } from '../../../shared/plan/plan.ts'
import { V1_MAX_MODELS } from '../../../shared/service/request-field.ts'
import { parseModels } from './models-cell.ts'

/** Models that every row would name; those of a column are a matter of each row. */
export function findSurplusModels({ operation }: Plan, mapping: Mapping): MappingMistake[] {
  if (operation.kind !== 'task' || operation.api !== 'v1') return []
  const source = mapping['models']
  const lists = [operation.models]
  if (source?.kind === 'template' && isConstantTemplate(source.template)) {
    lists.push(parseModels(source.template) ?? [])
  }
  const surplus = lists.find((models) => models.length > V1_MAX_MODELS)
  if (surplus === undefined) return []
  return [{ id: 'too_many_models', field: 'models', models: surplus }]
}
