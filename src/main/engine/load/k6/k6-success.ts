import { isAsync } from '../../../../shared/operations/operations.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'
import { OUTCOME_WORDS } from '../../service/outcome-words.ts'

/**
 * The function of a script that says whether a task succeeded, as the judge of this program does for the
 * answers of the interface (docs/interface.md §2.2, §2.3, §4.2), and for the usual failures inside a 200.
 * It compares neither `user_id` nor ids deeper inside an answer.
 */
export function formatK6Success({ operation, connection }: Pick<Plan, 'operation' | 'connection'>): string {
  const isV2 = operation.kind === 'task' && operation.api === 'v2'
  const isAcknowledged = isAsync(operation)
  const needsTask = !isV2 || isAcknowledged
  const comparesPost = connection.rewritesIds !== true
  const ofV1 = isV2
    ? ''
    : `  if (!isWrapped(part)) {
    const entries = [...listOf(part.status), ...listOf(part.models)]
    return entries.some(hasFailed)${isAcknowledged ? '' : ' || hasUnreadableRules(part)'}
  }
`
  return `const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const isId = (value) => Number.isSafeInteger(value) || (typeof value === 'string' && value !== '')
const isFine = (code) => ${OUTCOME_WORDS.success}.test(String(code))

/** Whether an answer is the result of the post: an error, another shape or another post_id is none. */
function isSuccess({ status, body: text }, postId) {
  if (status < 200 || status > 299) return false
  let body
  try {
    body = JSON.parse(text)
  } catch {
    return false
  }
  const parts = ${isV2 ? 'Array.isArray(body) ? body.filter(isObject) : [body]' : '[body]'}
  return ${isAcknowledged ? (isV2 ? 'parts.length > 0 && ' : '') : '!isUnfinished(status, body) && '}parts.every((part) => isObject(part)${needsTask ? ` && (isId(part.task_id) || isId(part.id) || listTasks(part).length > 0)` : ''} && !reportsFailure(part)${comparesPost ? ' && isOfPost(part, postId)' : ''})
}

/** A failure inside a 200, or rules that cannot be read. */
function reportsFailure(part) {
  if (saysFailure(part)) return true
${ofV1}  const [, ...inner] = listInside(part)
  return hasFailed(part) || inner.some((one) => hasFailed(one) || hasFailedInWords(one)) || (!isTask(part) && listTasks(part).some((one) => hasFailedInWords(one, true)))${isAcknowledged ? '' : ' || [part, ...inner].some(hasUnreadableRules)'}
}

function saysFailure(part) {
  const { error, errors, success, ok, error_code: code } = part
  if ([success, ok].some((said) => typeof said !== 'object' && ${OUTCOME_WORDS.denied}.test(String(said)))) return true
  if (error === true || saysSomething(error) || saysSomething(errors)) return true
  return (error !== false && typeof code === 'string' && saysSomething(code)) || isFailure(part)
}

/** Whether a word or a number of an object is that of a failure. */
function isFailure({ status, state, code }) {
  const said = [code, status].filter((value) => typeof value === 'number' || typeof value === 'string')
  if (said.some((value) => ${OUTCOME_WORDS.failedStatus}.test(String(value)))) return true
  if ([status, state].some((word) => typeof word === 'string' && ${OUTCOME_WORDS.failed}.test(word))) return true
  return typeof code === 'number' && !isFine(code)
}

/** Whether an object inside of a result reports a failure; some words count only for a task or beside a model. */
function hasFailedInWords(part, isTask = false) {
  const { error, success, model } = part
  if (error === true || success === false || (typeof error !== 'number' && saysSomething(error))) return true
  if (!isTask && (typeof model !== 'string' || model === '')) return false
  return saysFailure(part)
}

function saysSomething(error) {
  if (typeof error === 'string') return !${OUTCOME_WORDS.noError}.test(error.trim())
  if (typeof error === 'number') return error !== 0
  return typeof error === 'object' && error !== null && Object.values(error).some(saysSomething)
}

function hasFailed({ status }) {
  if (!isObject(status)) return false
  return (typeof status.code === 'string' || typeof status.code === 'number') && !isFine(status.code)
}

function hasUnreadableRules({ triggered_rules: rules }) {
  if (rules === undefined || rules === null) return false
  return !Array.isArray(rules) || !rules.every((rule) => isObject(rule) && (isId(rule.rule_id) || isId(rule.id)))
}
${isV2 ? '' : IS_WRAPPED}
/** The object and all in it in which results may stand. */
function listInside(object, depth = 0) {
  return [object, ...(depth === 8 ? [] : listDirect(object)).flatMap((one) => listInside(one, depth + 1))]
}

function listDirect(object) {
  return Object.entries(object).flatMap(([name, value]) =>
    ['triggered_rules', 'output', 'content_metadata', 'user_metadata'].includes(name) ? [] : listOf(value))
}

function isTask(part) {
  return isId(part.task_id) || ('post_id' in part && isId(part.id))
}

/** The tasks that a wrapper is around. */
function listTasks(wrapper, depth = 0) {
  if ('triggered_rules' in wrapper || depth === 8) return []
  return listDirect(wrapper).flatMap((one) => (isId(one.task_id) ? [one] : listTasks(one, depth + 1)))
}

function listOf(value) {
  return (Array.isArray(value) ? value : [value]).filter(isObject)
}
${isAcknowledged ? '' : IS_UNFINISHED}${
  comparesPost
    ? `
/** Whether an answer names no other post${isAcknowledged ? '' : '; a cached one may name an earlier one'}. */
function isOfPost({ post_id: named${isAcknowledged ? '' : ', from_cache: isCached'} }, postId) {
  if ((typeof named !== 'string' && typeof named !== 'number') || named === ''${isAcknowledged ? '' : ' || isCached === true'}) return true
  return String(named).normalize('NFKC').trim().toLowerCase() === postId.toLowerCase()
}
`
    : ''
}`
}

