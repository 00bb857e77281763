import { mapNames } from '../../../shared/service/answer-findings.ts'
import type { ApiKey, ProxyCredentials } from '../secrets/bound-secret.ts'
import type { HeaderValues } from '../secrets/header-values.ts'
import { Redactor } from '../secrets/redactor.ts'
import type { Answer, Exchange } from './exchange.ts'
import type { JudgeExchange, Judgement } from './judgement.ts'
import { redactAnswer, redactCode } from './redact-answer.ts'

/** Original answers, for those from which something was removed. */
const ORIGINALS = new WeakMap<Exchange, { answer: Answer; redactor: Redactor }>()

/**
 * The only place where secrets are removed from answers, before anything else sees them: every key that was
 * sent, the one in use now, the proxy's credentials, and header values. `onRedacted` is called for each
 * answer that contained one.
 */
export function createRedaction(
  readApiKey: () => ApiKey | null,
  {
    proxyCredentials,
    headerValues,
  }: { proxyCredentials: ProxyCredentials | null; headerValues: HeaderValues | null },
  onRedacted: () => void = () => {},
) {
  const redactor = new Redactor()
  proxyCredentials?.redactBy(redactor)
  headerValues?.redactBy(redactor)
  let last: ApiKey | null = null
  const noteKey = (key: ApiKey | null): void => {
    if (key !== last) key?.redactBy(redactor)
    last = key
  }
  return {
    noteKey,
    redact(exchange: Exchange): Exchange {
      noteKey(readApiKey())
      if (exchange.kind === 'breakdown') {
        exchange.message = redactor.redact(exchange.message)
        return exchange
      }
      const redacted = toRedacted(exchange, redactor)
      if (redacted === null) return exchange
      ORIGINALS.set(redacted, { answer: exchange, redactor })
      onRedacted()
      return redacted
    },
  }
}

/** An answer without secrets; null if it contains none, as most do, so that nothing is copied. */
function toRedacted(answer: Answer, redactor: Redactor): Answer | null {
  const body = redactAnswer(redactor, answer.body)
  const contentType = redactor.redact(answer.contentType)
  const retryAfter = answer.retryAfter === null ? null : redactor.redact(answer.retryAfter)
  const location = answer.location === null ? null : redactor.redact(answer.location)
  const bodyProblem = answer.bodyProblem === undefined ? undefined : redactor.redact(answer.bodyProblem)
  const headers = answer.headers?.map(([name, value]): [string, string] => [name, redactor.redact(value)])
  const isRedacted =
    body !== answer.body ||
    contentType !== answer.contentType ||
    retryAfter !== answer.retryAfter ||
    location !== answer.location ||
    bodyProblem !== answer.bodyProblem ||
    (headers?.some(([, value], at) => value !== answer.headers?.[at]?.[1]) ?? false)
  if (!isRedacted) return null
  return {
    ...answer,
    body,
    contentType,
    retryAfter,
    location,
    ...(headers !== undefined && { headers }),
    ...(bodyProblem !== undefined && { bodyProblem }),
  }
}

/**
 * Judges answers as received, and removes secrets from the result: a key that equals a word in an answer,
 * such as a rule's name, does not change the judgement.
 */
export function judgeWhole(judge: JudgeExchange): JudgeExchange {
  return (exchange, rowKeys, earlierTries) => {
    const original = ORIGINALS.get(exchange)
    if (original === undefined) return judge(exchange, rowKeys, earlierTries)
    return redactJudgement(judge(original.answer, rowKeys, earlierTries), original.redactor)
  }
}

function redactJudgement(judgement: Judgement, redactor: Redactor): Judgement {
  const { errorCode, rows, rules, classes, names } = judgement
  const take = (text: string | null): string | null => (text === null ? null : redactor.redact(text))
  return {
    ...judgement,
    errorCode: errorCode === null ? null : redactCode(redactor, errorCode),
    message: take(judgement.message),
    taskId: take(judgement.taskId),
    customIndexItemId: take(judgement.customIndexItemId),
    rows: rows?.map((row) => ({ ...row, message: take(row.message) })) ?? null,
    rules: [...new Map(rules.map((rule) => [redactor.redact(rule.ruleId), rule]))].map(
      ([ruleId, { ruleName }]) => ({ ruleId, ruleName: redactor.redact(ruleName) }),
    ),
    classes: classes.map(({ className, score }) => ({ className: redactor.redact(className), score })),
    names: mapNames(names, (name) => redactor.redact(name)),
  }
}
