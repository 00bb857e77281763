import { isAsync } from '../../../../shared/operations/operations.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'

/**
 * The function of a script that says whether a task succeeded, as the judge of this program does for the
 * answers of the interface (docs/interface.md §2.2, §2.3, §4.2), and for the usual failures inside a 200.
 * It compares neither `user_id` nor ids deeper inside an answer.
 */
export function formatK6Success({ operation, connection }: Pick<Plan, 'operation' | 'connection'>): string {
  const isV2 = operation.kind === 'task' && operation.api === 'v2'
  const isAcknowledged = isAsync(operation)
  const needsTask = !isV2 || isAcknowledged
  const mayBeList = isV2 && !isAcknowledged
  const comparesPost = connection.rewritesIds !== true
  const ofV1 = isV2
    ? ''
    : `  if (!isWrapped(part)) {
    const entries = [...listOf(status), ...listOf(part.models)]
    return entries.some(hasFailed)${isAcknowledged ? '' : ' || hasUnreadableRules(part)'}
  }
`
  return `const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const isId = (value) => Number.isSafeInteger(value) || (typeof value === 'string' && value !== '')
const isFine = (code) => /^(0|2\\d\\d|ok|success|succeeded|successful|complete|completed|done)$/i.test(String(code))

/** Whether an answer is the result of the post: an error, another shape or another post_id is none. */
function isSuccess({ status, body: text }, postId) {
  if (status < 200 || status > 299) return false
  let body
  try {
    body = JSON.parse(text)
  } catch {
    return false
  }
  const parts = ${mayBeList ? 'Array.isArray(body) ? body.filter(isObject) : [body]' : '[body]'}
  return ${isAcknowledged ? '' : '!isUnderway(status, body) && '}parts.every((part) => isObject(part)${needsTask ? ' && (isId(part.task_id) || isId(part.id))' : ''} && !reportsFailure(part)${comparesPost ? ' && isOfPost(part, postId)' : ''})
}

/** A failure inside a 200, or rules that cannot be read. */
function reportsFailure(part) {
  const { error, status, code } = part
  if (error === true || part.success === false || part.ok === false || saysSomething(error)) return true
  if (typeof status === 'string' && /^(error|failed|failure)$/i.test(status)) return true
  if (typeof code === 'number' && ${isV2 ? '!isFine(code)' : '(isWrapped(part) ? !isFine(code) : code < 200 || code > 299)'}) return true
${ofV1}  const [, ...inner] = listInside(part)
  return hasFailed(part) || inner.some((one) => hasFailed(one) || hasFailedInWords(one))${isAcknowledged ? '' : ' || [part, ...inner].some(hasUnreadableRules)'}
}

/** Whether an object inside of a result reports a failure; some words count only beside its model. */
function hasFailedInWords({ error, success, ok, status, code, model }) {
  if (error === true || success === false || (typeof error !== 'number' && saysSomething(error))) return true
  if (typeof model !== 'string' || model === '') return false
  if (ok === false || saysSomething(error) || (typeof status === 'string' && /^(error|failed|failure)$/i.test(status))) return true
  return typeof code === 'number' && !isFine(code)
}

function saysSomething(error) {
  if (typeof error === 'string') return !/^(|0|none|null|no|false|ok|success)$/i.test(error.trim())
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
  if (depth === 8) return [object]
  const inner = Object.entries(object).flatMap(([name, value]) =>
    ['triggered_rules', 'output', 'content_metadata', 'user_metadata'].includes(name) ? [] : listOf(value))
  return [object, ...inner.flatMap((one) => listInside(one, depth + 1))]
}

function listOf(value) {
  return (Array.isArray(value) ? value : [value]).filter(isObject)
}
${isAcknowledged ? '' : IS_UNDERWAY}${
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

const IS_UNDERWAY = `
/** Whether an answer without a result says that its task has not ended. */
function isUnderway(status, body) {
  if (isObject(body) && Array.isArray(body.triggered_rules)) return false
  const all = listOf(body).flatMap((part) => listInside(part))
  if (all.some(({ triggered_rules: rules, output }) => hasItems(rules) || hasItems(output))) return false
  const words = isObject(body) ? [body.status, body.state] : []
  return status === 202 || words.some((word) => typeof word === 'string' && /^(pending|processing|queued|running|started|in[ _-]?progress)$/i.test(word))
}

function hasItems(list) {
  return Array.isArray(list) && list.length > 0
}
`
