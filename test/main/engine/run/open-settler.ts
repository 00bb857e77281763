import { countError } from '../../../../src/main/engine/journal/counters.ts'
import type { InboxCallback } from '../../../../src/main/engine/receiver/inbox.ts'
import {
  CallbackSettler,
  type CallbackSettlerOptions,
} from '../../../../src/main/engine/run/callback-settler.ts'
import { ItemClaims } from '../../../../src/main/engine/run/journal/item-claims.ts'
import { type AttemptRecord, OutcomeWriter } from '../../../../src/main/engine/run/recorder.ts'
import { openReadyJournal, readRecord, toAttempt } from '../journal/test-journal.ts'
import { toJudgement } from './to-judgement.ts'

/** Send time of the first tries, Unix microseconds. */
export const SENT_AT_US = 1_700_000_000_000_000
/** How an acknowledged try ended. */
export const ACKNOWLEDGED = { state: 'acknowledged', durationUs: 1_000 } as const

/** A settler over a journal with that many rows, all marked as sent, and an inbox that the test fills. */
export function openSettler(
  rows: number,
  options: Partial<Pick<CallbackSettlerOptions, 'judge'>> & { pageMax?: number } = {},
) {
  const { pageMax = Infinity, ...parts } = options
  const journal = openReadyJournal(rows)
  const record = { ...readRecord(journal), callbackBase: 'http://127.0.0.1:1' }
  const claims = new ItemClaims(journal, record)
  journal.transact('power', () => claims.raiseWatermark(claims.readFresh(rows)))
  const outcomes = new OutcomeWriter(journal)
  const inbox: InboxCallback[] = []
  const latencies: number[] = []
  const clock = { nowMs: SENT_AT_US / 1_000 }
  const settler = new CallbackSettler({
    journal,
    record,
    claims,
    inbox: {
      readAfter: (afterId) => inbox.filter(({ id }) => id > afterId).slice(0, pageMax),
      close: () => {},
    },
    judge: (body) => {
      const rule = { ruleId: 'r1', ruleName: 'Spam' }
      return body.includes('error')
        ? toJudgement({
            outcome: 'rejected',
            errorCode: 'BROKEN',
            message: 'it broke',
            status: null,
            taskId: null,
          })
        : toJudgement({ taskId: body, rules: [rule] })
    },
    toMsAgo: (ms) => clock.nowMs - ms,
    onLatency: (latencyUs) => latencies.push(latencyUs),
    ...parts,
  })
  const receive = (item: number, afterUs: number, body = `task-${item}`, isDamaged = false) =>
    inbox.push({ id: inbox.length + 1, item, receivedAtUs: SENT_AT_US + afterUs, body, isDamaged })
  const takeIn = () => {
    if (!settler.look()) return []
    journal.transact('process', () => settler.write())
    return settler.committed()
  }
  const send = (item: number, parts: Partial<AttemptRecord>) => {
    const attempt = toAttempt(item, parts)
    outcomes.count(attempt)
    if (attempt.state !== null) countError(journal.counters, { ...attempt, state: attempt.state }, 1)
    journal.transact('process', () => outcomes.write([attempt]))
  }
  const counts = () => Object.fromEntries([...journal.counters.entries('callback')])
  return { journal, settler, claims, clock, latencies, receive, takeIn, send, counts }
}
