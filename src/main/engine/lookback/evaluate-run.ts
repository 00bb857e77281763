import { checkAssertion, isKnownSubject } from '../../../shared/lookback/assertion.ts'
import { WHEN_SCORES } from '../../../shared/lookback/comparison-text.ts'
import type { DrawnScore, EvaluateOptions, Evaluation } from '../../../shared/lookback/evaluation.ts'
import { isMostlyUnanswered, sayUnanswered } from '../../../shared/lookback/evaluation-view.ts'
import {
  Evaluator,
  type LabelledKind,
  type ScoredTarget,
  SLICE_VALUES_MAX,
} from '../../../shared/lookback/evaluator.ts'
import { findRule, Labels, type Positive, toComparable } from '../../../shared/lookback/labels.ts'
import type { Verdict } from '../../../shared/lookback/verdict.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { toRowAndRecord } from '../../../shared/plan/source-place.ts'
import {
  warnOfMissingModels,
  warnOfNoResult,
  warnOfRuleNames,
  warnOfSharedTasks,
} from '../../../shared/run/counts.ts'
import type { RunFamily } from '../journal/run-family.ts'
import { refuseSource } from '../results/export-run.ts'
import { readScoredClasses } from '../run/export/export-rows.ts'
import {
  countAnswers,
  countRowsRead,
  listFormerNames,
  readFamilyCounts,
  readRuleNames,
} from '../run/results/family-counts.ts'
import { readPlace } from '../run/results/row-places.ts'
import { type AnsweredStep, readAnsweredSteps } from './answered-rows.ts'
import { writeEvaluatedRows } from './evaluated-rows.ts'
import { CellLists, EvaluatedCells } from './matrix-cells.ts'
import {
  countUnread,
  createLabelReader,
  type LabelReader,
  type PlacedLabel,
  type RowLabel,
  sayDoubled,
} from './row-labels.ts'
import { createSlices } from './slices.ts'

/** Most label values that a document lists; the rest are only counted. */
const VALUES_LISTED = 100

/** An evaluation, how to draw its scores, and the cells of its rows if these are to be kept. */
export interface EvaluatedRun {
  evaluation: Evaluation
  drawn: DrawnScore[]
  cells: EvaluatedCells | null
}

/** See {@link evaluateInSteps}; all steps at once. */
export async function evaluateRun(family: RunFamily, options: EvaluateOptions): Promise<Evaluation> {
  const steps = evaluateInSteps(family, options)
  for (;;) {
    const step = await steps.next()
    if (step.done) return step.value.evaluation
  }
}

/**
 * Compares the rules of a run and its retries with labels: what was right, what triggered wrongly and what
 * was missed. Reads the run at most twice, a few thousand rows at a time, and yields its progress after each
 * step. Throws `BAD_USAGE` if there is nothing to evaluate, or a column or rule does not exist.
 */
