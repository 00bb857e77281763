import { create } from 'zustand'
import type { EvaluateQuestionInput } from '../../../shared/bridge/evaluate.ts'
import type { BridgePreview, ChosenSource } from '../../../shared/bridge/source.ts'
import {
  CHOICE_VALUES_MAX,
  guessLabels,
  guessMeaning,
  guessRuleColumns,
  type LabelChoices,
  type LabelColumn,
} from '../../../shared/lookback/label-choices.ts'
import { parseShare } from '../../../shared/lookback/label-values.ts'
import { type Positive, toComparable } from '../../../shared/lookback/labels.ts'
import type { RuleColumn } from '../../../shared/lookback/rule-columns.ts'

export type LabelPlace = 'column' | 'rules' | 'file' | 'verdicts'

/** A column of a rule's own as a person gives it; `share` is empty where cells say yes or no. */
export interface TypedRuleColumn {
  column: string
  rule: string
  share: string
}

/** A file of labels as it was chosen: its columns, which of them has the labels, and how its rows are found in the run. */
interface LabelFile {
  source: ChosenSource
  /** Each with its values in the first rows. */
  columns: readonly LabelColumn[]
  label: string
  key: string
  /** Column of the run, `sluice_row` or `post_id`. */
  runKey: string
}

/** What a person said of the labels of a run. */
export interface LabelSettings {
  place: LabelPlace
  column: string | null
  ruleColumns: readonly TypedRuleColumn[]
  file: LabelFile | null
  useVerdicts: boolean
  separator: string
  /** Empty where labels are names of rules. */
  positives: readonly Positive[]
  slices: readonly string[]
  scores: readonly { className: string; rule: string }[]
}

/** Remembers what was said of each run for as long as the window is open. */
const useSettings = create<{ byRun: Record<string, LabelSettings> }>(() => ({ byRun: {} }))

/** What was said of the labels of a run, at first what its columns suggest; null until these are known. */
export function useLabelSettings(
  runId: string,
  choices: LabelChoices | null,
): [LabelSettings | null, (part: Partial<LabelSettings>) => void] {
  const known = useSettings(({ byRun }) => byRun[runId])
  const settings = choices === null ? null : (known ?? suggestOnce(choices))
  return [
    settings,
    (part) => {
      if (settings === null) return
      useSettings.setState(({ byRun }) => ({ byRun: { ...byRun, [runId]: { ...settings, ...part } } }))
    },
  ]
}

/** One suggestion for one answer, so that it keeps its identity between renders. */
const suggestions = new WeakMap<LabelChoices, LabelSettings>()

function suggestOnce(choices: LabelChoices): LabelSettings {
  const known = suggestions.get(choices)
  if (known !== undefined) return known
  const { guess, verdicts } = choices
  const ruleColumns = suggestRuleColumns(choices)
  const hasRuleColumns = ruleColumns.length > (guess === null ? 0 : 1)
  const suggested: LabelSettings = {
    place: hasRuleColumns ? 'rules' : guess === null && verdicts > 0 ? 'verdicts' : 'column',
    column: guess?.label ?? null,
    ruleColumns,
    file: null,
    useVerdicts: verdicts > 0,
    separator: guess?.separator ?? '',
    positives: guess?.positives ?? [],
    slices: [],
    scores: [],
  }
  suggestions.set(choices, suggested)
  return suggested
}

/** The columns of a run that seem to be of a rule each. */
function suggestRuleColumns({ columns, rules }: LabelChoices): TypedRuleColumn[] {
  const found = guessRuleColumns(
    columns,
    rules.map(({ rule }) => rule),
  )
  return found.map((one) => ({ ...one, share: '' }))
}

/** The columns of rules that can be asked for: those with a rule, and with a share that is one if there is any. */
export function listRuleColumns(columns: readonly TypedRuleColumn[]): RuleColumn[] {
  return columns.flatMap(({ column, rule, share: typed }) => {
    const share = typed.trim() === '' ? null : parseShare(typed)
    const isWhole = rule.trim() !== '' && (typed.trim() === '' || share !== null)
    return isWhole ? [{ column, rule: rule.trim(), share }] : []
  })
}

