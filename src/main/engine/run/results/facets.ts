import { NO_VERDICT, VERDICTS } from '../../../../shared/lookback/verdict.ts'
import { isOfCause, toErrorGroups, toErrorKey, toInvalidKey } from '../../../../shared/run/counts.ts'
import {
  type Facet,
  type FacetId,
  type FacetList,
  type FacetOf,
  listFacetKinds,
  NO_RULE,
  type RowFilter,
  toFacetLabel,
  withoutGroup,
} from '../../../../shared/run/row-filters.ts'
import { nameRules } from '../../../../shared/run/rule-names.ts'
import type { RunFamily } from '../../journal/run-family.ts'
import { readCauseKey, sayCause } from '../journal/stored-problems.ts'
import { type JudgedRows, readJudgedRows } from '../journal/verdict-store.ts'
import { countRowsRead, countRowsWithRules, readFamilyCounts, readRuleNames } from './family-counts.ts'
import { countFound, countKindRows, pickFound, type Searched } from './found-rows.ts'
import { type Counted, countAll, countStates } from './result-page.ts'
import { hasRule, isOfKind } from './row-kinds.ts'
import { type CountedKind, readJudgedFor } from './row-search.ts'

const JOURNAL_KINDS = listFacetKinds('counters', 'kinds', 'verdicts')

/** The facets that kinds of rows can tell apart. */
type KindFacet = FacetOf<'counters' | 'kinds'>
type JournalCounts = Record<KindFacet, ReadonlyMap<string, number>>
type Counts = Record<(typeof JOURNAL_KINDS)[number], ReadonlyMap<string, number>>

/**
 * Reads the facets of the rows under a filter, from the journal's counters or its indexes, most rows first
 * within a kind. Without a filter the counters answer and nothing is scanned; else `counted` knows the rows.
 */
export function readFacets(view: RunFamily, filter: RowFilter = {}, counted?: Counted): FacetList {
  const judged = readJudgedRows(view)
  if (Object.values(filter).every((value) => value === undefined)) {
    const countVerdict: CountVerdict = (verdict) =>
      verdict === NO_VERDICT ? countRowsRead(view) - judged.all.size : (judged.by.get(verdict)?.size ?? 0)
    const counts = { ...readCounts(view), verdict: countVerdicts(judged, countVerdict) }
    return { facets: toFacets(view, counts), isCounted: true }
  }
  const { index, findings, isCounted } = counted ?? countAll(view, { filter })
  const countVerdict: CountVerdict = (verdict) => {
    const chosen = { ...filter, verdict }
    if (findings === null) return index.count(chosen, judged)
    return pickFound({ index, findings, judged }, { filter: chosen }).length
  }
  const counts = {
    ...countKinds(listKinds({ index, findings, judged }, filter), filter),
    verdict: countVerdicts(judged, countVerdict),
  }
  return { facets: toFacets(view, counts), isCounted }
}

/** The index's kinds, each with its rows that match verdict and findings. */
function listKinds(
  { index, findings, judged }: Omit<Searched, 'findings'> & Pick<Counted, 'findings'>,
  filter: RowFilter,
): readonly CountedKind[] {
  if (findings === null) return index.listKinds(filter.verdict, judged)
  const rows = countKindRows({ index, findings, judged }, filter)
  return index.kinds.map((kind, number) => ({ ...kind, rows: rows[number] ?? 0 }))
}

type CountVerdict = (verdict: NonNullable<RowFilter['verdict']>) => number

/** Rows by verdict; none without any verdict. */
function countVerdicts(judged: JudgedRows, count: CountVerdict): Map<string, number> {
  if (judged.all.size === 0) return new Map()
  return new Map(([...VERDICTS, NO_VERDICT] as const).map((verdict) => [verdict, count(verdict)]))
}

