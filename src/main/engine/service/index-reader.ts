import type { Mode } from '../../../shared/service/endpoints.ts'
import { isJsonObject, toTaskId } from '../../../shared/service/json-object.ts'
import { createJudgement, cutMessage, type Judgement, type OperationReader } from './judgement.ts'
import { findFailureInside, findUnfinished, NOT_FINISHED_CODE } from './outcome-words.ts'

/** Reads the answers to adding items to a custom index (docs/interface.md §4.3). */
export function createAddReader({ mode }: { mode: Mode }): OperationReader {
  return { ...createItemReader(mode, judgeAdded), readRefusal: () => null }
}

/** Reads the answers to removing items from a custom index (docs/interface.md §4.4). */
export function createRemoveReader({ mode }: { mode: Mode }): OperationReader {
  return {
    ...createItemReader(mode, judgeRemoved),
    readRefusal: ({ status, errorCode }, _rowKeys, [earlierTries = 0]) =>
      errorCode === 'INVALID_CUSTOM_INDEX_ITEM' && earlierTries > 0
        ? createJudgement({ outcome: 'succeeded', status, errorCode, message: toGone(earlierTries) })
        : null,
  }
}

type JudgeItem = (body: unknown, status: number) => Judgement | null

function createItemReader(
  mode: Mode,
  judge: JudgeItem,
): Pick<OperationReader, 'readSuccess' | 'judgeCallback'> {
  return {
    readSuccess: ({ status }, body, rowKeys) =>
      judgeFailure(body, status) ??
      (mode === 'async' ? judgeAcknowledgement(body, status, hasOwnCallback(rowKeys)) : judge(body, status)),
    judgeCallback: (body) => judgeFailure(body, null) ?? judgeItemCallback(body, judge),
  }
}

/** Judges a body that reports a failure in other words than the interface's; null if it reports none. */
export function judgeFailure(body: unknown, status: number | null): Judgement | null {
  const failure = isJsonObject(body) ? findFailureInside(body) : null
  if (failure === null || !isJsonObject(body)) return null
  const taskId = toTaskId(body['task_id'])
  const message = cutMessage(failure.message || 'the service answered a failure inside a 200')
  return createJudgement({ outcome: 'rejected', status, errorCode: failure.code, message, taskId })
}

function toGone(earlierTries: number): string {
  const tries = earlierTries === 1 ? 'the earlier try' : `one of the ${earlierTries} earlier tries`
  return `the index has no such item; ${tries} of this row may have removed it, and nothing says so`
}

/** Only this answer names the item: without its id it is unknown what was added. */
function judgeAdded(body: unknown, status: number): Judgement | null {
  if (!isJsonObject(body)) return null
  const taskId = toTaskId(body['task_id'])
  const customIndexItemId = toTaskId(body['custom_index_item_id'])
  if (customIndexItemId !== null) {
    return createJudgement({ outcome: 'succeeded', status, taskId, customIndexItemId })
  }
  if (taskId === null) return null
  const message = `answered ${status} without a custom_index_item_id, so that nobody knows what was added`
  return createJudgement({ outcome: 'unknown', status, taskId, message })
}

function judgeRemoved(body: unknown, status: number): Judgement | null {
  if (!isJsonObject(body)) return null
  const taskId = toTaskId(body['task_id'])
  const customIndexItemId = toTaskId(body['custom_index_item_id'])
  if (taskId === null && customIndexItemId === null) return null
  const unfinished = findUnfinished(body, null)
  if (unfinished === null) return createJudgement({ outcome: 'succeeded', status, taskId, customIndexItemId })
  const message = cutMessage(`the removal is not finished: ${unfinished}`)
  const errorCode = NOT_FINISHED_CODE
  return createJudgement({ outcome: 'unknown', status, taskId, customIndexItemId, errorCode, message })
}

/**
 * Judges the callback of an index operation, which has the body of its sync answer (docs/interface.md §6). An
 * add's callback without an item's id does not tell whether one was added.
 */
function judgeItemCallback(body: unknown, judge: JudgeItem): Judgement | null {
  const judgement = judge(body, 200)
  if (judgement === null || judgement.outcome === 'succeeded')
    return judgement && { ...judgement, status: null }
  if (findUnfinished(body, null) !== null) return null
  const said =
    isJsonObject(body) && typeof body['message'] === 'string' ? `; it says: ${body['message']}` : ''
  const message = cutMessage(
    `a callback without a custom_index_item_id does not tell whether an item was added${said}`,
  )
  return { ...judgement, status: null, message }
}

/** Follows the keys of a row whose own callback_url gets its result; no id can equal it. */
export const OWN_CALLBACK = '\0callback_url\0'

export function hasOwnCallback(rowKeys: readonly string[]): boolean {
  return rowKeys.at(-1) === OWN_CALLBACK
}

const TO_OWN_CALLBACK = 'acknowledged; its result goes to the callback_url of the row, not to this app'

/**
 * Judges an async acknowledgement: anything with a task_id (docs/interface.md §4.1, §4.3, §4.4); null
 * otherwise. If the row names its own callback_url, nothing more will be learned.
 */
export function judgeAcknowledgement(
  body: unknown,
  status: number,
  isToOwnCallback: boolean,
): Judgement | null {
  if (!isJsonObject(body)) return null
  const taskId = toTaskId(body['task_id']) ?? toTaskId(body['id'])
  if (taskId === null) return null
  return createJudgement({
    outcome: 'succeeded',
    status,
    taskId,
    customIndexItemId: toTaskId(body['custom_index_item_id']),
    ...(isToOwnCallback ? { message: TO_OWN_CALLBACK } : { isAcknowledgement: true }),
  })
}
