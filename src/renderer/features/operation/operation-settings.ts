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

/** Settings of operations that are not currently chosen, so that viewing another card loses nothing. */
export type RememberedOperations = Partial<Record<OperationKind, Operation>>

/** An operation with initial settings; it takes the index or watchlist of its counterpart if there is one. */
function createOperation(kind: OperationKind, remembered: RememberedOperations): Operation {
  const { first, target } = OPERATIONS[kind]
  const known = Object.values(remembered)
    .filter((one) => OPERATIONS[one.kind].target?.kind === target?.kind)
    .map(targetOf)
    .find((name) => name !== null && name !== '')
  return withTarget(first, known ?? '')
}

/** The operation of this kind with its earlier settings, or else its initial ones. */
export function chooseOperation(kind: OperationKind, remembered: RememberedOperations): Operation {
  return remembered[kind] ?? createOperation(kind, remembered)
}

/** The operation with another version of the interface, without options that this version lacks. */
export function chooseVersion(operation: TaskOperation, api: TaskOperation['api']): TaskOperation {
  if (api === 'v2') return { ...operation, api, legacy: false }
  // v1 accepts one model, and no custom index (docs/interface.md §4.1).
  const models = operation.models.filter((name) => findModel(name) !== null).slice(0, 1)
  return { ...operation, api, models }
}

/** What is missing in an operation; null if nothing. */
export function findOperationGap(operation: Operation): string | null {
  if (targetOf(operation)?.trim() !== '') return null
  return OPERATIONS[operation.kind].target?.missing ?? null
}

/** Where to receive callbacks and how long to wait for them, as typed. */
export interface CallbackSettings {
  /** Public base of the receiver; empty to use its own address. */
  publicUrl: string
  /** Minutes from an acknowledgement until its row is overdue. */
  overdueMinutes: number
}

export const DEFAULT_CALLBACK: CallbackSettings = {
  publicUrl: '',
  overdueMinutes: CALLBACK_TIMEOUT_MS / 60_000,
}

/** Longest time to wait for a callback: a week, in minutes. */
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