/** The settings with a column of labels, and with what its values suggest. */
export function withColumn(column: LabelColumn, choices: LabelChoices): Partial<LabelSettings> {
  const { positives, separator } = guessMeaning(
    column,
    choices.rules.map(({ rule }) => rule),
  )
  return { positives, separator: separator ?? '' }
}

/** A file of labels with the columns that its first rows suggest, and what its labels seem to mean. */
export function readLabelFile(
  source: ChosenSource,
  { columns, rows }: Pick<BridgePreview, 'columns' | 'rows'>,
  choices: LabelChoices,
): Partial<LabelSettings> {
  const names = choices.columns.map(({ name }) => name)
  const keys = [...names, 'sluice_row', 'post_id', 'sluice_post_id']
  const key = columns.find((name) => keys.includes(name)) ?? columns[0] ?? ''
  const counted = columns.map((name, at) => countValues(name, at, rows))
  const guess = guessLabels(
    counted.filter(({ name }) => name !== key),
    choices.rules.map(({ rule }) => rule),
  )
  const label = guess?.label ?? columns.findLast((name) => name !== key) ?? key
  return {
    file: {
      source,
      columns: counted,
      label,
      key,
      runKey: keys.includes(key) ? key : (names[0] ?? 'sluice_row'),
    },
    positives: guess?.positives ?? [],
    separator: guess?.separator ?? '',
  }
}

function countValues(name: string, at: number, rows: readonly { cells: readonly string[] }[]): LabelColumn {
  const counts = new Map<string, number>()
  for (const { cells } of rows) {
    const value = cells[at] ?? ''
    if (value !== '') counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  if (counts.size > CHOICE_VALUES_MAX) return { name, values: [] }
  return { name, values: [...counts].map(([value, count]) => ({ value, rows: count })) }
}

/** What the engine is asked; null where something is missing. */
export function toQuestion(settings: LabelSettings | null): EvaluateQuestionInput | null {
  if (settings === null) return null
  const { place, column, ruleColumns, file, useVerdicts, separator, positives, slices, scores } = settings
  const common = {
    separator: separator === '' ? null : separator,
    positives: [...positives],
    slices: [...slices],
    scores: [...scores],
  }
  // Verdicts name their rules themselves.
  if (place === 'verdicts') return { ...common, positives: [], label: null, useVerdicts: true }
  if (place === 'column') return column === null ? null : { ...common, label: column, useVerdicts }
  if (place === 'rules') {
    const label = listRuleColumns(ruleColumns)
    if (label.length === 0) return null
    const ofRules = label.map(({ rule }) => ({ value: rule, rule }))
    return { ...common, positives: ofRules, separator: null, label, useVerdicts }
  }
  if (file === null) return null
  const { source, label, key, runKey } = file
  return { ...common, label, useVerdicts, labels: { source: { sourceId: source.sourceId }, key, runKey } }
}

/**
 * The positives after a value was given other rules. Where labels were names of rules until now, `taken` has the rules
 * that each value was taken for, so that the other values keep theirs.
 */
export function changePositives(
  positives: readonly Positive[],
  taken: readonly { value: string; rules: readonly string[] }[],
  value: string,
  rules: readonly string[],
): Positive[] {
  const before =
    positives.length > 0
      ? positives
      : taken.flatMap((one) => one.rules.map((rule) => ({ value: one.value, rule })))
  const others = before.filter((one) => toComparable(one.value) !== toComparable(value))
  return [...others, ...rules.map((rule) => ({ value, rule }))]
}

/** The column that the labels are in, with its values in some rows; null where none is chosen. */
export function findLabelColumn(settings: LabelSettings, choices: LabelChoices): LabelColumn | null {
  const { place, column, file } = settings
  if (place === 'verdicts' || place === 'rules') return null
  const columns = place === 'file' ? (file?.columns ?? []) : choices.columns
  return columns.find(({ name }) => name === (place === 'file' ? file?.label : column)) ?? null
}

export function findMeaning(positives: readonly Positive[], value: string): string[] {
  const wanted = toComparable(value)
  return positives.filter((one) => toComparable(one.value) === wanted).map(({ rule }) => rule)
}
