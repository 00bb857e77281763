import { readRunRecord, updateRunRecord } from '../../src/main/engine/journal/run-record.ts'
import { resendUnknown } from '../../src/main/engine/run/journal/recovery.ts'
import type { Exchange } from '../../src/main/engine/service/exchange.ts'
import type { Plant } from './simulated-session.ts'

/** The watermark reaches the disk after the requests it covers have gone out. */
export const plantLateWatermark: Plant = (options) => {
  const { claims, journal } = options
  const read = () => {
    const { claimed = 0, claimedRows = 0 } = readRunRecord(journal.db) ?? {}
    return { claimed, claimed_rows: claimedRows }
  }
  const { raiseWatermark, lowerWatermark } = claims
  let timer: NodeJS.Timeout | undefined
  claims.raiseWatermark = (items) => {
    const before = read()
    raiseWatermark.call(claims, items)
    const raised = read()
    updateRunRecord(journal.db, before)
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (journal.db.isOpen) journal.transact('power', () => updateRunRecord(journal.db, raised), true)
    }, 5)
  }
  claims.lowerWatermark = (unsent) => {
    clearTimeout(timer)
    lowerWatermark.call(claims, unsent)
  }
  return options
}

/** Requests that may have been accepted are sent again, whatever the operation. */
export const plantRepeatedAdd: Plant = (options) => ({
  ...options,
  judge(...tried) {
    const judgement = options.judge(...tried)
    return judgement.outcome === 'unknown' ? { ...judgement, repeat: 'ambiguous' } : judgement
  },
})

/** A resume sends unknown rows again although it must skip them. */
export const plantResentUnknown: Plant = (options) => {
  resendUnknown(options.journal)
  return options
}

/** Every fifth answer goes to the next request. */
export const plantSwappedAnswer: Plant = (options) => {
  let answers = 0
  let kept: Exchange | null = null
  return {
    ...options,
    createClient() {
      const client = options.createClient()
      return {
        ...client,
        send: (request, onEnd) =>
          client.send(request, (exchange) => {
            answers += 1
            const isSwapped = answers % 5 === 0 && kept?.kind === 'answer' && exchange.kind === 'answer'
            onEnd(isSwapped && kept !== null ? kept : exchange)
            kept = exchange
          }),
      }
    },
  }
}

/** A resume puts a succeeded row back into the queue. */
export const plantReclaimedRow: Plant = (options) => {
  const { db, counters } = options.journal
  const settled = db.prepare("SELECT min(row) AS row FROM result WHERE state = 'succeeded'").get()?.['row']
  if (typeof settled !== 'number') return options
  options.journal.transact('power', () => {
    db.prepare("UPDATE result SET state = 'pending' WHERE row = ?").run(settled)
    counters.add('state', 'succeeded', -1)
    counters.add('state', 'pending', 1)
  })
  return options
}

/** A further try of an item has another body. */
export const plantChangedBody: Plant = (options) => ({
  ...options,
  toRequest(claimed) {
    const { request, rowKeys } = options.toRequest(claimed)
    const body = claimed.attempts > 0 && request.body !== null ? `${request.body} ` : request.body
    return { request: { ...request, body }, rowKeys }
  },
})

/** Rows that a correction has changed are sent with their old content. */
export const plantForgottenFixes: Plant = (options) => ({
  ...options,
  toRequest: ({ rows, ...claimed }) =>
    options.toRequest({ ...claimed, rows: rows.map((row) => ({ ...row, kinds: null })) }),
})
