import { expect, test } from 'vitest'
import {
  type ItemEvent,
  type ItemState,
  isSettled,
  nextItemState,
} from '../../../src/shared/run/item-state.ts'

const EVENTS: ItemEvent[] = [
  'claimed',
  'released',
  'succeeded',
  'acknowledged',
  'rejected',
  'failed',
  'lost',
  'retry',
  'timed_out',
  'callback_succeeded',
  'callback_rejected',
  'resend',
]

/** Every state, and what each event makes of it; an event that is not named means nothing there. */
const TABLE: Record<ItemState, Partial<Record<ItemEvent, ItemState>>> = {
  pending: { claimed: 'sending', callback_succeeded: 'succeeded', callback_rejected: 'rejected' },
  sending: {
    released: 'pending',
    succeeded: 'succeeded',
    acknowledged: 'acknowledged',
    rejected: 'rejected',
    failed: 'failed',
    lost: 'unknown',
    retry: 'pending',
    callback_succeeded: 'succeeded',
    callback_rejected: 'rejected',
  },
  acknowledged: { timed_out: 'overdue', callback_succeeded: 'succeeded', callback_rejected: 'rejected' },
  overdue: { callback_succeeded: 'succeeded', callback_rejected: 'rejected' },
  unknown: { resend: 'pending', callback_succeeded: 'succeeded', callback_rejected: 'rejected' },
  succeeded: {},
  rejected: { callback_succeeded: 'succeeded' },
  failed: { callback_succeeded: 'succeeded', callback_rejected: 'rejected' },
}

const STATES = Object.keys(TABLE) as ItemState[]

test.each(
  STATES.flatMap((state) => EVENTS.map((event) => [state, event, TABLE[state][event] ?? null] as const)),
)('an item that is %s and meets %s: %s', (state, event, expected) => {
  expect(nextItemState(state, event)).toBe(expected)
})

test.each(STATES)('an item that is %s is settled just where nothing will happen by itself', (state) => {
  expect(isSettled(state)).toBe(!['pending', 'sending', 'acknowledged'].includes(state))
})

test('a callback settles an item once: doubled, early and late ones change nothing more', () => {
  for (const state of STATES) {
    const settled = nextItemState(state, 'callback_succeeded')
    if (settled === null) continue
    expect(settled).toBe('succeeded')
    expect(nextItemState(settled, 'callback_succeeded')).toBeNull()
    expect(nextItemState(settled, 'callback_rejected')).toBeNull()
    expect(nextItemState(settled, 'acknowledged')).toBeNull()
    expect(nextItemState(settled, 'timed_out')).toBeNull()
  }
})

test('only the person’s word or a callback takes an item out of unknown', () => {
  const ways = EVENTS.filter((event) => nextItemState('unknown', event) !== null)
  expect(ways).toEqual(['callback_succeeded', 'callback_rejected', 'resend'])
})