/** The facets of values and scores, which only findings know; none before all rows were counted once. */
export function readFoundFacets(view: RunFamily, filter: RowFilter = {}, counted?: Counted): FacetList {
  const { index, findings, isCounted } = counted ?? countAll(view, { filter }, true)
  // Counts from before a run continued are better than nothing.
  if (findings?.isComplete !== true || !index.isComplete) return { facets: [], isCounted: false }
  const judged = readJudgedFor(view, filter)
  return { facets: countFound({ index, findings, judged }, filter), isCounted }
}

function readCounts(view: RunFamily): JournalCounts {
  const counts = readFamilyCounts(view)
  const state = countStates(view)
  const error = new Map<string, number>()
  const cause = new Map<string, number>()
  for (const group of toErrorGroups(counts.get('error') ?? new Map())) {
    const { outcome, status, error_code, message, rows } = group
    if (error_code === null) cause.set(toErrorKey(outcome, status, error_code, message), rows)
    else error.set(error_code, (error.get(error_code) ?? 0) + rows)
  }
  for (const [key, rows] of counts.get('problem') ?? []) {
    const problem = readCauseKey(key)
    if (problem.severity !== 'error') continue
    // An earlier version may have counted by words what is now counted by arguments.
    const invalid = toInvalidKey(problem.code, problem.field, sayCause(problem))
    cause.set(invalid, (cause.get(invalid) ?? 0) + rows)
  }
  const rule = new Map(counts.get('rule') ?? [])
  const ruled = countRuled(view, rule, state.get('succeeded') ?? 0)
  rule.set(NO_RULE, Math.max(0, (state.get('succeeded') ?? 0) - ruled))
  return { state, rule, error, cause, answer: counts.get('answer') ?? new Map() }
}

/** Rows that succeeded and triggered a rule; those with several rules are in several counts. */
function countRuled(family: RunFamily, rules: ReadonlyMap<string, number>, succeeded: number): number {
  if (succeeded === 0 || ![...rules.values()].some((rows) => rows > 0)) return 0
  return countRowsWithRules(family)
}

/** Counts each kind of facet among the rows that match all other kinds of the filter. */
function countKinds(kinds: readonly CountedKind[], filter: RowFilter): JournalCounts {
  const count = (facet: KindFacet, toValues: (kind: CountedKind) => readonly (string | null)[]) => {
    const others = withoutGroup(filter, facet)
    const counts = new Map<string, number>()
    for (const kind of kinds) {
      if (!isOfKind(kind, others)) continue
      for (const value of toValues(kind)) {
        if (value !== null) counts.set(value, (counts.get(value) ?? 0) + kind.rows)
      }
    }
    return counts
  }
  return {
    state: count('state', ({ state }) => [state]),
    rule: count('rule', (kind) => (hasRule(kind, NO_RULE) ? [NO_RULE] : kind.rules)),
    error: count('error', ({ errorCode }) => [errorCode]),
    // An error with a code is counted by that; of its causes only the chosen one is a facet, too.
    cause: count('cause', ({ errorCode, causes }) => {
      if (errorCode === null) return causes
      const { cause } = filter
      return cause !== undefined && causes.some((key) => isOfCause(key, cause)) ? [cause] : []
    }),
    answer: count('answer', ({ answer }) => [answer]),
  }
}

function toFacets({ members, record }: RunFamily, counts: Counts): Facet[] {
  // Only tasks trigger rules.
  const isTask = record.plan.operation.kind === 'task'
  const nameOf = nameRules(Array.from(readRuleNames(members), ([id, name]) => ({ id, name })))
  const toLabel = (facet: FacetId) =>
    (facet.kind === 'rule' ? nameOf.get(facet.value) : null) ?? toFacetLabel(facet)
  return JOURNAL_KINDS.flatMap((kind) =>
    [...counts[kind]]
      .filter(([value, rows]) => rows > 0 && (isTask || kind !== 'rule' || value !== NO_RULE))
      .map(([value, rows]) => ({ kind, value, label: toLabel({ kind, value }), rows }))
      .sort((a, b) => b.rows - a.rows || (a.value < b.value ? -1 : 1)),
  )
}
