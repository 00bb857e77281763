import { z } from 'zod'
import { evaluatedCellSchema } from '../lookback/evaluation.ts'
import { describeCell } from '../lookback/evaluation-view.ts'
import { NO_VERDICT, VERDICT_WORDS, VERDICTS } from '../lookback/verdict.ts'
import { nameCode } from '../messages/name-code.ts'
import { describeState } from '../messages/state-name.ts'
import { sayValue } from '../service/answer-findings.ts'
import { toCauseLabel } from './counts.ts'
import { ROW_ANSWERS, rowAnswerSchema, rowStateSchema } from './item-state.ts'
import { sayScoreBand } from './score-bands.ts'

// What the rows of a run can be narrowed by. The schema of a filter, its facets and its words, in the window and in the
// engine, follow from the entries. What tells its rows from others is said by the structure that it is asked of.

/** Most rules, or values of another kind, of one filter. */
const FILTER_MAX_VALUES = 1_000

/** Most rows that a filter keeps although their verdicts have changed. */
export const KEPT_ROWS_MAX = 5_000

/** Characters of a search that are repeated. */
const SEARCH_MAX = 60

/** Stands among rules for the rows that succeeded without triggering any. */
export const NO_RULE = ''

const valuesSchema = z.array(z.string()).min(1).max(FILTER_MAX_VALUES)

/** Rows whose score of a class is at least `from` and less than `below`; null is no limit. */
const scoreFilterSchema = z.object({
  className: z.string(),
  from: z.number(),
  below: z.number().nullable(),
})

export type ScoreFilter = z.infer<typeof scoreFilterSchema>

interface FilterEntry<Value> {
  /**
   * What knows the rows: the journal's counters and indexes (`family-rows.ts`), or at least the kind of each row
   * (`row-kinds.ts`); the values that findings have of each row (`journal-findings.ts`), or its scores; the verdicts; an
   * evaluation; the cells.
   */
  askedOf: 'counters' | 'kinds' | 'values' | 'scores' | 'verdicts' | 'evaluation' | 'cells'
  /** The facets that switch it on and off. */
  facet?: string
  /** The facet whose place it takes: only one of the two is on. */
  group?: string
  /** Whether several facets can be on, of which rows have at least one. */
  several?: true
  /** What a facet is called, where not by its value. */
  label?: (value: string) => string
  /** What it leaves, in a few words; rules by the names that facets have for them. */
  say?: (value: Value, facets: readonly { kind: string; value: string; label: string }[]) => string
}

function define<Schema extends z.ZodType, const Entry extends FilterEntry<z.infer<Schema>>>(
  schema: Schema,
  entry: Entry,
) {
  return { schema, ...entry }
}

function defineValues<const Facet extends string>(facet: Facet, name: string) {
  return define(valuesSchema, {
    askedOf: 'values',
    facet,
    several: true,
    say: (values) => `${name} ${joinValues(values)}`,
  })
}

