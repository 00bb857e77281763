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

// The filters of a run's rows. The schema of a filter, its facets and its words, in the window and in the
// engine, are derived from these entries. The structure that `readFrom` names finds the matching rows.

/** Most rules, or other values, in one filter. */
const FILTER_MAX_VALUES = 1_000

/** Most rows that a filter keeps after their verdicts have changed. */
export const KEPT_ROWS_MAX = 5_000

/** Characters of a search that are shown. */
const SEARCH_MAX = 60

/** Among rules, stands for rows that succeeded without triggering any. */
export const NO_RULE = ''

const valuesSchema = z.array(z.string()).min(1).max(FILTER_MAX_VALUES)

/** Rows whose score of a class is at least `from` and less than `below`; null for no bound. */
const scoreFilterSchema = z.object({
  className: z.string(),
  from: z.number(),
  below: z.number().nullable(),
})

export type ScoreFilter = z.infer<typeof scoreFilterSchema>

interface FilterEntry<Value> {
  /**
   * What must be read to find the rows: the journal's counters and indexes (`family-rows.ts`), the kind of
   * each row (`row-kinds.ts`), what findings know of each row (`journal-findings.ts`), its scores, the
   * verdicts, an evaluation, or the cells.
   */
  readFrom: 'counters' | 'kinds' | 'values' | 'scores' | 'verdicts' | 'evaluation' | 'cells'
  /** Kind of the facets that switch it on and off. */
  facet?: string
  /** Kind of the facets that it shares a group with: only one filter of the group is on. */
  group?: string
  /** Whether several facets can be on at once; rows then match at least one. */
  several?: true
  /** Label of a facet, if it is not its value. */
  label?: (value: string) => string
  /** Describes the matching rows in a few words, with the facets' names of rules. */
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
    readFrom: 'values',
    facet,
    several: true,
    say: (values) => `${name} ${joinValues(values)}`,
  })
}

