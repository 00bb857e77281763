import { COUNTED_STATES, type RowState, type StateName } from '../run/item-state.ts'

const NAMES = new Map<string, StateName>(COUNTED_STATES.map(({ state, count }) => [state, count]))

/** The name of a state outside of the journal. What is none, such as an answer that a comparison shows, stays as it is. */
export function toStateName(state: RowState): StateName {
  return NAMES.get(state) ?? (state as StateName)
}

export function fromStateName(name: StateName): RowState {
  return COUNTED_STATES.find(({ count }) => count === name)?.state ?? (name as RowState)
}

/** A row's state for a person to read; a row that was sent before and waits to be sent again is to be repeated. */
export function describeState({ state, attempts }: { state: RowState; attempts: number }): string {
  if (state === 'pending' && attempts > 0) return 'to be repeated'
  return toStateName(state).replaceAll('_', ' ')
}
