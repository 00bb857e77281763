import { expect, it } from 'vitest'
import { takeGone, takeSummary } from '../../src/renderer/bridge/live-runs.ts'
import { toBridgeError } from '../../src/shared/bridge/errors.ts'
import { SluiceError } from '../../src/shared/messages/errors.ts'
import type { RunSummary } from '../../src/shared/run/run.ts'
import { PLAIN_SUMMARY } from '../helpers/plain-summary.ts'

const NOTHING = { errors: {}, summaries: {}, snapshots: {} }

const SUMMARY: RunSummary = { ...PLAIN_SUMMARY, state: 'running' }

it('takes no run whose rows may still be read for one that is sending', () => {
  const { snapshots, summaries } = takeSummary(NOTHING, SUMMARY, { unlessLive: true })
  expect(snapshots).toEqual({})
  expect(summaries).toEqual({ a: SUMMARY })
})

it('shows a run that another process sends, and one that has ended', () => {
  const toPhase = (state: RunSummary['state'], unlessLive: boolean) =>
    takeSummary(NOTHING, { ...SUMMARY, state }, { unlessLive }).snapshots['a']?.phase
  expect(toPhase('running', false)).toBe('running')
  expect(toPhase('completed', true)).toBe('ended')
})

it('shows an ended run no more that was deleted, and goes on showing one that was not reached', () => {
  const shown = takeSummary(NOTHING, { ...SUMMARY, state: 'completed' }, { unlessLive: true })
  expect(takeGone(shown, 'a', new Error('the connection was lost'))).toEqual({})
  const error = toBridgeError(new SluiceError({ id: 'run_not_found', runId: 'a', workspace: 'w' }))
  expect(takeGone(shown, 'a', error)).toEqual({ errors: { a: error }, summaries: {}, snapshots: {} })
})