export async function* evaluateInSteps(
  family: RunFamily,
  options: EvaluateOptions,
  { keepsCells = false }: { keepsCells?: boolean } = {},
): AsyncGenerator<{ rows: number; of: number }, EvaluatedRun, undefined> {
  refuseOthers(family)
  if (options.exportFile !== undefined) refuseSource(family, options.exportFile, options.labels)
  const reader = await createLabelReader(family, options)
  const rules = readRuleNames(family.members)
  const labels = new Labels(rules, options)
  const progress = { rows: 0, of: countRowsRead(family) }
  if (options.positives.length === 0) {
    progress.of *= 2
    for (const noticed of noticeLabels(family, reader, labels)) {
      progress.rows += noticed
      yield progress
    }
  }
  const scoredClasses = readScoredClasses(family)
  const scored = findScoredTargets(scoredClasses, labels, options)
  const evaluator = new Evaluator({ ...options, targets: labels.targets, scored })
  const judge = createRowJudge(labels)
  const slices = createSlices(family, options.slices)
  const cells = new CellLists(options.list, labels, (record) =>
    toRowAndRecord(record, readPlace(family, record)),
  )
  const kept = keepsCells ? new EvaluatedCells(labels) : null
  let verdictRows = 0
  let deniedRows = 0
  const ofLabels = new LabelledRows(labels)
  const rows = {
    read: 0,
    evaluated: 0,
    without_label: 0,
    unsure: 0,
    conflicting_label: 0,
    without_answer: 0,
  }
  const classes = scored.map(({ className }) => className)
  const columns = [...reader.columns, ...slices.flatMap(({ column }) => column ?? [])]
  for (const step of readAnsweredSteps(family, { columns, classes })) {
    const scores = step.scores(classes)
    const kinds = new StepKinds(step, judge, scored)
    const labelAt = reader.open(step)
    let read = 0
    for (let place = 0; place < step.width; place += 1) {
      if (step.owner[place] === 0) continue
      read += 1
      const placed = labelAt(place)
      const { kind } = placed.label
      if (kind === 'none') {
        rows.without_label += 1
        countUnread(placed.label)
      } else if (kind === 'unsure') rows.unsure += 1
      else if (kind === 'conflict') rows.conflicting_label += 1
      else if (step.answered[place] === 0) rows.without_answer += 1
      else kinds.add(place, placed)
    }
    for (const kind of kinds.kinds) {
      rows.evaluated += kind.rows
      if (kind.label.kind === 'text') {
        ofLabels.count(kind.label.text, kind.expected, kind.rows)
      } else {
        verdictRows += kind.rows
        if (deniesNothing(kind, labels)) deniedRows += kind.rows
      }
      evaluator.add(kind, kind.rows)
    }
    for (const [slice, { open }] of slices.entries()) addSlice(evaluator, slice, kinds, open(step))
    for (const [index, own] of scores.entries()) addScores(evaluator, index, kinds, own)
    if (cells.choices.length > 0) cells.add(step, (place) => kinds.at(place), rules)
    if (kept !== null) keepCells(kept, kinds)
    rows.read += read
    progress.rows += read
    yield progress
  }
  if (rows.evaluated === 0) {
    const { runId } = family.record
    const { without_answer: withoutAnswer } = rows
    if (withoutAnswer > 0 && options.assertions.length > 0) {
      throw new SluiceError({ id: 'assertions_unanswered', runId, withoutAnswer })
    }
    throw new SluiceError({ id: 'evaluation_without_labels', runId, withoutAnswer })
  }
  refuseNoTargets(labels, rules, options.positives, verdictRows > 0)
  const { judged, drawn } = evaluator.judge(reader.strata.populations)
  for (const assertion of options.assertions) {
    if (isKnownSubject(assertion, judged)) continue
    const { expression } = assertion
    throw new SluiceError({
      id: 'assertion_of_unknown_rule',
      expression,
      rules: labels.targets.map(({ rule }) => rule),
    })
  }
  const values = [...labels.values.values()].sort((a, b) => b.rows - a.rows || (a.value < b.value ? -1 : 1))
  const unread = labels.listUnread()
  // A rule that no row triggers any more is known only by its name in a label.
  const knowsLabels = unread.length === 0 || options.positives.length > 0
  const evaluation: Evaluation = {
    run_id: family.record.runId,
    name: family.record.name,
    labels: {
      from: [
        ...(options.label === null ? [] : ([options.labels === undefined ? 'column' : 'file'] as const)),
        ...(options.useVerdicts ? ['verdicts' as const] : []),
      ],
      values: values.slice(0, VALUES_LISTED).map(({ value, rows: counted, targets }) => ({
        value,
        rows: counted,
        rules: targets.map((target) => labels.targets[target]?.rule ?? ''),
      })),
      further_values: values.length - Math.min(values.length, VALUES_LISTED),
      verdict_rows: verdictRows,
      ...(unread.length > 0 && { unread: unread.slice(0, VALUES_LISTED) }),
    },
    rows,
    strata: listStrata(reader.strata, evaluator.countLabelled()),
    ...judged,
    not_judged: listNotJudged(family, rules, labels),
    assertions: options.assertions.map((assertion) => checkAssertion(assertion, judged, knowsLabels)),
    listed: cells.lists,
    exported:
      options.exportFile === undefined
        ? null
        : await writeEvaluatedRows(family, options.exportFile, {
            labels,
            choices: cells.choices,
            columns: reader.columns,
            open(step) {
              const labelAt = reader.open(step)
              return (place) => {
                const { label } = labelAt(place)
                if (label.kind !== 'text' && label.kind !== 'verdicts') return null
                return { text: toLabelText(label), ...judge(step.ruleIdsAt(place), label) }
              }
            },
          }),
    warnings: [
      ...(isMostlyUnanswered(rows) ? [sayUnanswered(rows)] : []),
      ...[
        ...warnOfNoResult(countAnswers(family, 'no_result'), 'row', { areLeftOut: true }),
        ...warnOfMissingModels(countAnswers(family, 'missing_models'), 'row'),
        ...warnOfSharedTasks(countAnswers(family, 'shared_task'), 'row'),
        ...warnOfRuleNames(listFormerNames(family)),
      ].map(({ message }) => message),
      ...sayNoNegatives(ofLabels, rows.without_label, options),
      ...reader.listNotes(),
      ...sayDoubled(options.slices, family.record),
      ...sayDenied(deniedRows),
      ...listWarnings(
        labels,
        rules,
        scored,
        scoredClasses,
        options,
        reader.strata,
        evaluator.countLabelled(),
      ),
    ],
  }
  return { evaluation, drawn, cells: kept }
}

