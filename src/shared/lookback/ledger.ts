import { z } from 'zod'
import {
  type AnyOperation,
  OPERATION_KINDS,
  OPERATIONS,
  type OperationKind,
} from '../operations/operations.ts'
import { rowAndRecordShape } from '../plan/source-place.ts'

/** What a ledger is of: items of custom indexes, terms of watchlists, or appeals. */
export const ledgerKindSchema = z.enum(['index', 'watchlist', 'appeals'])

export type LedgerKind = z.infer<typeof ledgerKindSchema>

/**
 * The states of a ledger's entries, each counted apart. What was sent without a usable answer is in a state of its own:
 * `removal_unknown` is an item that may have been removed, `add_unknown` a row that may have added items whose ids
 * nobody knows, `unknown` a term that may have been added, or an appeal that never had an answer.
 */
export const LEDGER_STATES = {
  index: ['known', 'removed', 'removal_unknown', 'add_unknown'],
  watchlist: ['known', 'absent', 'failed', 'unknown'],
  appeals: ['in_review', 'reviewed', 'overturned', 'upheld', 'other_status', 'not_found', 'unknown'],
} as const satisfies Record<LedgerKind, readonly string[]>

/** A state of an entry, whichever ledger it is of. */
export type LedgerState = (typeof LEDGER_STATES)[LedgerKind][number]

/** The states that are shown and exported unless others are asked for. */
export const SHOWN_STATES: Readonly<Record<LedgerKind, readonly LedgerState[]>> = {
  index: ['known'],
  watchlist: ['known'],
  appeals: LEDGER_STATES.appeals,
}

/** Most entries of one page. */
export const LEDGER_PAGE_MAX = 1_000

/** What every entry has. Times are ISO 8601. */
const entrySchema = z.object({
  /** What came of the last request about it, in one word: an answer such as `pre_existing`, or why there is none. */
  outcome: z.string(),
  /** When it was first heard of, and when the last answer came; of a request without one, when it was sent. */
  first_at: z.string(),
  changed_at: z.string(),
  /** The run and its row that the last request came from. */
  run_id: z.string(),
  ...rowAndRecordShape,
})

const indexEntrySchema = entrySchema.extend({
  state: z.enum(LEDGER_STATES.index),
  /** Null if nobody knows what was added. */
  custom_index_item_id: z.string().nullable(),
  /** As they were sent; null if no run of the ledger added the item, or the row had none. */
  url: z.string().nullable(),
  media: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  content_variant: z.string().nullable(),
  /** Items that the entry stands for: 1, or as many as a row without an answer may have added. */
  items: z.int(),
})

const termEntrySchema = entrySchema.extend({
  state: z.enum(LEDGER_STATES.watchlist),
  /** Lower-cased, as the service compares it (docs/interface.md §2.5). */
  term: z.string(),
  notes: z.string().nullable(),
  /** False if nobody said what the notes are. */
  notes_known: z.boolean(),
  /** What the service said about a term that it could not process last; null if it gave no reason. */
  failure: z.string().nullable(),
})

const appealEntrySchema = entrySchema.extend({
  state: z.enum(LEDGER_STATES.appeals),
  appeal_id: z.string(),
  /** As the service has it; null before the first answer. */
  status: z.string().nullable(),
  action_id: z.string().nullable(),
  action_name: z.string().nullable(),
  reasons: z.array(z.unknown()),
  original_action_id: z.string().nullable(),
  original_action_name: z.string().nullable(),
  original_reasons: z.array(z.unknown()),
  /** When it was asked last, and when the last answer came; null if there was none. */
  asked_at: z.string(),
  answered_at: z.string().nullable(),
  /** Times that it was asked, and that no usable answer came. */
  asked: z.int(),
  unanswered: z.int(),
  /** Its states in the order of the answers; answers that say the same are one. */
  history: z.array(
    z.object({
      state: z.enum(LEDGER_STATES.appeals),
      action_name: z.string().nullable(),
      /** The first and the last answer that said so. */
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

/** The operations whose runs make a ledger. */
export const LEDGER_OPERATIONS: Readonly<Record<LedgerKind, readonly OperationKind[]>> = {
  index: listOperations('index'),
  watchlist: listOperations('watchlist'),
  appeals: listOperations('appeals'),
}

function listOperations(of: LedgerKind): OperationKind[] {
  return OPERATION_KINDS.filter((kind) => OPERATIONS[kind].ledger?.of === of)
}

/** What an operation does to an entry. */
export type LedgerEffect = NonNullable<AnyOperation['ledger']>['effect']

/** The operation that does something to the entries of a ledger; null if none does. */
export function findLedgerOperation(of: LedgerKind, effect: LedgerEffect): OperationKind | null {
  return LEDGER_OPERATIONS[of].find((kind) => OPERATIONS[kind].ledger?.effect === effect) ?? null
}

/** Whose runs a ledger adds up: those to one address with the keys of stored connections, or with one other key. */
export const ledgerServiceSchema = z.object({
  base_url: z.string(),
  /** The connections whose keys were sent, which share a key if they are several; none if it was another key. */
  connections: z.array(z.string()),
  /** The variable that holds that other key; null of connections, of a key that was typed, and of appeals, which carry none. */
  api_key_env: z.string().nullable(),
})

export type LedgerService = z.infer<typeof ledgerServiceSchema>

const countsSchema = z.record(z.string(), z.int())

const commonSchema = z.object({
  service: ledgerServiceSchema,
  /** Every service whose runs make such a ledger, this one among them; the one used first comes first. */
  services: z.array(ledgerServiceSchema),
  /** Runs that the ledger was read from; a run and its retries are several. */
  runs: z.int(),
  /** Every index or watchlist that these runs changed; empty for appeals. */
  lists: z.array(z.object({ name: z.string(), counts: countsSchema })),
  /** The index or watchlist that is shown; null for appeals, and where one of several has yet to be chosen. */
  list: z.string().nullable(),
  /** Entries by state, whatever the filter; empty if no list is chosen. */
  counts: countsSchema,
  /** Entries that match the filter, and how many of them come before this page. */
  total: z.int(),
  offset: z.int(),
  /** What keeps the ledger from being complete, a sentence each. */
  warnings: z.array(z.string()),
})

/** A page of a ledger, as `ledger --json` prints it. */
export const ledgerSchema = z.discriminatedUnion('of', [
  commonSchema.extend({ of: z.literal('index'), entries: z.array(indexEntrySchema) }),
  commonSchema.extend({ of: z.literal('watchlist'), entries: z.array(termEntrySchema) }),
  commonSchema.extend({ of: z.literal('appeals'), entries: z.array(appealEntrySchema) }),
])

export type Ledger = z.infer<typeof ledgerSchema>

/** Which ledger is read, and which of its entries. */
export interface LedgerQuery {
  of: LedgerKind
  /**
   * Whose runs; what is left out does not narrow. Null stands for keys that were typed for no stored connection. Throws
   * `BAD_USAGE` unless these leave one service.
   */
  service: { baseUrl?: string; connection?: string; apiKeyEnv?: string | null }
  /** Id of the index or name of the watchlist; null for the only one. */
  list: string | null
  states: readonly LedgerState[]
  /** Entries any of whose texts contains this, ASCII letters in either case; null for all. */
  search: string | null
}

/** The name of a state or an outcome in words. */
export function toWords(name: string): string {
  return name.replaceAll('_', ' ')
}
