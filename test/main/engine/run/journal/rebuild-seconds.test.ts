import { expect, test } from 'vitest'
import { readLatency } from '../../../../../src/main/engine/journal/run-latency.ts'
import { OutcomeWriter } from '../../../../../src/main/engine/run/journal/outcome-writer.ts'
import { rebuildSeconds } from '../../../../../src/main/engine/run/journal/rebuild-seconds.ts'
import { openReadyJournal, toAttempt } from '../../journal/test-journal.ts'

test('tries that were never sent are counted in their second and are no sample, time-outs are', () => {
  const journal = openReadyJournal(4)
  const writer = new OutcomeWriter(journal)
  const failed = { outcome: 'failed', state: 'pending', status: null } as const
  journal.transact('process', () => {
    writer.write([toAttempt(1)])
    writer.write([toAttempt(2, { ...failed, errorCode: 'ECONNREFUSED', durationUs: 300 })])
    writer.write([toAttempt(3, { ...failed, errorCode: 'TIMEOUT', durationUs: 250_000 })])
    writer.write([toAttempt(4, { ...failed, errorCode: 'UND_ERR_CONNECT_TIMEOUT', durationUs: 500_000 })])
  })
  rebuildSeconds(journal)
  const second = journal.db.prepare('SELECT sent, succeeded, failed, generator_limited FROM second').get()
  expect({ ...second }).toEqual({ sent: 4, succeeded: 1, failed: 3, generator_limited: 0 })
  const duration = readLatency(journal.db).percentiles('http_req_duration')
  expect(duration?.count).toBe(3)
  expect(duration?.min).toBeCloseTo(1.5, 1)
  expect(duration?.max).toBeCloseTo(500, 0)
})
