import { type Command, InvalidArgumentError } from 'commander'
import type { LabelQuestion } from '../../../shared/lookback/evaluation.ts'
import { parseShare } from '../../../shared/lookback/label-values.ts'
import { ANY_RULE, type Positive } from '../../../shared/lookback/labels.ts'
import type { RuleColumn } from '../../../shared/lookback/rule-columns.ts'
import { resolveFromCaller } from '../invocation.ts'
import { parseFilledText } from './parse-values.ts'

/** One `--label`: a column with labels, or the column of one rule. */
type GivenLabel = { column: string } | RuleColumn

/** What {@link addLabelOptions} adds. */
export interface LabelFlags {
  label?: GivenLabel[]
  labels?: string
  key?: { key: string; runKey?: string }
  verdicts?: true
  positive?: Positive[]
  separator?: string
  emptyNegative?: true
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

/** A column, a condition on its numbers and a rule: `score>=0.5=RULE`. */
const WITH_SHARE = /^(.*?)\s*((?:>=|<=|>|<|≥|≤)\s*-?(?:\d+(?:\.\d*)?|\.\d+)\s*%?)\s*=(.*)$/s

function collectLabel(text: string, previous: GivenLabel[] | undefined): GivenLabel[] {
  const [, column = '', condition = '', named = ''] = WITH_SHARE.exec(text) ?? []
  const [label, rule] = [column.trim(), named.trim()]
  if (label !== '' && rule !== '') {
    refuseWildcard(rule)
    return [...(previous ?? []), { column: label, rule, share: parseShare(condition) }]
  }
  if (!text.includes('=')) return [...(previous ?? []), { column: parseFilledText(text) }]
  const [name, of] = splitAtEquals(text, 'COLUMN, or COLUMN=RULE for a column of a rule')
  refuseWildcard(of)
  return [...(previous ?? []), { column: name, rule: of, share: null }]
}

function collectPositive(text: string, previous: Positive[] | undefined): Positive[] {
  const [, before = '', condition = '', named = ''] = WITH_SHARE.exec(text) ?? []
  if (before.trim() === '' && condition !== '' && named.trim() !== '') {
    refuseWildcard(named.trim())
    return [...(previous ?? []), { value: condition.replaceAll(/\s/g, ''), rule: named.trim() }]
  }
  const [value, rule] = splitAtEquals(text, 'VALUE=RULE, such as "spam=Likely spam"')
  refuseWildcard(rule)
  return [...(previous ?? []), { value, rule }]
}

/** Whoever writes `*` means any rule, not one of that name. */
function refuseWildcard(rule: string): void {
  if (rule === '*')
    throw new InvalidArgumentError(`expected a rule, or "${ANY_RULE}" for whichever, found \`*\`.`)
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
    .option(
      '--label <column>',
      'column with the labels, by name or number; or COLUMN=RULE, a column that says yes or no for one rule, or COLUMN>=0.5=RULE, repeatable',
      collectLabel,
    )
    .option('--labels <file>', 'file with the label column (default: the source of the run)')
    .option(
      '--key <column>',
      'column of the --labels file that identifies the row, named like a column of the source, sluice_row or post_id; FILE_COLUMN=RUN_COLUMN if the names differ',
      parseKey,
    )
    .option('--verdicts', 'use verdicts as labels; a verdict replaces the label of its row')
    .option(
      '--positive <value=rule>',
      'rows with this label, or with numbers such as >=0.5, should trigger this rule, or "any rule"; other rules are then left out; repeatable',
      collectPositive,
    )
    .option(
      '--separator <text>',
      'text that separates several values in one label, such as ";"',
      parseFilledText,
    )
    .option(
      '--empty-negative',
      'rows with an empty label should trigger no rule (default: they are left out)',
    )
}

/** Whether labels are asked for. Throws if options of labels contradict each other. */
export function hasLabels(flags: LabelFlags): boolean {
  const { label, labels, key, verdicts, positive, separator, emptyNegative } = flags
  if (labels !== undefined && (label === undefined || key === undefined)) {
    throw new InvalidArgumentError('--labels needs --label COLUMN and --key COLUMN.')
  }
  if (labels === undefined && key !== undefined) throw new InvalidArgumentError('--key needs --labels FILE.')
  if (label !== undefined && label.length > 1 && label.some((one) => !('rule' in one))) {
    throw new InvalidArgumentError('several --label need a rule each: --label COLUMN=RULE.')
  }
  const isAsked = label !== undefined || verdicts !== undefined
  if (!isAsked && (positive ?? separator) !== undefined) {
    throw new InvalidArgumentError('--positive and --separator need --label COLUMN or --verdicts.')
  }
  if (label === undefined && emptyNegative !== undefined) {
    throw new InvalidArgumentError('--empty-negative needs --label COLUMN.')
  }
  return isAsked
}

/** The labels as the engine takes them. */
export function toLabelOptions(
  { label, labels, key, verdicts, positive = [], separator, emptyNegative }: LabelFlags,
  env: NodeJS.ProcessEnv,
): LabelQuestion {
  const columns = label?.filter((one) => 'rule' in one) ?? []
  const [only] = label ?? []
  return {
    label: columns.length > 0 ? columns : (only?.column ?? null),
    ...(labels === undefined || key === undefined
      ? {}
      : { labels: { source: { path: resolveFromCaller(labels, env), header: true }, ...key } }),
    useVerdicts: verdicts === true,
    positives: [...positive, ...columns.map(({ rule }) => ({ value: rule, rule }))],
    separator: separator ?? null,
    ...(emptyNegative === true && { emptyIsNegative: true }),
  }
}