/** Every filter by its member of {@link RowFilter}, in the order of their words. */
const ROW_FILTERS = {
  state: define(rowStateSchema, {
    askedOf: 'counters',
    facet: 'state',
    say: (state) => describeState({ state, attempts: 0 }),
  }),
  /** Rows that ended without success: invalid, rejected, failed, unknown or overdue. */
  unsuccessful: define(z.literal(true), {
    askedOf: 'counters',
    group: 'state',
    say: () => 'what did not succeed',
  }),
  /** Rows that triggered at least one of these rules; {@link NO_RULE} stands for succeeding without any. */
  ruleIds: define(z.array(z.string()).max(FILTER_MAX_VALUES), {
    askedOf: 'counters',
    facet: 'rule',
    several: true,
    label: (ruleId) => (ruleId === NO_RULE ? 'no rule' : ruleId),
    say: (ruleIds, facets) => {
      const toName = (ruleId: string) =>
        facets.find(({ kind, value }) => kind === 'rule' && value === ruleId)?.label ?? ruleId
      return joinValues(ruleIds.map((ruleId) => (ruleId === NO_RULE ? 'no rule' : `rule ${toName(ruleId)}`)))
    },
  }),
  /** Rows that triggered any rule. */
  flagged: define(z.literal(true), {
    askedOf: 'kinds',
    group: 'rule',
    say: () => 'what triggered a rule',
  }),
  /** Rows that ended without success and with this service error code. */
  errorCode: define(z.string(), {
    askedOf: 'counters',
    facet: 'error',
    say: (code) => `error ${nameCode(code)}`,
  }),
  /** Rows that did not succeed for this cause, a key of `toErrorKey` or `toInvalidKey`. */
  cause: define(z.string(), {
    askedOf: 'kinds',
    facet: 'cause',
    group: 'error',
    label: toCauseLabel,
    say: () => 'one cause of errors',
  }),
  answer: define(rowAnswerSchema, {
    askedOf: 'counters',
    facet: 'answer',
    say: (answer) => ROW_ANSWERS[answer].word,
  }),
  cell: define(evaluatedCellSchema, { askedOf: 'evaluation', say: describeCell }),
  /** Rows with this verdict of a person, among others; {@link NO_VERDICT} stands for having none. */
  verdict: define(z.enum([...VERDICTS, NO_VERDICT]), {
    askedOf: 'verdicts',
    facet: 'verdict',
    label: (verdict) => VERDICT_WORDS[verdict as keyof typeof VERDICT_WORDS],
    say: (verdict) => VERDICT_WORDS[verdict],
  }),
  /** Rows that count as having `verdict`, whatever was said of them since: a table keeps them until it is read anew. */
  keptRows: define(z.array(z.int().min(1)).max(KEPT_ROWS_MAX), { askedOf: 'verdicts' }),
  /** Rows whose answer names at least one of these languages. */
  languages: defineValues('language', 'language'),
  /** Rows that at least one of these models answered, or was asked of if the answer names none. */
  models: defineValues('model', 'model'),
  /** Rows that were sent with one of these values of `content_variant`. */
  variants: defineValues('variant', 'content variant'),
  /** Rows with a score in one of the bands of each class that is named. */
  scores: define(z.array(scoreFilterSchema).min(1).max(FILTER_MAX_VALUES), {
    askedOf: 'scores',
    facet: 'score',
    several: true,
    label: (value) => {
      const band = parseBand(value)
      return `${band.className} ${sayScoreBand(band)}`
    },
    say: (scores) =>
      [...Map.groupBy(scores, ({ className }) => className)]
        .map(([name, bands]) => `${name} ${joinValues(bands.map((band) => sayScoreBand(band)))}`)
        .join(', '),
  }),
  /** Rows any of whose cells contains this text, ASCII letters in either case. */
  search: define(z.string(), {
    askedOf: 'cells',
    say: (text) => `cells with “${text.slice(0, SEARCH_MAX)}”`,
  }),
}

type Filters = typeof ROW_FILTERS

export type FilterName = keyof Filters

/** The names of the filters that have a property of a certain type. */
type NameWith<Property> = { [Name in FilterName]: Filters[Name] extends Property ? Name : never }[FilterName]

/** The filters that one structure knows the rows of. */
export type FilterOf<Source extends FilterEntry<never>['askedOf']> = NameWith<{ askedOf: Source }>

type FacetName = NameWith<{ facet: string }>

export type FacetKind = Filters[FacetName]['facet']

/** The facets that one structure counts. */
export type FacetOf<Source extends FilterEntry<never>['askedOf']> = Filters[FacetName &
  FilterOf<Source>]['facet']

/** Facets that stand together, and of whose filters only one is on. */
export type FacetGroup = Exclude<FacetKind, Filters[NameWith<{ facet: string; group: string }>]['facet']>

const ENTRIES = Object.entries(ROW_FILTERS) as [FilterName, FilterEntry<unknown> & { schema: z.ZodType }][]

/** Which rows a page holds; an absent member does not narrow. */
export const rowFilterSchema = z.object(
  Object.fromEntries(ENTRIES.map(([name, { schema }]) => [name, schema.exactOptional()])) as {
    [Name in FilterName]: z.ZodExactOptional<Filters[Name]['schema']>
  },
)

export type RowFilter = z.infer<typeof rowFilterSchema>

