import type {
  ChangedRows,
  ChangeFilter,
  ComparedGroup,
  CompareOptions,
  DecisionComparison,
  Flips,
} from '../../../shared/lookback/comparison.ts'
import { toComparable } from '../../../shared/lookback/labels.ts'
import { toMcNemarP } from '../../../shared/lookback/paired-rule.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { formatCount, formatCounted, formatShare } from '../../../shared/messages/figure-text.ts'
import {
  sayRenamedOver,
  toRuleNameKey,
  warnOfMissingModels,
  warnOfNoResult,
  warnOfSharedTasks,
} from '../../../shared/run/counts.ts'
import { countLeftOut } from '../../../shared/run/item-state.ts'
import type { RunFamily } from '../journal/run-family.ts'
import { refuseSource } from '../results/export-run.ts'
import { summarizeRun } from '../results/run-summary.ts'
import { countAnswers, listFormerNames, readRuleNames } from '../run/results/family-counts.ts'
import { type ChosenChanges, formatOutcome, listChangedRows, writeChangedRows } from './changed-rows.ts'
import { compareByLabels } from './compare-labels.ts'
import { countEdited, type EditedRows } from './edited-rows.ts'
import type { JoinKey } from './join-key.ts'
import type { KeptPairs } from './kept-pairs.ts'
import type { PairedRows, PairKind } from './paired-rows.ts'
import { sayDoubled } from './row-labels.ts'
import { compareScores } from './score-moves.ts'

/** Most kinds of differing outcomes that a document lists; rows of further ones are only counted. */
const OUTCOMES_LISTED = 30

/** Below this share of rows with a partner, the key is probably not the right one. */
const FEW_JOINED = 0.5

/**
 * Compares what the service decided in two runs, each with its retries: which rules newly trigger and which
 * no longer do, which rows ended differently, how scores moved, and with labels how right each run was.
 * Throws `BAD_USAGE` if the runs have no decisions or differ in their operation, or if a column or rule does
 * not exist.
 */
export async function compareDecisions(
  kept: KeptPairs,
  a: RunFamily,
  b: RunFamily,
  options: CompareOptions,
): Promise<DecisionComparison> {
  refuseOthers(a, b)
  if (options.exportFile !== undefined) {
    for (const run of [a, b]) refuseSource(run, options.exportFile, options.labels?.labels)
  }
  const { pairs, key } = kept.join(a, b, options.by)
  const { joined, cached, edited, unanswered, outcomes, scores, scored_rows } = tallyOnce(a, b, pairs, key)
  const rows: ChosenChanges = { a, b, pairs, filter: findRuleOf(options.list, pairs), key }
  const runs = { a: describeRun(a, pairs, 'a'), b: describeRun(b, pairs, 'b') }
  const byLabels = options.labels === null ? null : await compareByLabels(a, b, pairs, options.labels)
  return {
    joined_by: key.name,
    ...runs,
    joined,
    unfinished: pairs.unfinished,
    ...pairs.leftOut,
    unanswered,
    // A hash of content says nothing to a person.
    ambiguous_keys: key.name === 'content' ? [] : pairs.ambiguousKeys,
    from_cache: toChanged(cached.rows, cached.changed),
    outcomes,
    scored_rows,
    scores,
    labels: byLabels?.figures ?? null,
    listed: listChangedRows(rows, options),
    exported: options.exportFile === undefined ? null : await writeChangedRows(rows, options.exportFile),
    warnings: [
      ...listWarnings(runs, pairs, key.name, { cached, edited }),
      ...new Set([a, b].flatMap(({ record }) => sayDoubled(options.by === null ? [] : [options.by], record))),
      ...sayRenamedOver([a, b].flatMap(listNameKeys)),
      ...sayOddAnswers('A', a),
      ...sayOddAnswers('B', b),
      ...(byLabels?.warnings ?? []),
    ],
  }
}

/** A page of the changed rows of two runs that {@link compareDecisions} compared, and their total number. */
export function listChanges(
  kept: KeptPairs,
  a: RunFamily,
  b: RunFamily,
  { by, list, ...page }: Pick<CompareOptions, 'by' | 'list' | 'offset' | 'limit'>,
): ChangedRows {
  refuseOthers(a, b)
  const { pairs, key } = kept.join(a, b, by)
  return listChangedRows({ a, b, pairs, filter: findRuleOf(list, pairs), key }, page)
}

function refuseOthers(a: RunFamily, b: RunFamily): void {
  for (const { record } of [a, b]) {
    if (record.plan.load !== undefined) {
      throw new SluiceError({ id: 'comparison_of_load_test', runId: record.runId })
    }
  }
  const [operation, otherOperation] = [a.record.plan.operation.kind, b.record.plan.operation.kind]
  if (operation === otherOperation) return
  throw new SluiceError({ id: 'comparison_of_operations', operation, otherOperation })
}