/** Rows of a step with the same label that triggered the same rules. */
interface StepKind extends LabelledKind {
  label: RowLabel
  text: string
  ruleIds: readonly string[]
  rows: number
  /** For each judged class, whether its scores should be high. */
  isExpected: readonly boolean[]
}

/** The kinds of the evaluated rows in a step, since most rows share a few kinds. */
class StepKinds {
  readonly step: AnsweredStep
  readonly kinds: StepKind[] = []
  readonly #judge: ReturnType<typeof createRowJudge>
  readonly #scored: readonly ScoredTarget[]
  /** By label, then by set of rules. */
  readonly #numberOf = new Map<PlacedLabel, Map<number, number>>()
  /** The number of each row's kind plus one; 0 for none. */
  readonly of: Uint16Array

  constructor(step: AnsweredStep, judge: ReturnType<typeof createRowJudge>, scored: readonly ScoredTarget[]) {
    this.step = step
    this.of = new Uint16Array(step.width)
    this.#judge = judge
    this.#scored = scored
  }

  at(place: number): StepKind | null {
    return this.kinds[(this.of[place] ?? 0) - 1] ?? null
  }

  add(place: number, placed: PlacedLabel): void {
    let numbers = this.#numberOf.get(placed)
    if (numbers === undefined) {
      numbers = new Map()
      this.#numberOf.set(placed, numbers)
    }
    const { step } = this
    const decision = step.decisionAt(place)
    let number = numbers.get(decision)
    if (number === undefined) {
      number = this.kinds.push(this.#toKind(place, placed))
      numbers.set(decision, number)
    }
    this.of[place] = number
    const kind = this.kinds[number - 1]
    if (kind !== undefined) kind.rows += 1
  }

  #toKind(place: number, { label, stratum }: PlacedLabel): StepKind {
    const ruleIds = this.step.ruleIdsAt(place)
    const judged = this.#judge(ruleIds, label)
    const isExpected = this.#scored.map(({ target }) => judged.expected.includes(target))
    return { ...judged, stratum, label, text: toLabelText(label), ruleIds, rows: 0, isExpected }
  }
}

