import type { IndexEntry } from '../../../../shared/lookback/ledger.ts'
import { toStateName } from '../../../../shared/messages/state-name.ts'
import { isAsync, OPERATIONS, targetOf } from '../../../../shared/operations/operations.ts'
import { isJsonObject } from '../../../../shared/service/json-object.ts'
import type { RunView } from '../../journal/run-family.ts'
import { createExchangeReader } from '../../journal/stored-bodies.ts'
import { toValueText } from '../../mapping/json-text.ts'
import { createOperationExchange } from '../../service/operation-exchange.ts'
import { type FoldedEntry, type LedgerEvent, type LedgerReader, toIsoTime } from './ledger-tables.ts'
import { readSentRows, type SentRow } from './sent-rows.ts'

/** The content of an item to add (docs/interface.md §4.3). */
type Content = Pick<IndexEntry, 'url' | 'media' | 'metadata' | 'metadata_text' | 'content_variant'>

/** What happened to an item (key: its id), or to a row that adds items (key: the row in its whole). */
type IndexDetail =
  | { kind: 'added'; by: string; content: Content }
  /** According to the service the item does not exist: removed now, or `not_found`. */
  | { kind: 'gone'; outcome: 'removed' | 'not_found' }
  /** A removal without a usable answer. */
  | { kind: 'removing'; outcome: string }
  /** Tries that may each have added an item, and their results: items with an id, and refusals. */
  | { kind: 'tried'; tries: number; outcome: string; itemId: string | null; content: Content }
  | { kind: 'item'; itemId: string }
  | { kind: 'refused' }

type Events = Parameters<LedgerReader<IndexDetail>['collect']>[1]

/**
 * Items of custom indexes, by id: those added minus those removed. Every try of an add may have added its own
 * item, so tries are set off against the ids and refusals that came back; the rest are items with unknown
 * ids.
 */
export const INDEX_LEDGER: LedgerReader<IndexDetail> = {
  collect(run, events) {
    const { ledger } = OPERATIONS[run.record.plan.operation.kind]
    if (ledger?.effect === 'adds') collectAdds(run, events)
    if (ledger?.effect === 'removes') collectRemovals(run, events)
  },
  fold: (events) => (events[0]?.key.startsWith(ROW) ? foldRow(events) : foldItem(events)),
}

const ITEM = 'item '
const ROW = 'row '

function collectAdds(run: RunView, events: Events): void {
  const { list, runId, runToken, readCallbacks } = prepare(run)
  for (const sent of readSentRows(run, { splits: false })) {
    const { numbers, item, state, customIndexItemId } = sent
    const by = `${ROW}${runToken} ${numbers.record}`
    const content = toContent(sent.body)
    const add = (key: string, atUs: number, detail: IndexDetail) =>
      events.add({ list, key, atUs, runId, numbers, detail })
    const addItem = (itemId: string, atUs: number) => {
      add(ITEM + itemId, atUs, { kind: 'added', by, content })
      add(by, atUs, { kind: 'item', itemId })
    }
    const tries = sent.lostTries + sent.takenTries
    if (tries > 0) {
      const { outcome } = toUnanswered(run, sent)
      add(by, sent.triedAtUs, { kind: 'tried', tries, outcome, itemId: customIndexItemId, content })
    }
    if (readCallbacks === null) {
      if (state === 'succeeded' && customIndexItemId !== null) {
        addItem(customIndexItemId, sent.answeredAtUs ?? sent.triedAtUs)
      }
      continue
    }
    // A repeated callback settles its row once; one of another try names another item.
    for (const { outcome, itemId, isSettled, wasSettled, atUs } of readCallbacks(item)) {
      if (outcome === 'succeeded' && itemId !== null) addItem(itemId, atUs)
      else if (outcome === 'rejected' && (isSettled || wasSettled)) add(by, atUs, { kind: 'refused' })
    }
  }
}

function collectRemovals(run: RunView, events: Events): void {
  const { list, runId, readCallbacks } = prepare(run)
  for (const sent of readSentRows(run, { splits: true })) {
    const { numbers, state, errorCode, body, isReplaced } = sent
    const itemId = body['custom_index_item_id']
    if (typeof itemId !== 'string' || itemId === '') continue
    const add = (atUs: number, detail: IndexDetail) =>
      events.add({ list, key: ITEM + itemId, atUs, runId, numbers, detail })
    const settled = readCallbacks?.(sent.item).find(({ isSettled, wasSettled }) =>
      isReplaced ? wasSettled : isSettled,
    )
    const answeredAtUs = settled?.atUs ?? sent.answeredAtUs ?? sent.triedAtUs
    // An acknowledgement alone removes nothing.
    if (state === 'succeeded' && (readCallbacks === null || settled !== undefined)) {
      add(answeredAtUs, { kind: 'gone', outcome: 'removed' })
    } else if (state === 'rejected' && errorCode === 'INVALID_CUSTOM_INDEX_ITEM') {
      add(answeredAtUs, { kind: 'gone', outcome: 'not_found' })
    } else if (sent.lostTries > 0 || isAwaited(sent)) {
      const { outcome, atUs } = toUnanswered(run, sent)
      add(atUs, { kind: 'removing', outcome })
    }
  }
}

