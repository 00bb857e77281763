import { useMemo } from 'react'
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

/** A rule column as a person types it; `share` is empty if cells say yes or no. */
export interface TypedRuleColumn {
  column: string
  rule: string
  share: string
}

/** Columns for rules. Guessed ones are not evaluated until a person confirms them. */
export interface RuleColumnChoice {
  columns: readonly TypedRuleColumn[]
  isGuess: boolean
}

/** A chosen file of labels: its columns, the one with the labels, and how its rows are found in the run. */
interface LabelFile {
  source: ChosenSource
  /** Each with its values in the first rows. */
  columns: readonly LabelColumn[]
  label: string
  /** Whether it has a column for each rule, instead of one with all labels. */
  hasRuleColumns: boolean
  ruleColumns: RuleColumnChoice
  key: string
  /** Column of the run, `sluice_row` or `post_id`. */
  runKey: string
}

export interface LabelSettings {
  place: LabelPlace
  column: string | null
  ruleColumns: RuleColumnChoice
  file: LabelFile | null
  useVerdicts: boolean
  separator: string
  /** Whether rows with an empty label should trigger no rule; otherwise they count as unlabelled. */
  emptyIsNegative: boolean
  /** Empty if labels are names of rules. */
  positives: readonly Positive[]
  slices: readonly string[]
  scores: readonly { className: string; rule: string }[]
}

/** Remembers the choices for each run while the window is open; what is missing is still suggested. */
const useSettings = create<{ byRun: Record<string, Partial<LabelSettings>> }>(() => ({ byRun: {} }))

function remember(runId: string, part: Partial<LabelSettings>): void {
  useSettings.setState(({ byRun }) => ({ byRun: { ...byRun, [runId]: { ...byRun[runId], ...part } } }))
}

/** Chooses the verdicts on a run as its labels. */
export function chooseVerdicts(runId: string): void {
  remember(runId, { place: 'verdicts' })
}

/** The choices about the labels of a run, initially suggested by its columns; null until these are known. */
export function useLabelSettings(
  runId: string,
  choices: LabelChoices | null,
): [LabelSettings | null, (part: Partial<LabelSettings>) => void] {
  const known = useSettings(({ byRun }) => byRun[runId])
  const settings = useMemo(
    () => (choices === null ? null : { ...suggestLabels(choices), ...known }),
    [choices, known],
  )
  return [settings, (part) => settings !== null && remember(runId, { ...settings, ...part })]
}

export function suggestLabels(choices: LabelChoices): LabelSettings {
  const { guess, verdicts } = choices
  const ruleColumns = guessColumnsOfRules(choices.columns, choices)
  return {
    place: isRatherRules(ruleColumns, guess)
      ? 'rules'
      : guess === null && verdicts > 0
        ? 'verdicts'
        : 'column',
    column: guess?.label ?? null,
    ruleColumns,
    file: null,
    useVerdicts: verdicts > 0,
    separator: guess?.separator ?? '',
    emptyIsNegative: false,
    positives: guess?.positives ?? [],
    slices: [],
    scores: [],
  }
}

function guessColumnsOfRules(columns: readonly LabelColumn[], { rules }: LabelChoices): RuleColumnChoice {
  const found = guessRuleColumns(
    columns,
    rules.map(({ rule }) => rule),
  )
  return { columns: found.map((one) => ({ ...one, share: '' })), isGuess: found.length > 0 }
}

/** Whether labels are more likely in rule columns than in the guessed column, which may be one of these. */
function isRatherRules({ columns }: RuleColumnChoice, guess: LabelChoices['guess']): boolean {
  if (guess === null) return columns.length > 0
  return columns.length > 1 && columns.some(({ column }) => column === guess.label)
}

/** The complete rule columns: those with a rule, and with a valid condition if there is one. */
export function listRuleColumns(columns: readonly TypedRuleColumn[]): RuleColumn[] {
  return columns.flatMap(({ column, rule, share: typed }) => {
    const share = typed.trim() === '' ? null : parseShare(typed)
    const isWhole = rule.trim() !== '' && (typed.trim() === '' || share !== null)
    return isWhole ? [{ column, rule: rule.trim(), share }] : []
  })
}

