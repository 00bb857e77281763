import { expect, test } from 'vitest'
import { describeSession } from '../../src/renderer/features/run/run-notices.tsx'
import type { RunSession } from '../../src/shared/run/run.ts'

const NO_REQUESTS = { sent: 0, succeeded: 0, rejected: 0, failed: 0, unknown: 0 }
const CORRECTION = {
  number: 2,
  kind: 'correction',
  run_id: '20261129-090657-698ffbp',
  started_at: '2026-11-29T09:11:44.000Z',
  ended_at: null,
  app_version: '0.2.0',
  rows_taken: 353,
  requests: NO_REQUESTS,
  duration_s: 0,
} satisfies RunSession

test('the newest correction of a run that sends has no counts yet, since its summary is from before it', () => {
  const sessions = [CORRECTION]
  expect(describeSession(CORRECTION, { state: 'running', sessions })).toMatch(
    /^Correction of .*: 353 rows, in progress$/,
  )
})

test('a retry that is over says how many of its requests succeeded', () => {
  const retry = {
    ...CORRECTION,
    kind: 'retry' as const,
    requests: { ...NO_REQUESTS, sent: 353, succeeded: 300 },
  }
  const said = /^Retry of .*: 353 rows, 300 of 353 requests succeeded$/
  expect(describeSession(retry, { state: 'completed', sessions: [retry] })).toMatch(said)
  expect(describeSession(retry, { state: 'running', sessions: [retry, CORRECTION] })).toMatch(said)
})
