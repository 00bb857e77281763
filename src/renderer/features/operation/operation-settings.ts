import {
  OPERATIONS,
  type Operation,
  type OperationKind,
  type TaskOperation,
  targetOf,
  withTarget,
} from '../../../shared/operations/operations.ts'
import { CALLBACK_TIMEOUT_MS } from '../../../shared/options/callback-options.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { findModel } from '../../../shared/service/models.ts'
import { isLoopback, parseBaseUrl } from '../../ui/connection/destination.ts'

/** What was set for operations that are not chosen at the moment, so that looking at another card loses nothing. */
export type RememberedOperations = Partial<Record<OperationKind, Operation>>

/** An operation as it is first offered; its index or watchlist is that of its counterpart if there is one. */
function createOperation(kind: OperationKind, remembered: RememberedOperations): Operation {
  const { first, target } = OPERATIONS[kind]
  const known = Object.values(remembered)
    .filter((one) => OPERATIONS[one.kind].target?.kind === target?.kind)
    .map(targetOf)
    .find((name) => name !== null && name !== '')
  return withTarget(first, known ?? '')
}

/** The operation of that kind as it was left, or as it is first offered. */
export function chooseOperation(kind: OperationKind, remembered: RememberedOperations): Operation {
  return remembered[kind] ?? createOperation(kind, remembered)
}

/** The operation with another version of the interface, and without the options that this version does not have. */
export function chooseVersion(operation: TaskOperation, api: TaskOperation['api']): TaskOperation {
  if (api === 'v2') return { ...operation, api, legacy: false }
  // v1 takes one model, and no custom index (docs/interface.md §4.1).
  const models = operation.models.filter((name) => findModel(name) !== null).slice(0, 1)
  return { ...operation, api, models }
}

/** What an operation still lacks, or null. */
export function findOperationGap(operation: Operation): string | null {
  if (targetOf(operation)?.trim() !== '') return null
  return OPERATIONS[operation.kind].target?.missing ?? null
}

/** Where and how long callbacks are awaited, as typed. */
export interface CallbackSettings {
  /** Public base of the receiver; empty if its own address will do. */
  publicUrl: string
  /** From an acknowledgement until its row is overdue, minutes. */
  overdueMinutes: number
}

/** What an async run starts with unless the person says otherwise. */
export const DEFAULT_CALLBACK: CallbackSettings = {
  publicUrl: '',
  overdueMinutes: CALLBACK_TIMEOUT_MS / 60_000,
}

/** Longest that can be waited for a callback: a week, in minutes. */
export const OVERDUE_MAX_MINUTES = 7 * 24 * 60

export function findCallbackGap({ publicUrl }: CallbackSettings): string | null {
  if (publicUrl.trim() === '') return null
  const parsed = parseBaseUrl(publicUrl)
  return parsed.kind === 'bad' ? parsed.message : null
}

export function toPlanCallback({
  publicUrl,
  overdueMinutes,
}: CallbackSettings): Pick<Plan['callback'], 'timeoutMs' | 'url'> {
  const parsed = parseBaseUrl(publicUrl)
  return { timeoutMs: overdueMinutes * 60_000, ...(parsed.kind === 'url' && { url: parsed.url }) }
}

/** Whether a remote service would get an address that only works on this machine. */
export function isOutOfReach(serviceUrl: string | null, callbackUrl: string): boolean {
  return serviceUrl !== null && !isLoopback(serviceUrl) && isLoopback(callbackUrl)
}
