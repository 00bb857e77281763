import { expect, test } from 'vitest'
import { describeState, fromStateName, toStateName } from '../../../src/shared/messages/state-name.ts'

test('a state has one name in documents and one wording for people', () => {
  expect(toStateName('pending')).toBe('not_sent')
  expect(toStateName('acknowledged')).toBe('awaiting')
  for (const state of ['pending', 'acknowledged', 'succeeded', 'overdue', 'invalid'] as const) {
    expect(fromStateName(toStateName(state))).toBe(state)
  }
  expect(describeState({ state: 'pending', attempts: 0 })).toBe('not sent')
})

test('a row that was sent before and waits to be sent again is to be repeated', () => {
  expect(describeState({ state: 'pending', attempts: 1 })).toBe('to be repeated')
})
