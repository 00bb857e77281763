import { CALLBACK_TIMEOUT_MS, type Plan } from '../../../shared/plan/plan.ts'
import { isLoopback, parseBaseUrl } from '../../ui/connection/destination.ts'

/** Where and how long callbacks are awaited, as typed. */
export interface CallbackSettings {
  /** Public base of the receiver; empty where its own address will do. */
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

/** What is wrong with the settings, or null. */
export function findCallbackGap({ publicUrl }: CallbackSettings): string | null {
  if (publicUrl.trim() === '') return null
  const parsed = parseBaseUrl(publicUrl)
  return parsed.kind === 'bad' ? parsed.message : null
}

/** The settings as a plan has them. */
export function toPlanCallback({
  publicUrl,
  overdueMinutes,
}: CallbackSettings): Pick<Plan['callback'], 'timeoutMs' | 'url'> {
  const parsed = parseBaseUrl(publicUrl)
  return { timeoutMs: overdueMinutes * 60_000, ...(parsed.kind === 'url' && { url: parsed.url }) }
}

/** Whether a service elsewhere would be told an address that only this machine knows. */
export function isOutOfReach(serviceUrl: string | null, callbackUrl: string): boolean {
  return serviceUrl !== null && !isLoopback(serviceUrl) && isLoopback(callbackUrl)
}
