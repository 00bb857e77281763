import { mapNames } from '../../../shared/service/answer-findings.ts'
import type { ApiKey, ProxyCredentials } from '../secrets/bound-secret.ts'
import type { HeaderValues } from '../secrets/header-values.ts'
import { Redactor } from '../secrets/redactor.ts'
import type { Answer, Exchange } from './exchange.ts'
import type { JudgeExchange, Judgement } from './judgement.ts'
import { redactAnswer, redactCode } from './redact-answer.ts'

/** Answers as they came, of those from which something was taken out. */
const ORIGINALS = new WeakMap<Exchange, { answer: Answer; redactor: Redactor }>()

/**
 * The one place where secrets are taken out of answers, before anybody else sees them: every key that was sent, the one
 * in use now, the proxy's credentials, and values of headers. `onRedacted` is called for each answer that had one.
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

/** An answer without secrets; null if it has none, as most have, of which nothing is copied. */
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
 * Judges answers as they came, and takes secrets out of what was read: a key that equals a word of an answer, such as
 * the name of a rule, changes no result.
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
