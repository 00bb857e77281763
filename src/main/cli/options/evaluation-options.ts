import { type Command, InvalidArgumentError } from 'commander'
import { type Assertion, parseAssertion } from '../../../shared/lookback/assertion.ts'
import {
  CELLS,
  type CellChoice,
  type EvaluateOptions,
  type Evaluation,
} from '../../../shared/lookback/evaluation.ts'
import type { Positive } from '../../../shared/lookback/labels.ts'
import { EXIT } from '../../../shared/messages/error-entry.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { CliContext } from '../context.ts'
import { resolveFromCaller } from '../invocation.ts'
import { collect, createIntegerParser, parseFilledText } from './parse-values.ts'

/** The flags of {@link addEvaluationOptions} as they come out of the parser. */
export interface EvaluationFlags {
  label?: string
  labels?: string
  key?: { key: string; runKey?: string }
  verdicts?: true
  positive?: Positive[]
  separator?: string
  slice?: string[]
  score?: { className: string; rule: string }[]
  threshold?: { className: string; threshold: number }[]
  precision?: number[]
  assert?: Assertion[]
  list?: CellChoice[]
  seed: number
}

/** Splits `NAME=REST` at the first equals sign. */
function split(text: string, shape: string): [string, string] {
  const equals = text.indexOf('=')
  const [name, rest] = [text.slice(0, equals).trim(), text.slice(equals + 1).trim()]
  if (equals < 1 || name === '' || rest === '') {
    throw new InvalidArgumentError(`expected ${shape}, found \`${text}\`.`)
  }
  return [name, rest]
}

function collectPositive(text: string, previous: Positive[] | undefined): Positive[] {
  const [value, rule] = split(text, 'VALUE=RULE, such as "spam=Likely spam"')
  return [...(previous ?? []), { value, rule }]
}

function collectScore(text: string, previous: EvaluationFlags['score']): EvaluationFlags['score'] {
  const [className, rule] = split(text, 'CLASS=RULE, such as "spam=Likely spam"')
  return [...(previous ?? []), { className, rule }]
}

function collectThreshold(
  text: string,
  previous: EvaluationFlags['threshold'],
): EvaluationFlags['threshold'] {
  const [className, number] = split(text, 'CLASS=SCORE, such as spam=2')
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

function parseKey(text: string): NonNullable<EvaluationFlags['key']> {
  if (!text.includes('=')) return { key: parseFilledText(text) }
  const [key, runKey] = split(text, 'COLUMN, or COLUMN=COLUMN of the run')
  return { key, runKey }
}

/** Adds the options that say where the labels of a run are, and what is judged by them. */
export function addEvaluationOptions(command: Command): Command {
  return command
    .optionsGroup('Labels:')
    .option('--label <column>', 'column with the labels, by name or number')
    .option('--labels <file>', 'file with the label column (default: the source of the run)')
    .option(
      '--key <column>',
      'column of that file that names the row: a column of the source, sluice_row or post_id; FILE_COLUMN=RUN_COLUMN if the names differ',
      parseKey,
    )
    .option('--verdicts', 'use verdicts as labels; they replace the label of their row')
    .option(
      '--positive <value=rule>',
      'rows with this label should trigger this rule; only such rules are judged; repeatable',
      collectPositive,
    )
    .option('--separator <text>', 'separates several values in one label, such as ";"', parseFilledText)
    .optionsGroup('Results:')
    .option(
      '--slice <column>',
      'also judge each value of a column apart, or of language, model or variant; repeatable',
      collect,
    )
    .option(
      '--list <cell:rule>',
      'list rows: tp, fp, fn or tn of a rule, such as "fn:Likely spam"; repeatable',
      collectCell,
    )
    .option(
      '--assert <condition>',
      `exit with ${EXIT.thresholdCrossed} unless it holds, such as "recall(Likely spam)>=0.9"; repeatable`,
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
    .option(
      '--seed <n>',
      'seed for the intervals of F1, which are drawn at random',
      createIntegerParser(0, 2 ** 32 - 1),
      1,
    )
}

/** Whether the flags say where labels are. Throws where they contradict each other. */
export function hasLabels({ label, labels, key, verdicts }: EvaluationFlags): boolean {
  if (labels !== undefined && (label === undefined || key === undefined)) {
    throw new InvalidArgumentError('--labels needs --label COLUMN and --key COLUMN.')
  }
  if (labels === undefined && key !== undefined) throw new InvalidArgumentError('--key needs --labels FILE.')
  return label !== undefined || verdicts !== undefined
}

/** The evaluation that the flags ask for. */
export function toEvaluateOptions(flags: EvaluationFlags, env: CliContext['env']): EvaluateOptions {
  return {
    label: flags.label ?? null,
    ...(flags.labels === undefined || flags.key === undefined
      ? {}
      : { labels: { source: { path: resolveFromCaller(flags.labels, env), header: true }, ...flags.key } }),
    useVerdicts: flags.verdicts === true,
    positives: flags.positive ?? [],
    separator: flags.separator ?? null,
    slices: flags.slice ?? [],
    scores: flags.score ?? [],
    wantedPrecisions: flags.precision ?? [],
    whatIf: flags.threshold ?? [],
    assertions: flags.assert ?? [],
    list: flags.list ?? [],
    seed: flags.seed,
  }
}

/** Says which assertions failed, which decides the exit code. */
export async function reportAssertions(context: CliContext, { assertions }: Evaluation): Promise<void> {
  const failed = assertions.filter(({ ok }) => !ok)
  if (failed.length === 0) return
  context.exitCode = EXIT.thresholdCrossed
  const list = failed.map(({ expression, value }) => `${expression} (found ${value ?? 'no value'})`)
  await context.err.writeLine(`${formatCounted(failed.length, 'assertion')} failed: ${list.join(', ')}.`)
}
