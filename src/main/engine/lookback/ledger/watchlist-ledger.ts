import type { TermEntry } from '../../../../shared/lookback/ledger.ts'
import { OPERATIONS, targetOf } from '../../../../shared/operations/operations.ts'
import { readAnsweredTerms } from '../../../../shared/service/answer-findings.ts'
import { parseJson } from '../../../../shared/service/parse-json.ts'
import type { RunView } from '../../journal/run-family.ts'
import { createExchangeReader } from '../../journal/stored-bodies.ts'
import { type LedgerReader, toIsoTime } from './ledger-tables.ts'
import { readSentRows, type SentRow } from './sent-rows.ts'

type TermDetail =
  /** The list contains it; `notes` is missing if they are unknown. */
  | { kind: 'present'; outcome: string; notes?: string | null }
  | { kind: 'absent'; sent: string | null }
  /** The service could not process it, which changes nothing. */
  | { kind: 'failed'; failure: string | null; sent: string | null }
  /** Sent without a usable answer. */
  | { kind: 'lost'; outcome: string; isAdd: boolean; hasNotes: boolean; sent: string | null }

/** Watchlist terms, by the lower-cased term (docs/interface.md §2.5). The service cannot remove one. */
export const WATCHLIST_LEDGER: LedgerReader<TermDetail> = {
  collect(run, events) {
    const { runId, plan } = run.record
    const { operation } = plan
    const list = targetOf(operation) ?? ''
    const isAdd = OPERATIONS[operation.kind].ledger?.effect === 'adds'
    const readTerms = createTermsReader(run)
    for (const sent of readSentRows(run, { splits: true })) {
      const { numbers, body, state, answer } = sent
      const { term, notes } = body
      if (typeof term !== 'string' || term === '') continue
      const key = term.toLowerCase()
      const sentNotes = typeof notes === 'string' ? notes : null
      const terms = readTerms(sent)
      const add = (atUs: number, detail: TermDetail) =>
        events.add({ list, key, atUs, runId, numbers, detail })
      const isAnswered = (state === 'succeeded' || state === 'rejected') && answer !== null
      const said = terms?.(term)
      // The answer may leave a term out, whose row is unknown, or rejected in runs of earlier versions.
      const isMentioned = isAnswered && (terms === null || said !== undefined)
      const isSettled = isMentioned && answer !== 'failed'
      if (!isSettled && (sent.lostTries > 0 || state === 'unknown' || (isAnswered && !isMentioned))) {
        const outcome = state === null && run.isHeld ? 'sending' : 'unknown'
        const atUs = sent.lostTries > 0 ? sent.lostAtUs : sent.triedAtUs
        add(atUs, { kind: 'lost', outcome, isAdd, hasNotes: notes !== undefined, sent: sentNotes })
      }
      if (!isMentioned) continue
      const atUs = sent.answeredAtUs ?? sent.triedAtUs
      if (answer === 'failed') add(atUs, { kind: 'failed', failure: said?.remark ?? null, sent: sentNotes })
      else if (answer === 'non_existent') add(atUs, { kind: 'absent', sent: sentNotes })
      else add(atUs, { kind: 'present', outcome: answer, ...toNotes(said?.notes, notes, answer === 'added') })
    }
  },

  fold(events) {
    const [first] = events
    let last = first
    if (first === undefined || last === undefined) return null
    let state: TermEntry['state'] = 'unknown'
    let outcome = ''
    let notes: string | null = null
    let isNotesKnown = false
    let lastSent: string | null = null
    let failure: string | null = null
    for (const event of events) {
      const { detail } = event
      last = event
      failure = detail.kind === 'failed' ? detail.failure : null
      if (detail.kind !== 'present') lastSent = detail.sent
      switch (detail.kind) {
        case 'present':
          state = 'known'
          outcome = detail.outcome
          if (detail.notes !== undefined) {
            notes = detail.notes
            isNotesKnown = true
          }
          break
        case 'absent':
          state = 'absent'
          outcome = 'non_existent'
          notes = null
          isNotesKnown = false
          break
        case 'failed':
          if (event === first) state = 'failed'
          outcome = 'failed'
          break
        case 'lost':
          // An update creates no term, and an add leaves an existing one unchanged.
          if (state !== 'known' && (detail.isAdd || state !== 'absent')) state = 'unknown'
          outcome = detail.outcome
          if (detail.hasNotes) {
            notes = null
            isNotesKnown = false
          }
      }
    }
    // Whoever sends the term again wants the notes it was last sent with.
    if (state !== 'known') notes = lastSent
    return {
      entry: {
        state,
        outcome,
        term: first.key,
        notes,
        notes_known: isNotesKnown,
        failure,
        first_at: toIsoTime(first.atUs),
        changed_at: toIsoTime(last.atUs),
        run_id: last.runId,
        ...last.numbers,
      },
      texts: [first.key, notes],
    }
  },
}

type AnsweredTerms = ReturnType<typeof readAnsweredTerms>

/** Reads the terms in the answer to a row's request; null if no answer can be read. */
function createTermsReader({ db }: RunView): (sent: SentRow) => AnsweredTerms | null {
  const exchanges = createExchangeReader(db)
  // For the last item; a retry may have sent some of its rows without the others.
  let last: { item: number; byTries: Map<number, AnsweredTerms | null> } | null = null
  return ({ item, attempts }) => {
    if (last?.item !== item) last = { item, byTries: new Map() }
    const known = last.byTries.get(attempts)
    if (known !== undefined) return known
    const json = parseJson(exchanges.readAnswer(item, attempts)?.text ?? '')
    const terms = json === undefined ? null : readAnsweredTerms(json)
    last.byTries.set(attempts, terms)
    return terms
  }
}

/**
 * The notes of a term on the list: those in the answer, else those sent. A new term sent without notes has
 * none; an existing one keeps its own.
 */
function toNotes(said: string | null | undefined, sent: unknown, isNew: boolean): { notes?: string | null } {
  if (typeof said === 'string') return { notes: said }
  if (typeof sent === 'string' || sent === null) return { notes: sent }
  return isNew || said === null ? { notes: null } : {}
}
