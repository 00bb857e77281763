import { isAsync } from '../../../../shared/operations/operations.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'

/**
 * The function of a script that says whether a task succeeded, as the judge of this program does for the
 * answers of the interface (docs/interface.md §2.2, §2.3, §4.2), and for the usual failures inside a 200.
 * It does not compare `user_id`.
 */
export function formatK6Success({ operation, connection }: Pick<Plan, 'operation' | 'connection'>): string {
  const isV2 = operation.kind === 'task' && operation.api === 'v2'
  const isAcknowledged = isAsync(operation)
  const needsTask = !isV2 || isAcknowledged
  const mayBeList = isV2 && !isAcknowledged
  const comparesPost = connection.rewritesIds !== true
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
  return parts.every((part) => isObject(part)${needsTask ? ' && (isId(part.task_id) || isId(part.id))' : ''} && !reportsFailure(part)${comparesPost ? ' && isOfPost(part, postId)' : ''})
}

/** A failure inside a 200, or rules that cannot be read. */
function reportsFailure(part) {
  const { error, status, code } = part
  if (error === true || part.success === false || part.ok === false || saysSomething(error)) return true
  if (typeof status === 'string' && /^(error|failed|failure)$/i.test(status)) return true
  if (typeof code === 'number' && ${isV2 ? '!isFine(code)' : '(code < 200 || code > 299)'}) return true
  return ${isV2 ? 'listInside(part)' : `[...listOf(status), ...listOf(part.models)]`}.some(hasFailed)${isAcknowledged ? '' : ` || ${isV2 ? 'listInside(part)' : '[part]'}.some(hasUnreadableRules)`}
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
${
  isV2
    ? `
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
`
    : `
function listOf(value) {
  return Array.isArray(value) ? value.filter(isObject) : []
}
`
}${
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
