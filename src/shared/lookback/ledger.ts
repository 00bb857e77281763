import { z } from 'zod'
import {
  type AnyOperation,
  OPERATION_KINDS,
  OPERATIONS,
  type OperationKind,
} from '../operations/operations.ts'
import { rowAndRecordShape } from '../plan/source-place.ts'

/** The subject of a ledger: items of custom indexes, terms of watchlists, or appeals. */
export const ledgerKindSchema = z.enum(['index', 'watchlist', 'appeals'])

export type LedgerKind = z.infer<typeof ledgerKindSchema>

/**
 * The states of a ledger's entries, each counted separately. Requests without a usable answer have states of
 * their own: `removal_unknown` is an item that may have been removed, `add_unknown` a row that may have added
 * items with unknown ids, `unknown` a term that may have been added, or an appeal that never had an answer.
 */
export const LEDGER_STATES = {
  index: ['known', 'removed', 'removal_unknown', 'add_unknown'],
  watchlist: ['known', 'absent', 'failed', 'unknown'],
  appeals: ['in_review', 'reviewed', 'overturned', 'upheld', 'other_status', 'not_found', 'unknown'],
} as const satisfies Record<LedgerKind, readonly string[]>

export type LedgerState = (typeof LEDGER_STATES)[LedgerKind][number]

/** The states shown and exported by default. */
export const SHOWN_STATES: Readonly<Record<LedgerKind, readonly LedgerState[]>> = {
  index: ['known'],
  watchlist: ['known'],
  appeals: LEDGER_STATES.appeals,
}

export const LEDGER_PAGE_MAX = 1_000

/** Members of every entry. Times are ISO 8601. */
const entrySchema = z.object({
  /** The outcome of the last request about it: an answer such as `pre_existing`, or why none came. */
  outcome: z.string(),
  /** When it was first seen, and when the last answer came; without an answer, when the request was sent. */
  first_at: z.string(),
  changed_at: z.string(),
  /** The run and row of the last request. */
  run_id: z.string(),
  ...rowAndRecordShape,
})

const indexEntrySchema = entrySchema.extend({
  state: z.enum(LEDGER_STATES.index),
  /** Null if it is unknown what was added. */
  custom_index_item_id: z.string().nullable(),
  /** As sent; null if no run of the ledger added the item, or its row had none. */
  url: z.string().nullable(),
  media: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  /** The metadata as sent: with every digit, and with keys that it has twice. */
  metadata_text: z.string().nullable(),
  content_variant: z.string().nullable(),
  /** Items that the entry stands for: 1, or as many as an unanswered row may have added. */
  items: z.int(),
})

const termEntrySchema = entrySchema.extend({
  state: z.enum(LEDGER_STATES.watchlist),
  /** Lower-cased, as the service compares it (docs/interface.md §2.5). */
  term: z.string(),
  /** Of a term that is not known to be on the list, those that were last sent with it. */
  notes: z.string().nullable(),
  /** False if no request stated the notes. */
  notes_known: z.boolean(),
  /** The service's reason if it could not process the term last time; null if it gave none. */
  failure: z.string().nullable(),
})

const appealEntrySchema = entrySchema.extend({
  state: z.enum(LEDGER_STATES.appeals),
  appeal_id: z.string(),
  /** As the service reported it; null before the first answer. */
  status: z.string().nullable(),
  action_id: z.string().nullable(),
  action_name: z.string().nullable(),
  reasons: z.array(z.unknown()),
  original_action_id: z.string().nullable(),
  original_action_name: z.string().nullable(),
  original_reasons: z.array(z.unknown()),
  /** When it was last requested, and when the last answer came; null if none did. */
  asked_at: z.string(),
  answered_at: z.string().nullable(),
  /** How many times it was requested, and how many of these had no usable answer. */
  asked: z.int(),
  unanswered: z.int(),
  /** Its states in order of the answers; consecutive equal answers are merged. */
  history: z.array(
    z.object({
      state: z.enum(LEDGER_STATES.appeals),
      action_name: z.string().nullable(),
      /** The first and the last answer with this state. */
      from: z.string(),
      until: z.string(),
      answers: z.int(),
    }),
  ),
})

