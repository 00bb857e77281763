import { COUNTED_STATES, type RowState, type StateName } from '../run/item-state.ts'

const NAMES = new Map<string, StateName>(COUNTED_STATES.map(({ state, count }) => [state, count]))

/** The public name of a row state. Other texts, such as an answer in a comparison, stay unchanged. */
export function toStateName(state: RowState): StateName {
  return NAMES.get(state) ?? (state as StateName)
}

export function fromStateName(name: StateName): RowState {
  return COUNTED_STATES.find(({ count }) => count === name)?.state ?? (name as RowState)
}

/** A row's state in words; a row that was sent before and waits to be resent has words of its own. */
export function describeState({ state, attempts }: { state: RowState; attempts: number }): string {
  if (state === 'pending' && attempts > 0) return 'to be repeated'
  return toStateName(state).replaceAll('_', ' ')
}
