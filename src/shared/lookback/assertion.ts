import { roundNoise } from '../messages/figure-text.ts'
import { catchMistake, formatTextMistake, MistakeError, skipSpace } from '../messages/text-mistake.ts'
import type { Assertion, Evaluation } from './evaluation.ts'
import { toComparable } from './labels.ts'

const FIGURES = ['precision', 'recall', 'f1'] as const satisfies Assertion['figure'][]
const AVERAGES = ['overall', 'macro', 'micro'] as const
const OPERATORS = ['>=', '>', '<=', '<', '=='] as const satisfies Assertion['operator'][]

/** Reads `recall(Spam)>=0.9`: figure, in brackets a rule, overall, macro or micro, comparison, share. */
export function parseAssertion(
  text: string,
): { ok: true; assertion: Assertion } | { ok: false; reason: string } {
  const parsed = catchMistake<{ ok: true; assertion: Assertion }>(() => ({
    ok: true,
    assertion: parse(text),
  }))
  return parsed.ok ? parsed : { ok: false, reason: formatTextMistake('assertion', text, parsed.mistake) }
}

function parse(text: string): Assertion {
  const from = skipSpace(text, 0)
  const figure = FIGURES.find((name) => new RegExp(`^${name}\\s*\\(`, 'i').test(text.slice(from)))
  if (figure === undefined) {
    throw new MistakeError(
      text,
      from,
      `one of ${FIGURES.join(', ')} with a rule in brackets, as in recall(Spam)>=0.9`,
    )
  }
  const open = text.indexOf('(', from)
  // A rule's name may contain brackets.
  const close = text.lastIndexOf(')')
  if (close < open) throw new MistakeError(text, text.length, 'a closing bracket after the rule')
  const of = text.slice(open + 1, close).trim()
  if (of === '') throw new MistakeError(text, open + 1, `a rule, or one of ${AVERAGES.join(', ')}`, 1)
  const operatorAt = skipSpace(text, close + 1)
  const operator = OPERATORS.find((one) => text.startsWith(one, operatorAt))
  if (operator === undefined) throw new MistakeError(text, operatorAt, `one of ${OPERATORS.join(' ')}`, 2)
  const limitAt = skipSpace(text, operatorAt + operator.length)
  const written = text.slice(limitAt).trim()
  const limit = Number(written)
  if (!/^(\d+(\.\d+)?|\.\d+)$/.test(written) || limit > 1) {
    throw new MistakeError(text, limitAt, 'a share from 0 to 1, as in 0.9 for 90 %')
  }
  return { expression: text.trim(), figure, of, operator, limit }
}

/**
 * Checks an assertion against an evaluation. A figure without a value fails; `value` is null if it is
 * unknown. `knowsLabels`: whether it is known which rules all labels mean, without which averages over rules
 * are unknown.
 */
export function checkAssertion(
  { expression, figure, of, operator, limit }: Assertion,
  evaluation: Pick<Evaluation, (typeof AVERAGES)[number] | 'rules'>,
  knowsLabels = true,
): Evaluation['assertions'][number] {
  const isKnown = knowsLabels || findJudged(evaluation.rules, of) !== undefined
  const found = isKnown ? readFigure(evaluation, of, figure) : null
  // The floating-point mean of 0.7, 0.8 and 0.9 is below 0.8, and a limit may be copied with all its digits.
  const value = found === null ? null : roundNoise(found)
  return { expression, value, ok: value !== null && compare(value, operator, roundNoise(limit)) }
}

export function isKnownSubject({ of }: Assertion, { rules }: Pick<Evaluation, 'rules'>): boolean {
  return AVERAGES.some((name) => name === toComparable(of)) || findJudged(rules, of) !== undefined
}

function readFigure(
  evaluation: Parameters<typeof checkAssertion>[1],
  of: string,
  figure: Assertion['figure'],
): number | null {
  // A rule wins over an average of the same name.
  const rule = findJudged(evaluation.rules, of)
  if (rule !== undefined) return rule[figure].value
  const average = AVERAGES.find((name) => name === toComparable(of))
  if (average === undefined) return null
  const found = evaluation[average][figure]
  return typeof found === 'object' ? (found?.value ?? null) : found
}

/**
 * Whether an assertion on precision or F1 says nothing: there are labels, not only verdicts, and every
 * evaluated row should trigger what it is about, so that precision is 100 % whatever the rules do.
 */
export function saysNothing(
  { expression }: Evaluation['assertions'][number],
  { labels, rows, overall, rules }: Pick<Evaluation, 'labels' | 'rows' | 'overall' | 'rules'>,
): boolean {
  const parsed = parseAssertion(expression)
  if (!parsed.ok || parsed.assertion.figure === 'recall' || labels.verdict_rows === rows.evaluated)
    return false
  const { of } = parsed.assertion
  const rule = findJudged(rules, of)
  const judged = rule !== undefined ? [rule] : toComparable(of) === 'overall' ? [overall] : rules
  return judged.every(({ matrix }) => matrix.false_positives + matrix.true_negatives === 0)
}

function findJudged(rules: Evaluation['rules'], of: string): Evaluation['rules'][number] | undefined {
  const wanted = toComparable(of)
  return rules.find(
    ({ rule, rule_ids: ids }) =>
      toComparable(rule) === wanted || ids.some((id) => toComparable(id) === wanted),
  )
}

function compare(value: number, operator: Assertion['operator'], limit: number): boolean {
  switch (operator) {
    case '>=':
      return value >= limit
    case '>':
      return value > limit
    case '<=':
      return value <= limit
    case '<':
      return value < limit
    case '==':
      return value === limit
  }
}