/** What stands above the facets of each group, in the order in which they are shown. */
export const FACET_GROUPS: Record<FacetGroup, FacetHead> = {
  state: { title: 'State', empty: 'no rows' },
  answer: { title: 'Callbacks' },
  rule: { title: 'Triggered rule', empty: 'none triggered', isOfTasks: true },
  error: { title: 'Error', empty: 'no errors' },
  verdict: { title: 'Your verdict', empty: 'none given', isOfTasks: true },
  language: { title: 'Language', slice: 'language, as the answer says' },
  model: { title: 'Model', slice: 'model, as the answer says' },
  variant: { title: 'Content variant', slice: 'content variant, as it was sent' },
  score: { title: 'Scores' },
}

export interface FacetHead {
  title: string
  /** What stands there if no row has any of it; without it the group is then left out. */
  empty?: string
  /** Whether the group has a meaning for tasks alone. */
  isOfTasks?: true
  /** What an evaluation calls the slices by it. */
  slice?: string
}

/**
 * A value and how many rows have it. A `cause` is that of an error without a code, or what kept a row back. The value of
 * a `score` is the JSON of its part of a filter.
 */
const facetSchema = z.object({
  kind: z.enum(ENTRIES.flatMap(([, { facet }]) => facet ?? []) as [FacetKind, ...FacetKind[]]),
  value: z.string(),
  label: z.string(),
  rows: z.int(),
})

export type Facet = z.infer<typeof facetSchema>

/** What the rows under a filter can be narrowed by; those of one kind disregard what the filter says of their kind. */
export const facetListSchema = z.object({
  facets: z.array(facetSchema),
  /** False while rows are still being counted: each facet has at least as many. */
  isCounted: z.boolean(),
})

export type FacetList = z.infer<typeof facetListSchema>

/** What tells a facet from others. */
export type FacetId = Pick<Facet, 'kind' | 'value'>

/** The facets that a structure counts, in the order of their filters. */
export function listFacetKinds<Source extends FilterEntry<never>['askedOf']>(
  ...sources: readonly Source[]
): FacetOf<Source>[] {
  return ENTRIES.flatMap(([, { facet, askedOf }]) =>
    facet !== undefined && sources.some((source) => source === askedOf) ? [facet as FacetOf<Source>] : [],
  )
}

export function findGroup(kind: FacetKind): string {
  return findFilterOf(kind).group ?? kind
}

/** A filter without what it says of a facet's group. */
export function withoutGroup(filter: RowFilter, kind: FacetKind): RowFilter {
  const rest = { ...filter }
  for (const [name, { group, facet }] of ENTRIES) if ((group ?? facet) === findGroup(kind)) delete rest[name]
  return rest
}

export function listAskedOf(filter: RowFilter): FilterEntry<never>['askedOf'][] {
  return ENTRIES.flatMap(([name, { askedOf }]) => (filter[name] === undefined ? [] : [askedOf]))
}

export function findFilterOf(facet: FacetKind) {
  const found = ENTRIES.find(([, entry]) => entry.facet === facet)
  if (found === undefined) throw new Error(`no filter has facets of the kind ${facet}`)
  return { name: found[0], ...found[1] }
}

/** What a facet is called whose name the journal does not know. */
export function toFacetLabel({ kind, value }: FacetId): string {
  return findFilterOf(kind).label?.(value) ?? value
}

/** The facets that a filter narrows to, so that they can be taken back even if no row has them. */
export function listChosen(filter: RowFilter): FacetId[] {
  return ENTRIES.flatMap(([name, { facet, several }]) => {
    const value = filter[name] as unknown
    if (facet === undefined || value === undefined) return []
    const values: readonly unknown[] = several && Array.isArray(value) ? value : [value]
    return values.map((one) => ({ kind: facet as FacetKind, value: sayValue(one) }))
  })
}

export function isNarrowed(filter: RowFilter): boolean {
  return Object.keys(filter).length > 0
}

/** What a filter leaves, in a few words; rules by the names that facets have for them, or else by their ids. */
export function describeFilter(filter: RowFilter, facets: readonly Facet[] = []): string {
  return ENTRIES.flatMap(([name, { say }]) =>
    filter[name] === undefined ? [] : (say?.(filter[name], facets) ?? []),
  ).join(', ')
}

export function parseBand(value: string): ScoreFilter {
  return JSON.parse(value) as ScoreFilter
}

function joinValues(values: readonly string[]): string {
  return values.join(' or ')
}
