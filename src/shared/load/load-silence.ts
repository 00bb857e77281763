import { formatCounted, formatSpan } from '../messages/figure-text.ts'
import type { LoadSilence } from './load-report.ts'

/** Says for how long a service answered nothing, and how many requests waited; without a full stop. */
export function sayLoadSilence({ fromMs, durationMs, unanswered }: LoadSilence): string {
  const open =
    unanswered === 0
      ? 'requests were'
      : unanswered === 1
        ? '1 request was'
        : `${formatCounted(unanswered, 'request')} were`
  return `No answer came for ${formatSpan(durationMs)} (from second ${Math.floor(fromMs / 1000)} on) while ${open} open`
}

/** Says that a service currently answers nothing, and for how long. */
export function sayLiveSilence(silentMs: number): string {
  return `no answer for ${formatSpan(silentMs)}`
}