/** The filter with the number of its rule. Throws `BAD_USAGE` if no row of either run triggered it. */
function findRuleOf(filter: ChangeFilter, { rules }: PairedRows): ChosenChanges['filter'] {
  if (!('rule' in filter)) return { kind: filter.kind, rule: null }
  const wanted = toComparable(filter.rule)
  const number = rules.findIndex(({ rule, ruleIds }) =>
    [rule, ...ruleIds].some((name) => toComparable(name) === wanted),
  )
  if (number !== -1) return { kind: filter.kind, rule: number }
  throw new SluiceError({
    id: 'list_of_unknown_rule',
    rule: filter.rule,
    rules: rules.map(({ rule }) => rule),
  })
}

/** Outcomes that say nothing about the service's decision. */
const UNANSWERED = /^(failed|unknown|overdue|no_result)\b/

interface CachedTally {
  rows: number
  changed: number
  /** Answered in both runs with different rules, so that the decision cannot have come from the cache. */
  decidedAnew: number
}

type Tallied = ReturnType<typeof tallyPairs> &
  ReturnType<typeof compareScores> & { edited: EditedRows | null }

const tallied = new WeakMap<PairedRows, Tallied>()

/** Sums over the pairs, computed once. */
function tallyOnce(a: RunFamily, b: RunFamily, pairs: PairedRows, key: JoinKey): Tallied {
  const known = tallied.get(pairs) ?? {
    ...tallyPairs(pairs),
    ...compareScores(a, b, pairs),
    // Rows that are joined by their content have the same one.
    edited: key.name === 'content' ? null : countEdited(a, b, pairs),
  }
  tallied.set(pairs, known)
  return known
}

function tallyPairs({ kinds: pairKinds, rules }: PairedRows): {
  joined: ComparedGroup
  cached: CachedTally
  unanswered: number
  outcomes: DecisionComparison['outcomes']
} {
  let unanswered = 0
  const joined = new GroupTally(rules)
  const cached: CachedTally = { rows: 0, changed: 0, decidedAnew: 0 }
  const outcomes = new Map<string, DecisionComparison['outcomes']['listed'][number]>()
  for (const kind of pairKinds) {
    joined.add(kind)
    const { a, b, rows } = kind
    if (kind.isCached) {
      cached.rows += rows
      if (kind.isChanged) cached.changed += rows
      if (kind.isChanged && kind.isDecided) cached.decidedAnew += rows
    }
    if (a.outcome === b.outcome) {
      if (UNANSWERED.test(a.outcome)) unanswered += rows
      continue
    }
    const [from, to] = [formatOutcome(a.outcome), formatOutcome(b.outcome)]
    const known = outcomes.get(`${from}\n${to}`)
    outcomes.set(`${from}\n${to}`, { a: from, b: to, rows: rows + (known?.rows ?? 0) })
  }
  const kinds = [...outcomes.values()].sort(
    (x, y) => y.rows - x.rows || (x.b < y.b ? -1 : x.b > y.b ? 1 : x.a < y.a ? -1 : 1),
  )
  return {
    joined: joined.toGroup(),
    cached,
    unanswered,
    outcomes: {
      listed: kinds.slice(0, OUTCOMES_LISTED),
      further_rows: kinds.slice(OUTCOMES_LISTED).reduce((sum, { rows }) => sum + rows, 0),
    },
  }
}

type Counts = Pick<Flips, 'both' | 'newly' | 'no_longer'>

/** Adds up pairs by whether they changed, and by rule. */
class GroupTally {
  readonly #rules: PairedRows['rules']
  readonly #byRule: Counts[]
  readonly #overall: Counts = { both: 0, newly: 0, no_longer: 0 }
  #rows = 0
  #changed = 0
  #decided = 0

  constructor(rules: PairedRows['rules']) {
    this.#rules = rules
    this.#byRule = rules.map(() => ({ both: 0, newly: 0, no_longer: 0 }))
  }

