import { isJsonObject } from '../../../shared/service/json-object.ts'
import { toTaskId } from '../../../shared/service/read-task-response.ts'
import { createJudgement } from './create-judgement.ts'
import type { Judgement } from './judgement.ts'

/** What stands for a row whose own callback_url takes its result. */
export const OWN_CALLBACK = 'callback_url'

const TO_OWN_CALLBACK = 'acknowledged; its result goes to the callback_url of the row, not to this app'

/**
 * Judges an async acknowledgement: anything with a task_id (docs/interface.md §4.1, §4.3, §4.4); null where there is
 * none. Where the row names a callback_url of its own, that is all there is to learn.
 */
export function judgeAcknowledgement(
  body: unknown,
  status: number,
  rowKeys: readonly string[],
): Judgement | null {
  if (!isJsonObject(body)) return null
  const taskId = toTaskId(body['task_id']) ?? toTaskId(body['id'])
  if (taskId === null) return null
  return createJudgement({
    outcome: 'succeeded',
    status,
    taskId,
    customIndexItemId: toTaskId(body['custom_index_item_id']),
    ...(rowKeys.includes(OWN_CALLBACK) ? { message: TO_OWN_CALLBACK } : { isAcknowledgement: true }),
  })
}
