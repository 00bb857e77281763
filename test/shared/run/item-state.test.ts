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

const STATES: ItemState[] = [
  'pending',
  'sending',
  'acknowledged',
  'succeeded',
  'rejected',
  'failed',
  'unknown',
  'overdue',
]

/** The state of an item after events that each had an effect; null if one had none. */
function follow(...events: readonly ItemEvent[]): ItemState | null {
  return events.reduce<ItemState | null>(
    (state, event) => (state === null ? null : nextItemState(state, event)),
    'pending',
  )
}

test.each<[string, ItemEvent[], ItemState]>([
  ['is sent and taken', ['claimed', 'succeeded'], 'succeeded'],
  ['is refused', ['claimed', 'rejected'], 'rejected'],
  ['is given up', ['claimed', 'failed'], 'failed'],
  ['is sent again after a back-off', ['claimed', 'retry', 'claimed', 'succeeded'], 'succeeded'],
  ['is let go of by a run that stops', ['claimed', 'released'], 'pending'],
  ['is lost on the way', ['claimed', 'lost'], 'unknown'],
  ['is lost, and sent again by a word of the person', ['claimed', 'lost', 'resend', 'claimed'], 'sending'],
  ['is taken and awaits its callback', ['claimed', 'acknowledged'], 'acknowledged'],
  ['is called back', ['claimed', 'acknowledged', 'callback_succeeded'], 'succeeded'],
  ['is called back with an error', ['claimed', 'acknowledged', 'callback_rejected'], 'rejected'],
  ['is called back too late', ['claimed', 'acknowledged', 'timed_out'], 'overdue'],
  ['is called back before its acknowledgement', ['claimed', 'callback_succeeded'], 'succeeded'],
  ['is given up and was taken all the same', ['claimed', 'failed', 'callback_succeeded'], 'succeeded'],
  ['is given up and was refused', ['claimed', 'failed', 'callback_rejected'], 'rejected'],
  ['is refused and was taken by an earlier try', ['claimed', 'rejected', 'callback_succeeded'], 'succeeded'],
])('an item that %s', (_what, events, expected) => {
  expect(follow(...events)).toBe(expected)
})

test('an answer, a timeout and a decision only have an effect in states where they can occur', () => {
  const ways = (event: ItemEvent) => STATES.filter((state) => nextItemState(state, event) !== null)
  expect(ways('claimed')).toEqual(['pending'])
  for (const answer of [
    'released',
    'succeeded',
    'acknowledged',
    'rejected',
    'failed',
    'lost',
    'retry',
  ] as const) {
    expect(ways(answer)).toEqual(['sending'])
  }
  expect(ways('timed_out')).toEqual(['acknowledged'])
  expect(ways('resend')).toEqual(['unknown'])
})

test('a callback is accepted while nothing is known, and its yes outweighs every no', () => {
  for (const state of STATES) {
    expect(nextItemState(state, 'callback_succeeded')).toBe(state === 'succeeded' ? null : 'succeeded')
    const isToldAlready = state === 'succeeded' || state === 'rejected'
    expect(nextItemState(state, 'callback_rejected')).toBe(isToldAlready ? null : 'rejected')
  }
})

test.each(STATES)('an item that is %s is settled only if it no longer changes on its own', (state) => {
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

test('only the person’s decision or a callback takes an item out of unknown', () => {
  const ways = EVENTS.filter((event) => nextItemState('unknown', event) !== null)
  expect(ways).toEqual(['callback_succeeded', 'callback_rejected', 'resend'])
})