/** The settings with a column of labels, and the meaning that its values suggest. */
export function withColumn(column: LabelColumn, choices: LabelChoices): Partial<LabelSettings> {
  const { positives, separator } = guessMeaning(
    column,
    choices.rules.map(({ rule }) => rule),
  )
  return { positives, separator: separator ?? '' }
}

/** A file of labels with the columns and meanings that its first rows suggest. */
export function readLabelFile(
  source: ChosenSource,
  { columns, rows }: Pick<BridgePreview, 'columns' | 'rows'>,
  choices: LabelChoices,
): Partial<LabelSettings> {
  const names = choices.columns.map(({ name }) => name)
  const keys = [...names, 'sluice_row', 'post_id', 'sluice_post_id']
  const key = columns.find((name) => keys.includes(name)) ?? columns[0] ?? ''
  const counted = columns.map((name, at) => countValues(name, at, rows))
  const others = counted.filter(({ name }) => name !== key)
  const guess = guessLabels(
    others,
    choices.rules.map(({ rule }) => rule),
  )
  const ruleColumns = guessColumnsOfRules(others, choices)
  const label = guess?.label ?? columns.findLast((name) => name !== key) ?? key
  return {
    file: {
      source,
      columns: counted,
      label,
      hasRuleColumns: isRatherRules(ruleColumns, guess),
      ruleColumns,
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

/** The question for the engine; null if something is missing. */
export function toQuestion(settings: LabelSettings | null): EvaluateQuestionInput | null {
  if (settings === null) return null
  const { place, column, ruleColumns, file, useVerdicts, separator, positives } = settings
  const common = {
    separator: separator === '' ? null : separator,
    emptyIsNegative: settings.emptyIsNegative,
    positives: [...positives],
    slices: [...settings.slices],
    scores: [...settings.scores],
  }
  // Verdicts already name their rules.
  if (place === 'verdicts') return { ...common, positives: [], label: null, useVerdicts: true }
  if (place === 'column') return column === null ? null : { ...common, label: column, useVerdicts }
  if (place === 'rules') {
    const asked = askByRuleColumns(ruleColumns)
    return asked === null ? null : { ...common, ...asked, useVerdicts }
  }
  if (file === null) return null
  const { source, label, key, runKey } = file
  const asked = file.hasRuleColumns ? askByRuleColumns(file.ruleColumns) : { label }
  if (asked === null) return null
  return { ...common, ...asked, useVerdicts, labels: { source: { sourceId: source.sourceId }, key, runKey } }
}

function askByRuleColumns({ columns, isGuess }: RuleColumnChoice) {
  const label = listRuleColumns(columns)
  if (isGuess || label.length === 0) return null
  return { positives: label.map(({ rule }) => ({ value: rule, rule })), separator: null, label }
}

/** The rule columns with the labels; null if labels are elsewhere. */
export function findRuleColumns({ place, ruleColumns, file }: LabelSettings): RuleColumnChoice | null {
  if (place === 'rules') return ruleColumns
  return place === 'file' && file?.hasRuleColumns ? file.ruleColumns : null
}

/**
 * The positives after a value was given other rules. If labels were names of rules until now, `taken` has the
 * rules of each value, so that the other values keep theirs.
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

/** Whether the column and the meaning of its values are still the guessed ones. */
export function isGuessed({ place, column, positives }: LabelSettings, { guess }: LabelChoices): boolean {
  return place === 'column' && column === guess?.label && positives === guess.positives
}

/** The column with the labels, with its values in some rows; null if none is chosen. */
export function findLabelColumn(settings: LabelSettings, choices: LabelChoices): LabelColumn | null {
  const { place, column, file } = settings
  if (place === 'verdicts' || findRuleColumns(settings) !== null) return null
  const columns = place === 'file' ? (file?.columns ?? []) : choices.columns
  return columns.find(({ name }) => name === (place === 'file' ? file?.label : column)) ?? null
}

export function findMeaning(positives: readonly Positive[], value: string): string[] {
  const wanted = toComparable(value)
  return positives.filter((one) => toComparable(one.value) === wanted).map(({ rule }) => rule)
}