function addSlice(
  evaluator: Evaluator,
  slice: number,
  { step, kinds, of }: StepKinds,
  valueAt: (place: number) => string,
): void {
  const counts = new Uint16Array(kinds.length * (SLICE_VALUES_MAX + 1))
  for (let place = 0; place < step.width; place += 1) {
    const number = of[place] ?? 0
    if (number === 0) continue
    const at = evaluator.toSlot(slice, valueAt(place)) * kinds.length + number - 1
    counts[at] = (counts[at] ?? 0) + 1
  }
  for (let at = 0; at < counts.length; at += 1) {
    const rows = counts[at] ?? 0
    const kind = kinds[at % kinds.length]
    if (rows > 0 && kind !== undefined) {
      evaluator.addToSlot(slice, Math.floor(at / kinds.length), kind, rows)
    }
  }
}

function addScores(
  evaluator: Evaluator,
  index: number,
  { kinds, of }: StepKinds,
  scores: ArrayLike<number>,
): void {
  for (let place = 0; place < of.length; place += 1) {
    const kind = kinds[(of[place] ?? 0) - 1]
    if (kind !== undefined) {
      evaluator.addScore(index, scores[place] ?? Number.NaN, kind.stratum, kind.isExpected[index] ?? false)
    }
  }
}

function keepCells(kept: EvaluatedCells, { step, kinds, of }: StepKinds): void {
  const numbers = kinds.map((kind) => kept.toNumber(kind))
  for (let place = 0; place < of.length; place += 1) {
    const number = numbers[(of[place] ?? 0) - 1]
    if (number !== undefined) kept.add(step.rowAt(place), number)
  }
}

function refuseOthers({ record: { runId, plan } }: RunFamily): void {
  if (plan.operation.kind === 'task' && plan.load === undefined) return
  throw new SluiceError({ id: 'evaluation_not_of_tasks', runId })
}

/**
 * Finds the rules that labels and verdicts name, so that all others are left out from the first row on.
 * Yields the number of rows in each step.
 */
export function* noticeLabels(
  family: RunFamily,
  { columns, open }: Pick<LabelReader, 'columns' | 'open'>,
  labels: Labels,
): Generator<number, void, undefined> {
  for (const step of readAnsweredSteps(family, { columns })) {
    const labelAt = open(step)
    const noticed = new Set<PlacedLabel>()
    let rows = 0
    for (let place = 0; place < step.width; place += 1) {
      if (step.owner[place] === 0) continue
      rows += 1
      const placed = labelAt(place)
      if (noticed.has(placed)) continue
      const { label } = placed
      // A verdict is about everything that the row triggered.
      if (label.kind === 'verdicts') noticeVerdicts(labels, label.verdicts, step.ruleIdsAt(place))
      else {
        if (label.kind === 'text') labels.notice(label.text)
        noticed.add(placed)
      }
    }
    yield rows
  }
}

/** Notes the rules of a row's verdicts: those that it triggered and those that the verdicts name. */
function noticeVerdicts(labels: Labels, verdicts: readonly Verdict[], ruleIds: readonly string[]): void {
  for (const ruleId of ruleIds) labels.addTarget(ruleId)
  for (const { rule } of verdicts) if (rule !== null) labels.addTarget(rule)
}

/** Creates a function that tells which targets a row should trigger, and which it did. */
export function createRowJudge(
  labels: Labels,
): (ruleIds: readonly string[], label: RowLabel) => Pick<LabelledKind, 'expected' | 'triggered'> {
  const toTargets = labels.createTargetFinder()
  return (ruleIds, label) => {
    const triggered = toTargets(ruleIds)
    if (label.kind === 'text') {
      const values = labels.split(label.text)
      return { expected: labels.toExpected(values), triggered }
    }
    const should = new Set(ruleIds)
    for (const { verdict, rule } of label.kind === 'verdicts' ? label.verdicts : []) {
      for (const ruleId of rule === null ? [] : labels.toRuleIds(rule)) {
        if (verdict === 'should') should.add(ruleId)
        else should.delete(ruleId)
      }
    }
    return { expected: toTargets([...should]), triggered }
  }
}

/**
 * Classes whose scores separate the rows of a target: classes with its name or that of one of its labels, or
 * chosen by the person.
 */
