import { checkMapping } from '../../../shared/mapping/check-mapping.ts'
import { DEFAULT_POST_ID, matchColumns } from '../../../shared/mapping/match-columns.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { MappingMistake } from '../../../shared/messages/mapping-messages.ts'
import type { Mapping, Plan } from '../../../shared/plan/plan.ts'
import { hasMediaFiles } from './media-urls.ts'
import { findMediaMistakes, findSurplusModels } from './task-rules.ts'

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
  const mistakes: MappingMistake[] = [
    ...checkMapping(mapping, {
      operation,
      columns,
      hasHeader: plan.source.header,
      hasMediaFiles: hasMediaFiles(plan, columns) && plan.source.media !== undefined,
    }),
    ...findMediaMistakes(plan, columns),
    ...findSurplusModels(plan, mapping),
  ]
  if (mistakes.length === 0) return mapping
  throw new SluiceError({ id: 'mapping_unusable', mistakes, sheetChoice: null })
}
