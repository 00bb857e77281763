import type { RowState } from '../run/item-state.ts'

/** A row's state as documents, exports and options name it: the words of a summary's counts. */
export type StateName = Exclude<RowState, 'pending' | 'acknowledged'> | 'not_sent' | 'awaiting'

/** The name of a state outside of the journal. */
export function toStateName(state: RowState): StateName {
  if (state === 'pending') return 'not_sent'
  return state === 'acknowledged' ? 'awaiting' : state
}

/** The state that a name stands for. */
export function fromStateName(name: StateName): RowState {
  if (name === 'not_sent') return 'pending'
  return name === 'awaiting' ? 'acknowledged' : name
}

/** A row's state for a person to read; a row that was sent before and waits to be sent again is to be repeated. */
export function describeState({ state, attempts }: { state: RowState; attempts: number }): string {
  if (state === 'pending' && attempts > 0) return 'to be repeated'
  return toStateName(state).replaceAll('_', ' ')
}