/** Every filter by its member of {@link RowFilter}, in the order of the description. */
const ROW_FILTERS = {
  state: define(rowStateSchema, {
    readFrom: 'counters',
    facet: 'state',
    say: (state) => describeState({ state, attempts: 0 }),
  }),
  /** Rows that ended without success: invalid, rejected, failed, unknown or overdue. */
  unsuccessful: define(z.literal(true), {
    readFrom: 'counters',
    group: 'state',
    say: () => 'what did not succeed',
  }),
  /** Rows that triggered at least one of these rules; {@link NO_RULE} stands for succeeding without any. */
  ruleIds: define(z.array(z.string()).max(FILTER_MAX_VALUES), {
    readFrom: 'counters',
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
    readFrom: 'kinds',
    group: 'rule',
    say: () => 'what triggered a rule',
  }),
  /** Rows that ended without success and with this service error code. */
  errorCode: define(z.string(), {
    readFrom: 'counters',
    facet: 'error',
    say: (code) => `error ${nameCode(code)}`,
  }),
  /** Rows that did not succeed for this cause, a key of `toErrorKey`, `toCauseKey` or `toInvalidKey`. */
  cause: define(z.string(), {
    readFrom: 'kinds',
    facet: 'cause',
    group: 'error',
    label: toCauseLabel,
    say: () => 'one cause of errors',
  }),
  answer: define(rowAnswerSchema, {
    readFrom: 'counters',
    facet: 'answer',
    say: (answer) => ROW_ANSWERS[answer].word,
  }),
  cell: define(evaluatedCellSchema, { readFrom: 'evaluation', say: describeCell }),
  /** Rows with this verdict among others; {@link NO_VERDICT} stands for rows without any. */
  verdict: define(z.enum([...VERDICTS, NO_VERDICT]), {
    readFrom: 'verdicts',
    facet: 'verdict',
    label: (verdict) => VERDICT_WORDS[verdict as keyof typeof VERDICT_WORDS],
    say: (verdict) => VERDICT_WORDS[verdict],
  }),
  /** Rows that still count as having `verdict` after it changed: a table keeps them until it is reloaded. */
  keptRows: define(z.array(z.int().min(1)).max(KEPT_ROWS_MAX), { readFrom: 'verdicts' }),
  /** Rows that are from one of these files, if the source has several. */
  files: defineValues('file', 'file'),
  /** Rows whose answer names at least one of these languages. */
  languages: defineValues('language', 'language'),
  /** Rows that at least one of these models answered, or was requested for if the answer names none. */
  models: defineValues('model', 'model'),
  /** Rows sent with one of these values of `content_variant`. */
  variants: defineValues('variant', 'content variant'),
  /** Rows with a score in one of the bands, for each named class. */
  scores: define(z.array(scoreFilterSchema).min(1).max(FILTER_MAX_VALUES), {
    readFrom: 'scores',
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
  /** Rows with a cell that contains this text, ignoring the case of ASCII letters. */
  search: define(z.string(), {
    readFrom: 'cells',
    say: (text) => `cells with “${text.slice(0, SEARCH_MAX)}”`,
  }),
}

type Filters = typeof ROW_FILTERS

export type FilterName = keyof Filters

/** Names of the filters with a property of this type. */
type NameWith<Property> = { [Name in FilterName]: Filters[Name] extends Property ? Name : never }[FilterName]

/** The filters that one structure can apply. */
export type FilterOf<Source extends FilterEntry<never>['readFrom']> = NameWith<{ readFrom: Source }>

type FacetName = NameWith<{ facet: string }>

export type FacetKind = Filters[FacetName]['facet']

/** The facets that one structure counts. */
export type FacetOf<Source extends FilterEntry<never>['readFrom']> = Filters[FacetName &
  FilterOf<Source>]['facet']

/** Kinds of facets that form a group, in which only one filter is on. */
export type FacetGroup = Exclude<FacetKind, Filters[NameWith<{ facet: string; group: string }>]['facet']>

const ENTRIES = Object.entries(ROW_FILTERS) as [FilterName, FilterEntry<unknown> & { schema: z.ZodType }][]

/** The rows of a page; absent members do not restrict them. */
export const rowFilterSchema = z.object(
  Object.fromEntries(ENTRIES.map(([name, { schema }]) => [name, schema.exactOptional()])) as {
    [Name in FilterName]: z.ZodExactOptional<Filters[Name]['schema']>
  },
)

export type RowFilter = z.infer<typeof rowFilterSchema>

/** The heading of each group of facets, in display order. */
export const FACET_GROUPS: Record<FacetGroup, FacetHead> = {
  state: { title: 'State', empty: 'no rows' },
  answer: { title: 'Answers and callbacks' },
  rule: { title: 'Triggered rule', empty: 'none triggered', isOfTasks: true },
  error: { title: 'Error', empty: 'no errors' },
  verdict: { title: 'Your verdict', empty: 'none given', isOfTasks: true },
  file: { title: 'File', slice: 'file' },
  language: { title: 'Language', slice: 'language, as the answer says' },
  model: { title: 'Model', slice: 'model, as the answer says' },
  variant: { title: 'Content variant', slice: 'content variant, as it was sent' },
  score: { title: 'Scores' },
}

export interface FacetHead {
  title: string
  /** Shown if no row has a facet of the group; without it, an empty group is left out. */
  empty?: string
  /** Whether the group only makes sense for tasks. */
  isOfTasks?: true
  /** Name of its slices in an evaluation. */
  slice?: string
}

/**
 * A value and the number of its rows. A `cause` is that of an error without a code, or the reason why a row
 * was not sent. The value of a `score` is the JSON of its part of a filter.
 */
const facetSchema = z.object({
  kind: z.enum(ENTRIES.flatMap(([, { facet }]) => facet ?? []) as [FacetKind, ...FacetKind[]]),
  value: z.string(),
  label: z.string(),
  rows: z.int(),
})

export type Facet = z.infer<typeof facetSchema>

/** Facets for the rows under a filter; those of one kind ignore the filter's own value of that kind. */
export const facetListSchema = z.object({
  facets: z.array(facetSchema),
  /** False while rows are still being counted: the counts are then lower bounds. */
  isCounted: z.boolean(),
})

export type FacetList = z.infer<typeof facetListSchema>

export type FacetId = Pick<Facet, 'kind' | 'value'>

/** The facets that a structure counts, in the order of their filters. */
export function listFacetKinds<Source extends FilterEntry<never>['readFrom']>(
  ...sources: readonly Source[]
): FacetOf<Source>[] {
  return ENTRIES.flatMap(([, { facet, readFrom }]) =>
    facet !== undefined && sources.some((source) => source === readFrom) ? [facet as FacetOf<Source>] : [],
  )
}

export function findGroup(kind: FacetKind): string {
  return findFilterOf(kind).group ?? kind
}

/** A filter without its values for a facet's group. */
export function withoutGroup(filter: RowFilter, kind: FacetKind): RowFilter {
  const rest = { ...filter }
  for (const [name, { group, facet }] of ENTRIES) if ((group ?? facet) === findGroup(kind)) delete rest[name]
  return rest
}

export function listSources(filter: RowFilter): FilterEntry<never>['readFrom'][] {
  return ENTRIES.flatMap(([name, { readFrom }]) => (filter[name] === undefined ? [] : [readFrom]))
}

export function findFilterOf(facet: FacetKind) {
  const found = ENTRIES.find(([, entry]) => entry.facet === facet)
  if (found === undefined) throw new Error(`no filter has facets of the kind ${facet}`)
  return { name: found[0], ...found[1] }
}

/** The label of a facet that has no name in the journal. */
export function toFacetLabel({ kind, value }: FacetId): string {
  return findFilterOf(kind).label?.(value) ?? value
}

/** The facets that a filter has switched on, so that they can be switched off even if no row has them. */
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

/** Describes a filter in a few words, with the facets' names of rules, or else their ids. */
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
