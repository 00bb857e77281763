import type { LedgerKind, LedgerService, LedgerState } from '../../../shared/lookback/ledger.ts'
import type { NamePlace } from '../../ui/connection/destination.ts'
import { ANSWER_LOOKS } from '../../ui/states/row-states.tsx'

interface ListLook {
  title: string
  /** Label of its selector; null if there is only one list of the kind. */
  list: string | null
  noun: string
  /** How such a list comes about, for people without one. */
  origin: string
}

export const LIST_LOOKS: Record<LedgerKind, ListLook> = {
  index: {
    title: 'Indexes',
    list: 'Index',
    noun: 'item',
    origin:
      'Items that you add to a custom index are listed here with their ids, which you need to remove them.',
  },
  watchlist: {
    title: 'Watchlists',
    list: 'Watchlist',
    noun: 'term',
    origin: 'Terms that you add to a watchlist or update are listed here with the outcome of each.',
  },
  appeals: {
    title: 'Appeals',
    list: null,
    noun: 'appeal',
    origin: 'Appeals whose status you look up are listed here with the decision.',
  },
}

/** All kinds, in display order. */
export const LIST_KINDS = Object.keys(LIST_LOOKS) as LedgerKind[]

/** How a state is shown: its name, its meaning, a colour of `tokens.css`. */
interface ListStateLook {
  word: string
  meaning: string
  color: string
}

const GOOD = 'var(--state-succeeded)'
const BAD = 'var(--state-failed)'
const UNSURE = 'var(--state-unknown)'
const GONE = 'var(--state-pending)'

const LOOKS: { [Kind in LedgerKind]: Partial<Record<LedgerState, Omit<ListStateLook, 'word'>>> } = {
  index: {
    known: { meaning: 'Added, and not removed by any run.', color: GOOD },
    removed: { meaning: 'Removed by a run, or the service has no such item.', color: GONE },
    removal_unknown: { meaning: 'A removal had no usable answer: the item may be gone.', color: UNSURE },
    add_unknown: {
      meaning: 'An add had no usable answer: items may be there whose ids are not known.',
      color: UNSURE,
    },
  },
  watchlist: {
    known: { meaning: 'Added or updated, or the service said that it exists.', color: GOOD },
    absent: { meaning: 'The service said that it does not exist.', color: GONE },
    failed: { meaning: 'The service could not process it.', color: BAD },
    unknown: { meaning: 'No usable answer: it may be there.', color: UNSURE },
  },
  appeals: {
    in_review: { meaning: 'Not decided yet.', color: ANSWER_LOOKS.in_review.color },
    reviewed: { meaning: 'Decided; the answer does not say how.', color: ANSWER_LOOKS.reviewed.color },
    overturned: { meaning: 'The first decision was taken back.', color: ANSWER_LOOKS.overturned.color },
    upheld: { meaning: 'The first decision stays.', color: ANSWER_LOOKS.upheld.color },
    other_status: { meaning: 'A status that Sluice does not know.', color: UNSURE },
    not_found: { meaning: 'The service does not know the appeal.', color: BAD },
    unknown: { meaning: 'Asked, but never answered.', color: UNSURE },
  },
}

export function toListStateLook(of: LedgerKind, state: LedgerState): ListStateLook {
  return { word: state.replaceAll('_', ' '), ...(LOOKS[of][state] ?? { meaning: '', color: UNSURE }) }
}

/** States of entries that can be removed from an index, since their ids are known. */
export const REMOVABLE_STATES: readonly LedgerState[] = ['known', 'removal_unknown']

/** States of terms that may not be on the watchlist. */
export const ADDABLE_STATES: readonly LedgerState[] = ['absent', 'failed', 'unknown']

/** The name of a service: its connections, or else its address and key. */
export function nameService(
  { base_url: baseUrl, connections, api_key_env: variable }: LedgerService,
  namePlace: NamePlace,
): string {
  if (connections.length > 0) return connections.join(', ')
  const { name, kind } = namePlace(baseUrl)
  if (kind === 'sandbox' || variable === null) return name
  return `${name} (key in ${variable})`
}

/** A unique key of a service, for the value of a choice. */
export function toServiceKey(service: LedgerService): string {
  return JSON.stringify([service.base_url, service.connections, service.api_key_env])
}
