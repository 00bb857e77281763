import { toErrorKey, toErrorPattern } from '../../../shared/run/error-groups.ts'
import { type ItemState, isSettled } from '../../../shared/run/item-state.ts'
import type { Counters } from './counters.ts'

/** Causes of errors that are counted apart; further ones are counted together. */
const ERROR_GROUPS_MAX = 200
/** What stands for the messages of further causes. */
export const FURTHER_ERRORS = '(further errors, each with a message of its own)'

/** How a row ended, as far as rows that ended alike are told by it. */
export interface ErrorCause {
  state: ItemState
  status: number | null
  errorCode: string | null
  message: string | null
}

/** Counts rows that ended without success by their cause; others are not counted. */
export function countError(counters: Counters, cause: ErrorCause, rows: number): void {
  if (!isError(cause.state)) return
  const group = toGroup(cause)
  const groups = counters.entries('error')
  const isRoom = groups.has(group) || groups.size < ERROR_GROUPS_MAX
  counters.add('error', isRoom ? group : toFurther(cause.state), rows)
}

/** Takes rows back that {@link countError} counted, since they have succeeded after all. */
export function uncountError(counters: Counters, cause: ErrorCause, rows: number): void {
  const group = findErrorGroup(counters.entries('error'), cause, rows)
  if (group !== null) counters.add('error', group, -rows)
}

/** The group in which {@link countError} counted rows; null where it did not count them. */
export function findErrorGroup(
  groups: ReadonlyMap<string, number>,
  cause: ErrorCause,
  rows: number,
): string | null {
  if (!isError(cause.state)) return null
  const group = toGroup(cause)
  return (groups.get(group) ?? 0) >= rows ? group : toFurther(cause.state)
}

function isError(state: ItemState): boolean {
  return isSettled(state) && state !== 'succeeded'
}

function toGroup({ state, status, errorCode, message }: ErrorCause): string {
  const cause = errorCode !== null && status !== null ? toErrorPattern(message ?? '') : (message ?? '')
  return toErrorKey(state, status, errorCode, cause)
}

function toFurther(state: ItemState): string {
  return toErrorKey(state, null, null, FURTHER_ERRORS)
}