const IS_WRAPPED = `
/** Whether the rules, if any, are in an object inside of the one with the task's id. */
function isWrapped(part) {
  return !('triggered_rules' in part)
}
`

const IS_UNFINISHED = `
/** Whether an answer has no result because its task is not finished, or none that can be read. */
function isUnfinished(status, body) {
  const all = listOf(body).flatMap((part) => listInside(part))
  if (all.some(({ triggered_rules: rules }) => hasItems(rules))) return false
  const hasScores = all.some(({ output }) => hasItems(output))
  const isAnswered = (isObject(body) && Array.isArray(body.triggered_rules)) || hasScores
  if (!isAnswered && (status === 202 || listOf(body).some((part) => [part, ...listDirect(part)].some(hasRulesInText)))) return true
  return listOf(body).some((part) => hasUnfinished(part, hasScores && isObject(body)))
}

function hasUnfinished(part, isBesideScores) {
  const direct = listDirect(part)
  const tasks = listTasks(part)
  const models = [...direct, ...tasks.flatMap(listDirect)].filter(({ model }) => typeof model === 'string' && model !== '')
  if (saysUnfinished(part, isBesideScores) || models.some((model) => saysUnfinished(model))) return true
  const inner = tasks.length > 0 ? tasks : direct
  return !('triggered_rules' in part) && inner.length > 0 && inner.every((one) => saysUnfinished(one))
}

function saysUnfinished({ status, state }, isBesideScores = false) {
  const words = isBesideScores ? ${OUTCOME_WORDS.unfinishedBesideScores} : ${OUTCOME_WORDS.unfinished}
  return [status, state].some((word) => typeof word === 'string' && words.test(word))
}

function hasRulesInText(part) {
  return Object.values(part).some((value) => typeof value === 'string' && value.includes('"triggered_rules"'))
}

function hasItems(list) {
  return Array.isArray(list) && list.length > 0
}
`
