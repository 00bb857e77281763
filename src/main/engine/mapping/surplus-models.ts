import type { Mistake } from '../../../shared/mapping/check-mapping.ts'
import { isConstantTemplate } from '../../../shared/mapping/templates.ts'
import type { Mapping, Plan } from '../../../shared/plan/plan.ts'
import { V1_MAX_MODELS } from '../../../shared/service/limits.ts'
import { parseModels } from './models-cell.ts'

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
      field: 'models',
      message: `models: v1 takes at most one model, found ${surplus.map((model) => `\`${model}\``).join(', ')}`,
      hint: 'Name one model, or submit to v2, which takes several: --api v2.',
      todo: 'Name one model, or submit to v2, which takes several.',
    },
  ]
}