/** The parts of an index operation's callback that matter here. */
interface IndexCallback {
  outcome: string
  itemId: string | null
  isSettled: boolean
  /** Whether it settled its row before a retry. */
  wasSettled: boolean
  atUs: number
}

function prepare({ db, record }: RunView) {
  const { plan, runId, runToken } = record
  const { operation } = plan
  const exchanges = createExchangeReader(db)
  const { judgeCallback } = createOperationExchange(plan, { deliveredCodes: [], nowMs: Date.now })
  const readCallbacks = (item: number): IndexCallback[] =>
    exchanges.readCallbacks(item).flatMap(({ body, effect, receivedAt }) => {
      const judgement = effect === 'other_post' ? null : judgeCallback(body)
      if (judgement === null) return []
      const { outcome, customIndexItemId: itemId } = judgement
      const [isSettled, wasSettled] = [effect === 'settled', effect === 'settled_before']
      return [{ outcome, itemId, isSettled, wasSettled, atUs: Date.parse(receivedAt) * 1_000 }]
    })
  return {
    list: targetOf(operation) ?? '',
    runId,
    runToken,
    /** Null for sync runs, which have no callbacks. */
    readCallbacks: isAsync(operation) ? readCallbacks : null,
  }
}

/** Whether a request was acknowledged but its result is not known yet. */
function isAwaited({ state }: SentRow): boolean {
  return state === 'acknowledged' || state === 'overdue' || state === 'succeeded'
}

/** Why a row has no answer, in one word, and when it was sent. */
function toUnanswered({ isHeld }: RunView, sent: SentRow): { outcome: string; atUs: number } {
  const { state, lostTries, lostAtUs, triedAtUs } = sent
  // A success without a callback of its own was only acknowledged; another receiver gets the callback.
  if (state !== null && isAwaited(sent)) {
    return { outcome: toStateName(state === 'succeeded' ? 'acknowledged' : state), atUs: triedAtUs }
  }
  const outcome = state === null && isHeld ? 'sending' : 'unknown'
  return { outcome, atUs: lostTries > 0 ? lostAtUs : triedAtUs }
}

function toContent(body: SentRow['body']): Content {
  const { url, media, metadata, content_variant: variant } = body
  return {
    url: typeof url === 'string' ? url : null,
    media: typeof media === 'string' ? media : null,
    metadata: isJsonObject(metadata) ? metadata : null,
    metadata_text: isJsonObject(metadata) ? toValueText(metadata) : null,
    content_variant: typeof variant === 'string' ? variant : null,
  }
}

const NO_CONTENT: Content = {
  url: null,
  media: null,
  metadata: null,
  metadata_text: null,
  content_variant: null,
}

/** An item is known from its add to its removal; an unanswered removal leaves that open. */
function foldItem(events: readonly LedgerEvent<IndexDetail>[]): FoldedEntry | null {
  const [first] = events
  if (first === undefined) return null
  let content = NO_CONTENT
  let state: IndexEntry['state'] = 'removal_unknown'
  let outcome = ''
  let last = first
  const addedBy = new Set<string>()
  for (const event of events) {
    const { detail } = event
    if (detail.kind === 'added') {
      // A callback repeated after a removal does not add the item again.
      if (addedBy.has(detail.by)) continue
      addedBy.add(detail.by)
      content = detail.content
      state = 'known'
      outcome = 'added'
    } else if (detail.kind === 'gone') {
      state = 'removed'
      outcome = detail.outcome
    } else if (detail.kind === 'removing') {
      // Nothing is left to remove.
      if (state === 'removed') continue
      state = 'removal_unknown'
      outcome = detail.outcome
    }
    last = event
  }
  return toFolded(first, last, {
    state,
    outcome,
    custom_index_item_id: first.key.slice(ITEM.length),
    ...content,
    items: 1,
  })
}

/** What an add may have added without returning an id. */
function foldRow(events: readonly LedgerEvent<IndexDetail>[]): FoldedEntry | null {
  const [first] = events
  const itemIds = new Set<string>()
  let tries = 0
  let refused = 0
  let tried: { event: LedgerEvent; detail: Extract<IndexDetail, { kind: 'tried' }> } | null = null
  for (const event of events) {
    const { detail } = event
    if (detail.kind === 'item') itemIds.add(detail.itemId)
    else if (detail.kind === 'refused') refused += 1
    else if (detail.kind === 'tried') {
      tries += detail.tries
      tried = { event, detail }
    }
  }
  const items = tries - itemIds.size - refused
  if (first === undefined || tried === null || items <= 0) return null
  const { outcome, itemId, content } = tried.detail
  return toFolded(first, tried.event, {
    state: 'add_unknown',
    outcome,
    custom_index_item_id: itemId === null || itemIds.has(itemId) ? null : itemId,
    ...content,
    items,
  })
}

function toFolded(
  first: LedgerEvent,
  last: LedgerEvent,
  entry: Omit<IndexEntry, 'first_at' | 'changed_at' | 'run_id' | 'row' | 'record'>,
): FoldedEntry {
  const {
    custom_index_item_id: itemId,
    url,
    media,
    metadata_text: metadata,
    content_variant: variant,
  } = entry
  return {
    entry: {
      ...entry,
      first_at: toIsoTime(first.atUs),
      changed_at: toIsoTime(last.atUs),
      run_id: last.runId,
      ...last.numbers,
    },
    texts: [itemId, url, media, variant, metadata],
  }
}
