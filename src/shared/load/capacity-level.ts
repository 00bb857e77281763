import { formatCount, formatCounted } from '../messages/figure-text.ts'

/** What a search varies: requests a second, or requests in flight. */
export type CapacityUnit = 'rate' | 'concurrency'

/** A level with its unit: `300/s`, `16 in flight`. */
export function formatLevel(unit: CapacityUnit, level: number): string {
  return unit === 'rate' ? `${level.toLocaleString('en-US')}/s` : `${formatCount(level)} in flight`
}

/** A level in words: `300 requests per second`, `16 requests in flight`. */
export function formatLongLevel(unit: CapacityUnit, level: number): string {
  return unit === 'rate'
    ? `${level.toLocaleString('en-US')} requests per second`
    : `${formatCounted(level, 'request')} in flight`
}
