import { SluiceError } from '../../../shared/errors.ts'
import { matchColumns } from '../../../shared/match-columns.ts'
import type { FieldSource, Mapping, Plan } from '../../../shared/plan.ts'
import { findMissing, findSurplusModels } from './mapping-gaps.ts'
import { findSourceMistakes, type Mistake } from './mapping-mistakes.ts'
import { findMediaMistakes } from './media-mistakes.ts'

/** What post_id is without a mapping: unique for each row of each run. */
export const DEFAULT_POST_ID: FieldSource = { kind: 'template', template: '{{run}}-{{row}}' }

/**
 * The plan's mapping over the automatic one: columns matched by name fill the fields that the plan does not, a task's
 * post_id gets {@link DEFAULT_POST_ID}, that of a load test in any case, user_id nothing. A template without text (`--set url=`) leaves a field empty on
 * purpose. Resolving again changes nothing. Throws `BAD_PLAN` naming every unknown field, column and placeholder, and
 * every required field without a source.
 */
export function resolveMapping(plan: Plan, columns: readonly string[]): Mapping {
  const { operation } = plan
  const mapping: Mapping = { ...matchColumns(columns, operation), ...plan.mapping }
  if (operation.kind === 'task') mapping['post_id'] ??= DEFAULT_POST_ID
  // A load submits each row again and again, every time with a post_id of its own.
  if (plan.load !== undefined) mapping['post_id'] = DEFAULT_POST_ID
  const mistakes: Mistake[] = [
    ...Object.entries(mapping).flatMap(([field, source]) =>
      findSourceMistakes(operation, field, source, columns),
    ),
    ...findMediaMistakes(plan, columns),
    ...findMissing(plan, mapping, columns),
    ...findSurplusModels(plan, mapping),
  ]
  const [first] = mistakes
  if (first === undefined) return mapping
  throw new SluiceError({
    code: 'BAD_PLAN',
    message: mistakes.map(({ message }) => message).join('; '),
    hint: [...new Set(mistakes.map(({ hint }) => hint))].join(' '),
  })
}
