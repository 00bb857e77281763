import { type Command, InvalidArgumentError } from 'commander'
import { parseAssertion, saysNothing } from '../../../shared/lookback/assertion.ts'
import {
  type Assertion,
  CELLS,
  type CellChoice,
  type EvaluateOptions,
  type Evaluation,
} from '../../../shared/lookback/evaluation.ts'
import { isMostlyUnanswered, sayUnanswered, sayUnread } from '../../../shared/lookback/evaluation-view.ts'
import { EXIT } from '../../../shared/messages/error-entry.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { countTrial, type RunSummary } from '../../../shared/run/run.ts'
import { annotate } from '../annotations.ts'
import type { CliContext } from '../context.ts'
import { addLabelOptions, type LabelFlags, splitAtEquals, toLabelOptions } from './label-options.ts'
import { collect } from './parse-values.ts'

/** The flags of {@link addEvaluationOptions} as they come out of the parser. */
export interface EvaluationFlags extends LabelFlags {
  slice?: string[]
  score?: { className: string; rule: string }[]
  threshold?: { className: string; threshold: number }[]
  precision?: number[]
  assert?: Assertion[]
  list?: CellChoice[]
}

function collectScore(text: string, previous: EvaluationFlags['score']): EvaluationFlags['score'] {
  const [className, rule] = splitAtEquals(text, 'CLASS=RULE, such as "spam=Likely spam"')
  return [...(previous ?? []), { className, rule }]
}

function collectThreshold(
  text: string,
  previous: EvaluationFlags['threshold'],
): EvaluationFlags['threshold'] {
  const [className, number] = splitAtEquals(text, 'CLASS=SCORE, such as spam=2')
  const threshold = Number(number)
  if (!Number.isFinite(threshold))
    throw new InvalidArgumentError(`expected a number after \`${className}=\`, found \`${number}\`.`)
  return [...(previous ?? []), { className, threshold }]
}

function collectPrecision(text: string, previous: number[] | undefined): number[] {
  const precision = /^\d+(\.\d+)?%$/.test(text) ? Number.parseFloat(text) / 100 : Number(text)
  if (!(precision > 0 && precision <= 1))
    throw new InvalidArgumentError(`expected a share such as 0.95 or 95%, found \`${text}\`.`)
  return [...(previous ?? []), precision]
}

function collectAssertion(text: string, previous: Assertion[] | undefined): Assertion[] {
  const parsed = parseAssertion(text)
  if (!parsed.ok) throw new InvalidArgumentError(`${parsed.reason}.`)
  return [...(previous ?? []), parsed.assertion]
}

function collectCell(text: string, previous: CellChoice[] | undefined): CellChoice[] {
  const colon = text.indexOf(':')
  const cell = CELLS.find((one) => one === text.slice(0, colon).trim().toLowerCase())
  const rule = text.slice(colon + 1).trim()
  if (cell === undefined || rule === '') {
    throw new InvalidArgumentError(
      `expected ${CELLS.join(', ')}, a colon and a rule, such as "fn:Likely spam", found \`${text}\`.`,
    )
  }
  return [...(previous ?? []), { cell, rule: rule.toLowerCase() === 'overall' ? null : rule }]
}

/** Adds the options that say where a run's labels are and what to show of the evaluation. */
export function addEvaluationOptions(command: Command): Command {
  return addLabelOptions(command)
    .optionsGroup('Results:')
    .option(
      '--slice <column>',
      'also evaluate each value of a column, or of language, model, variant or file, separately; repeatable',
      collect,
    )
    .option(
      '--list <cell:rule>',
      'list the rows that count as tp, fp, fn or tn for a rule, such as "fn:Likely spam"; repeatable',
      collectCell,
    )
    .option(
      '--assert <condition>',
      `exit with ${EXIT.thresholdCrossed} if this condition does not hold, such as "recall(Likely spam)>=0.9", with ${EXIT.notJudged} if most labelled rows have no answer, or if every one should trigger the rule (precision, F1); repeatable`,
      collectAssertion,
    )
    .optionsGroup('Scores:')
    .option(
      '--score <class=rule>',
      'compare the scores of a class with the labels of a rule; repeatable',
      collectScore,
    )
    .option(
      '--threshold <class=score>',
      'show what this threshold would have found; repeatable',
      collectThreshold,
    )
    .option(
      '--precision <share>',
      'find the threshold with at least this precision, such as 0.95; repeatable',
      collectPrecision,
    )
    .optionsGroup('Options:')
}

export function toEvaluateOptions(flags: EvaluationFlags, env: CliContext['env']): EvaluateOptions {
  return {
    ...toLabelOptions(flags, env),
    slices: flags.slice ?? [],
    scores: flags.score ?? [],
    wantedPrecisions: flags.precision ?? [],
    whatIf: flags.threshold ?? [],
    assertions: flags.assert ?? [],
    list: flags.list ?? [],
  }
}

/** Reports which assertions of a run failed or cannot be judged; this decides the exit code. */
export async function reportAssertions(
  context: CliContext,
  evaluation: Evaluation,
  run: RunSummary,
): Promise<void> {
  const { assertions, rows } = evaluation
  if (assertions.length === 0) return
  const annotateAll = (title: string, messages: readonly string[]) =>
    annotate(
      context,
      messages.map((message) => ({ level: 'error', title, message })),
    )
  const failed = assertions.filter(({ ok }) => !ok)
  if (rows.without_answer > 0) await context.err.writeLine(sayUnanswered(rows))
  if (failed.length === 0) {
    // A trial did not send the remaining rows, and each may have a label.
    const left = countTrial(run) === null ? 0 : run.rows.not_sent
    const unanswered = { ...rows, without_answer: rows.without_answer - left }
    const reason = isMostlyUnanswered(unanswered)
      ? 'most labelled rows have no answer'
      : assertions.some((assertion) => saysNothing(assertion, evaluation))
        ? 'every labelled row should trigger a rule, which makes precision 100 %'
        : null
    if (reason === null) return
    context.exitCode = EXIT.notJudged
    const message = `Assertions cannot be judged: ${reason}.`
    await context.err.writeLine(message)
    return annotateAll('Not judged', [message])
  }
  context.exitCode = EXIT.thresholdCrossed
  const list = failed.map(({ expression, value }) => `${expression} (found ${value ?? 'no value'})`)
  await context.err.writeLine(`${formatCounted(failed.length, 'assertion')} failed: ${list.join(', ')}.`)
  for (const line of failed.some(({ value }) => value === null) ? sayUnread(evaluation) : []) {
    await context.err.writeLine(`${line} Pass --positive for each rule that is to be judged.`)
  }
  await annotateAll('Assertion failed', list)
}