/** An item of a custom index, or a row that may have added some (docs/interface.md §2.4). */
export type IndexEntry = z.infer<typeof indexEntrySchema>
/** A term of a watchlist (docs/interface.md §2.5). */
export type TermEntry = z.infer<typeof termEntrySchema>
/** An appeal (docs/interface.md §2.6). */
export type AppealEntry = z.infer<typeof appealEntrySchema>
export type LedgerEntry = IndexEntry | TermEntry | AppealEntry

/** The operations whose runs contribute to a ledger. */
export const LEDGER_OPERATIONS: Readonly<Record<LedgerKind, readonly OperationKind[]>> = {
  index: listOperations('index'),
  watchlist: listOperations('watchlist'),
  appeals: listOperations('appeals'),
}

function listOperations(of: LedgerKind): OperationKind[] {
  return OPERATION_KINDS.filter((kind) => OPERATIONS[kind].ledger?.of === of)
}

export type LedgerEffect = NonNullable<AnyOperation['ledger']>['effect']

/** The operation with this effect on a ledger's entries; null if there is none. */
export function findLedgerOperation(of: LedgerKind, effect: LedgerEffect): OperationKind | null {
  return LEDGER_OPERATIONS[of].find((kind) => OPERATIONS[kind].ledger?.effect === effect) ?? null
}

/** A ledger's service: all runs to one address with keys of stored connections, or with one other key. */
export const ledgerServiceSchema = z.object({
  base_url: z.string(),
  /** The connections whose keys were sent, which are several if they share a key; empty for another key. */
  connections: z.array(z.string()),
  /** That other key's variable; null for keys of connections, typed keys, and appeals (sent without one). */
  api_key_env: z.string().nullable(),
})

export type LedgerService = z.infer<typeof ledgerServiceSchema>

const countsSchema = z.record(z.string(), z.int())

const commonSchema = z.object({
  service: ledgerServiceSchema,
  /** All services with such a ledger, including this one; the most recently used comes last. */
  services: z.array(ledgerServiceSchema),
  /** Runs of the list shown, or of all lists if one must still be chosen; retries count separately. */
  runs: z.int(),
  /** Every index or watchlist that these runs changed; empty for appeals. */
  lists: z.array(z.object({ name: z.string(), counts: countsSchema })),
  /** The index or watchlist shown; null for appeals, and if one of several must still be chosen. */
  list: z.string().nullable(),
  /** Entries by state, regardless of the filter; empty if no list is chosen. */
  counts: countsSchema,
  /** Entries that match the filter, and how many of them precede this page. */
  total: z.int(),
  offset: z.int(),
  /** Why the ledger may be incomplete, a sentence each. */
  warnings: z.array(z.string()),
})

/** A page of a ledger, as `ledger --json` prints it. */
export const ledgerSchema = z.discriminatedUnion('of', [
  commonSchema.extend({ of: z.literal('index'), entries: z.array(indexEntrySchema) }),
  commonSchema.extend({ of: z.literal('watchlist'), entries: z.array(termEntrySchema) }),
  commonSchema.extend({ of: z.literal('appeals'), entries: z.array(appealEntrySchema) }),
])

export type Ledger = z.infer<typeof ledgerSchema>

export interface LedgerQuery {
  of: LedgerKind
  /**
   * Restricts the runs; absent members do not. A null `apiKeyEnv` stands for keys typed without a stored
   * connection. Throws `BAD_USAGE` unless exactly one service remains.
   */
  service: { baseUrl?: string; connection?: string; apiKeyEnv?: string | null }
  /** Id of the index or name of the watchlist; null for the only one. */
  list: string | null
  states: readonly LedgerState[]
  /** Entries with a text that contains this, ignoring the case of ASCII letters; null for all. */
  search: string | null
}

export function sayLedgerState(name: string): string {
  return name.replaceAll('_', ' ')
}