  add({ a: { rules: inA }, b: { rules: inB }, isDecided, isChanged, rows }: PairKind): void {
    this.#rows += rows
    if (isChanged) this.#changed += rows
    if (!isDecided) return
    this.#decided += rows
    addFlip(this.#overall, inA.length > 0, inB.length > 0, rows)
    for (const number of new Set([...inA, ...inB])) {
      const flips = this.#byRule[number]
      if (flips !== undefined) addFlip(flips, inA.includes(number), inB.includes(number), rows)
    }
  }

  toGroup(): ComparedGroup {
    const decided = this.#decided
    const complete = ({ both, newly, no_longer }: Counts): Flips => ({
      both,
      newly,
      no_longer,
      neither: decided - both - newly - no_longer,
      p: toMcNemarP(newly, no_longer),
    })
    return {
      ...toChanged(this.#rows, this.#changed),
      decided,
      overall: complete(this.#overall),
      rules: this.#byRule
        .map((counts, number) => {
          const { rule = '', ruleIds = [] } = this.#rules[number] ?? {}
          return { rule, rule_ids: ruleIds, ...complete(counts) }
        })
        .sort(
          (x, y) =>
            y.newly + y.no_longer - x.newly - x.no_longer || y.both - x.both || (x.rule < y.rule ? -1 : 1),
        ),
    }
  }
}

function toChanged(rows: number, changed: number): DecisionComparison['from_cache'] {
  return { rows, changed, share: rows === 0 ? null : changed / rows }
}

function addFlip(flips: Counts, inA: boolean, inB: boolean, rows: number): void {
  if (inA && inB) flips.both += rows
  else if (inB) flips.newly += rows
  else if (inA) flips.no_longer += rows
}

type ComparedSide = DecisionComparison['a']

function describeRun(family: RunFamily, pairs: PairedRows, side: 'a' | 'b'): ComparedSide {
  const { run_id, name, created_at, state } = summarizeRun(family)
  const { rows, unfinished, withoutKey, ambiguous } = pairs[side]
  return {
    run_id,
    name,
    created_at,
    state,
    rows,
    unfinished,
    only_here: rows - withoutKey - ambiguous - countTogether(pairs),
    without_key: withoutKey,
    ambiguous,
  }
}

/** Rows that belong together, joined or not. */
function countTogether({ joined, unfinished, leftOut }: PairedRows): number {
  return joined + unfinished + countLeftOut(leftOut)
}

function sayEdited({ changed, lookedAt, edited }: EditedRows): string {
  const rows = `Of ${formatCounted(changed, 'row')} that ${changed === 1 ? 'triggers' : 'trigger'} other rules`
  const share =
    lookedAt < changed
      ? `, ${formatCount(lookedAt)} were looked at: ${formatCount(edited)} of them`
      : `, ${formatCount(edited)}`
  const [were, them, differs] = edited === 1 ? ['was', 'it', 'it differs'] : ['were', 'them', 'they differ']
  return `${rows}${share} ${were} sent with another text or address in B, which may be why ${differs}. To leave ${them} out, join rows by content.`
}

function listWarnings(
  { a, b }: { a: ComparedSide; b: ComparedSide },
  pairs: PairedRows,
  key: string,
  { cached, edited }: Pick<Tallied, 'cached' | 'edited'>,
): string[] {
  const fewer = Math.min(a.rows, b.rows)
  const otherWays = ['row', 'content'].filter((way) => way !== key).join(', ')
  const together = countTogether(pairs)
  return [
    ...describeUnfinished('A', a),
    ...describeUnfinished('B', b),
    ...(together < fewer * FEW_JOINED
      ? [
          `Only ${formatCount(together)} of ${formatCounted(fewer, 'row')} were found in both runs by ${key}. Try to join them in another way: by ${otherWays} or a column.`,
        ]
      : []),
    ...(a.ambiguous + b.ambiguous > 0
      ? [
          `${formatCounted(a.ambiguous, 'row')} of A and ${formatCount(b.ambiguous)} of B are not compared: several rows have the same ${key}.`,
        ]
      : []),
    ...(edited === null || edited.edited === 0 ? [] : [sayEdited(edited)]),
    ...(cached.rows > 0 && cached.decidedAnew === 0
      ? [
          `For ${formatCounted(cached.rows, 'row')} (${formatShare(cached.rows, pairs.joined)}), the service had analysed the content before (from_cache), and none of them triggers other rules now. If the service also keeps its decisions in its cache, a change of rules does not show on these rows.`,
        ]
      : []),
  ]
}

function sayOddAnswers(name: string, run: RunFamily): string[] {
  const empty = warnOfNoResult(countAnswers(run, 'no_result'), 'row', { areLeftOut: true })
  const differing = countAnswers(run, 'differing_callbacks')
  const inDoubt = countAnswers(run, 'callback_in_doubt')
  return [
    ...empty.map(({ message }) => message),
    ...warnOfMissingModels(countAnswers(run, 'missing_models'), 'row').map(({ message }) => message),
    ...warnOfSharedTasks(countAnswers(run, 'shared_task'), 'row').map(({ message }) => message),
    ...(differing > 0
      ? [
          `${formatCounted(differing, 'row')} got callbacks that differ. Compared is the one that counts; another one said something else.`,
        ]
      : []),
    ...(inDoubt > 0
      ? [
          `${formatCounted(inDoubt, 'row')} ${inDoubt === 1 ? 'has' : 'have'} the result of a callback that may answer what was sent before a correction.`,
        ]
      : []),
  ].map((message) => `${name}: ${message}`)
}

/** The keys of all names that a run has for its rules. */
function listNameKeys(family: RunFamily): string[] {
  const newest = [...readRuleNames(family.members)].map(([ruleId, name]) => toRuleNameKey(ruleId, name))
  return [...newest, ...listFormerNames(family)]
}

/** Says that a run is not over, or that it ended early, and that its open rows are left out. */
function describeUnfinished(name: string, { state, rows, unfinished }: ComparedSide): string[] {
  const open = `${formatCount(unfinished)} of its ${formatCounted(rows, 'row')} have no outcome yet and are not compared.`
  if (state === 'running') {
    return [`${name} is still running.${unfinished === 0 ? ' Its rows may still change.' : ` ${open}`}`]
  }
  if (unfinished === 0) return []
  return [
    `${name} ${state === 'completed' ? 'is complete, but was a trial of its first rows or waits for callbacks' : 'ended early'}: ${open}`,
  ]
}
