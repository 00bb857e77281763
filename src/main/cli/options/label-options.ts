import { type Command, InvalidArgumentError } from 'commander'
import type { EvaluateOptions } from '../../../shared/lookback/evaluation.ts'
import type { Positive } from '../../../shared/lookback/labels.ts'
import { resolveFromCaller } from '../invocation.ts'
import { parseFilledText } from './parse-values.ts'

/** What {@link addLabelOptions} adds. */
export interface LabelFlags {
  label?: string
  labels?: string
  key?: { key: string; runKey?: string }
  verdicts?: true
  positive?: Positive[]
  separator?: string
}

/** Splits `NAME=REST` at the first equals sign; `shape` says what is expected. */
export function splitAtEquals(text: string, shape: string): [string, string] {
  const equals = text.indexOf('=')
  const [name, rest] = [text.slice(0, equals).trim(), text.slice(equals + 1).trim()]
  if (equals < 1 || name === '' || rest === '') {
    throw new InvalidArgumentError(`expected ${shape}, found \`${text}\`.`)
  }
  return [name, rest]
}

function collectPositive(text: string, previous: Positive[] | undefined): Positive[] {
  const [value, rule] = splitAtEquals(text, 'VALUE=RULE, such as "spam=Likely spam"')
  return [...(previous ?? []), { value, rule }]
}

function parseKey(text: string): NonNullable<LabelFlags['key']> {
  if (!text.includes('=')) return { key: parseFilledText(text) }
  const [key, runKey] = splitAtEquals(text, 'COLUMN, or COLUMN=COLUMN of the run')
  return { key, runKey }
}

/** Adds the options that say where labels are and what they mean, under a heading of their own. */
export function addLabelOptions(command: Command): Command {
  return command
    .optionsGroup('Labels:')
    .option('--label <column>', 'column with the labels, by name or number')
    .option('--labels <file>', 'file with the label column (default: the source of the run)')
    .option(
      '--key <column>',
      'column of the --labels file that identifies the row, named like a column of the source, sluice_row or post_id; FILE_COLUMN=RUN_COLUMN if the names differ',
      parseKey,
    )
    .option('--verdicts', 'use verdicts as labels; a verdict replaces the label of its row')
    .option(
      '--positive <value=rule>',
      'rows with this label should trigger this rule, or "any rule"; other rules are then left out; repeatable',
      collectPositive,
    )
    .option(
      '--separator <text>',
      'text that separates several values in one label, such as ";"',
      parseFilledText,
    )
}

/** Whether labels are asked for. Throws where options of labels contradict each other. */
export function hasLabels({ label, labels, key, verdicts, positive, separator }: LabelFlags): boolean {
  if (labels !== undefined && (label === undefined || key === undefined)) {
    throw new InvalidArgumentError('--labels needs --label COLUMN and --key COLUMN.')
  }
  if (labels === undefined && key !== undefined) throw new InvalidArgumentError('--key needs --labels FILE.')
  const isAsked = label !== undefined || verdicts !== undefined
  if (!isAsked && (positive ?? separator) !== undefined) {
    throw new InvalidArgumentError('--positive and --separator need --label COLUMN or --verdicts.')
  }
  return isAsked
}

/** The labels as the engine takes them. */
export function toLabelOptions(
  { label, labels, key, verdicts, positive = [], separator }: LabelFlags,
  env: NodeJS.ProcessEnv,
): Pick<EvaluateOptions, 'label' | 'labels' | 'useVerdicts' | 'positives' | 'separator'> {
  return {
    label: label ?? null,
    ...(labels === undefined || key === undefined
      ? {}
      : { labels: { source: { path: resolveFromCaller(labels, env), header: true }, ...key } }),
    ...{ useVerdicts: verdicts === true, positives: positive, separator: separator ?? null },
  }
}
