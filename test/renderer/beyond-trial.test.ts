import { expect, it } from 'vitest'
import { describeSendingTo } from '../../src/renderer/features/review/beyond-trial.ts'

it.each([
  ['Being sent to ', 'running', 3],
  ['Being sent to ', 'draining', 3],
  ['Paused while being sent to ', 'paused', 3],
  ['Sent to ', 'awaiting', 0],
  ['Sent to ', 'ended', 0],
  ['Sent in part to ', 'ended', 3],
] as const)('says "%s" of a run that is %s with %d rows left', (words, phase, left) => {
  const run = { phase, rows: { not_sent: left } } as Parameters<typeof describeSendingTo>[0]
  expect(describeSendingTo(run, false)).toBe(words)
})

it('says "Sent to" of a load test that ended before it had sent each row', () => {
  const run = { phase: 'ended', rows: { not_sent: 3 } } as Parameters<typeof describeSendingTo>[0]
  expect(describeSendingTo(run, true)).toBe('Sent to ')
})