function findScoredTargets(
  classes: readonly string[],
  labels: Labels,
  { scores, positives }: Pick<EvaluateOptions, 'scores' | 'positives'>,
): ScoredTarget[] {
  return classes.flatMap((className) => {
    const named = scores.filter((score) => toComparable(score.className) === toComparable(className))
    const asked = named.map(({ rule }) => labels.addTarget(rule))
    // Several rules of one label cover the same rows, so the first stands for all.
    const byLabel = positives
      .filter(({ value }) => toComparable(value) === toComparable(className))
      .slice(0, 1)
      .map(({ rule }) => labels.addTarget(rule))
    const byName = labels.targets.flatMap(({ rule, ruleIds }, target) =>
      [rule, ...ruleIds].some((name) => toComparable(name) === toComparable(className)) ? [target] : [],
    )
    const targets = asked.length > 0 ? asked : [...byLabel, ...byName]
    return [...new Set(targets)].map((target) => ({ className, target }))
  })
}

/**
 * Throws `BAD_USAGE` if no label names a rule (verdicts do not help) or is mapped: every labelled row
 * would count as harmless. Verdicts take precedence over labels, so all rows with mapped values may have one.
 */
export function refuseNoTargets(
  labels: Labels,
  rules: ReadonlyMap<string, string>,
  positives: readonly Positive[],
  hasVerdicts: boolean,
): void {
  if (labels.isMeaningful() || (positives.length > 0 && hasVerdicts)) return
  const byRows = [...labels.values.values()].sort((a, b) => b.rows - a.rows)
  throw new SluiceError({
    id: 'labels_name_no_rule',
    values: byRows.slice(0, 10).map(({ value }) => value),
    rules: [...new Set(rules.values())].slice(0, 20),
    positives: labels.listUnused(positives).slice(0, 10),
  })
}

/** Counts the evaluated rows with a label of a column or file, and what their labels say. */
export class LabelledRows {
  rows = 0
  /** Rows that should trigger nothing. */
  negatives = 0
  /** Of these, rows whose label says that nothing is wrong. */
  harmless = 0
  readonly #labels: Labels

  constructor(labels: Labels) {
    this.#labels = labels
  }

  count(text: string, expected: readonly number[], rows: number): void {
    const values = this.#labels.split(text)
    this.#labels.count(values, rows)
    this.rows += rows
    if (expected.length > 0) return
    this.negatives += rows
    if (this.#labels.saysNothingIsWrong(values)) this.harmless += rows
  }
}

/**
 * Warns that false alarms on rows with nothing wrong are not seen, since of the evaluated rows with a label
 * none is one. Rows with a verdict instead do not count: who gave it has seen what the row triggered.
 */
export function sayNoNegatives(
  { rows, negatives, harmless }: LabelledRows,
  withoutLabel: number,
  { labels: file, emptyIsNegative = false }: Pick<EvaluateOptions, 'labels' | 'emptyIsNegative'>,
): string[] {
  if (rows === 0 || harmless > 0) return []
  const [are, them] = withoutLabel === 1 ? ['is', 'it'] : ['are', 'them']
  const left = `${formatCounted(withoutLabel, 'row')} without a label ${are} left out`
  // Rows that a file does not have are without a label, whatever an empty one means.
  const hasEmpty = withoutLabel > 0 && !(emptyIsNegative && file === undefined)
  if (negatives > 0) {
    return hasEmpty && file === undefined
      ? [
          `${left}, and no label says that nothing is wrong. If an empty label means that, say so under Labels, or with --empty-negative: false alarms on these rows are not seen.`,
        ]
      : []
  }
  return [
    'Every evaluated row with a label should trigger a rule. False alarms on rows with nothing wrong are not seen, so precision may be far too high.',
    ...(hasEmpty
      ? [
          file === undefined
            ? `${left}. If an empty label means that nothing is wrong, say so under Labels, or with --empty-negative.`
            : `${left}. If nothing is wrong with ${them}, give ${them} a label in the file that says so: \`ok\`, or an empty one with --empty-negative.`,
        ]
      : []),
  ]
}

/** Whether a verdict says that a rule should not have triggered which the row did not trigger. */
function deniesNothing({ label, ruleIds }: StepKind, labels: Labels): boolean {
  return (
    label.kind === 'verdicts' &&
    label.verdicts.some(
      ({ verdict, rule }) =>
        verdict === 'should-not' &&
        rule !== null &&
        !labels.toRuleIds(rule).some((ruleId) => ruleIds.includes(ruleId)),
    )
  )
}

function sayDenied(rows: number): string[] {
  if (rows === 0) return []
  const [have, them] = rows === 1 ? ['has', 'it'] : ['have', 'them']
  return [
    `${formatCounted(rows, 'row')} ${have} a verdict against a rule that did not trigger on ${them}. Such a verdict changes nothing: check the name of the rule.`,
  ]
}

/** Warns of mapped label values that no row has; most are typos. */
export function listUnusedLabels(labels: Labels, positives: readonly Positive[]): string[] {
  return labels.listUnused(positives).map((value) => `No row has the label \`${value}\`.`)
}

function toLabelText(label: RowLabel): string {
  if (label.kind === 'text') return label.text
  if (label.kind !== 'verdicts') return ''
  return label.verdicts
    .map(({ verdict, rule }) => (rule === null ? verdict : `${verdict} ${rule}`))
    .join('; ')
}

function listStrata(
  { names, populations }: { names: readonly string[]; populations: readonly (number | null)[] },
  labelled: readonly number[],
): Evaluation['strata'] {
  if (populations.every((rows) => rows === null)) return null
  return names.map((stratum, index) => ({
    stratum,
    rows: populations[index] ?? labelled[index] ?? 0,
    labelled: labelled[index] ?? 0,
  }))
}

function listNotJudged(
  family: RunFamily,
  rules: ReadonlyMap<string, string>,
  labels: Labels,
): Evaluation['not_judged'] {
  if (labels.anyTarget !== null) return []
  const judged = new Set(labels.targets.flatMap(({ ruleIds }) => ruleIds))
  const counts = readFamilyCounts(family).get('rule') ?? new Map<string, number>()
  return [...rules]
    .filter(([ruleId]) => !judged.has(ruleId))
    .map(([ruleId, rule]) => ({ rule, rows: counts.get(ruleId) ?? 0 }))
    .sort((a, b) => b.rows - a.rows)
}

function listWarnings(
  labels: Labels,
  rules: ReadonlyMap<string, string>,
  scored: readonly ScoredTarget[],
  classes: readonly string[],
  { positives, whatIf, wantedPrecisions, scores }: EvaluateOptions,
  strata: { names: readonly string[]; populations: readonly (number | null)[] },
  labelled: readonly number[],
): string[] {
  const untriggered = labels.targets.filter(
    ({ rule }, target) => findRule(rule, rules) === null && (target !== labels.anyTarget || rules.size === 0),
  )
  const asked = new Set(classes.length === 0 ? [] : [...whatIf, ...scores].map(({ className }) => className))
  const lacksScores = classes.length === 0 && whatIf.length + scores.length + wantedPrecisions.length > 0
  const judged = new Set(scored.map(({ className }) => className))
  return [
    ...listUnusedLabels(labels, positives),
    ...untriggered.map(({ rule }) => `No row triggered the rule \`${rule}\`.`),
    ...(lacksScores ? [`No row has class scores. ${WHEN_SCORES}`] : []),
    ...[...asked]
      .filter((className) => !judged.has(className))
      .map(
        (className) =>
          `Scores of the class \`${className}\` are not judged: no row has one, or no rule or label has its name.`,
      ),
    ...strata.names
      .filter((_, index) => strata.populations[index] !== null && (labelled[index] ?? 0) === 0)
      .map((name) => `The stratum \`${name}\` has no labelled row, so estimates leave it out.`),
  ]
}
