import { formatCount, formatFigure } from '../messages/figure-text.ts'
import type { LoadReport } from './load-report.ts'
import { isFromK6 } from './load-text.ts'
import type { ThresholdResult } from './thresholds.ts'

/** A threshold's value as a person reads it: `612 ms`, `1.2 %`, `1,204`; `nothing measured` where there is none. */
export function formatThresholdValue({ value, unit }: Pick<ThresholdResult, 'value' | 'unit'>): string {
  return value === null ? 'nothing measured' : toText(value, unit)
}

/** By how much a threshold holds or is crossed: `crossed by 112 ms (22.4 % of the limit)`, `88.0 ms to spare (…)`. */
export function formatThresholdMargin({ ok, limit, margin, unit }: ThresholdResult): string {
  if (margin === null) return 'nothing shows that it holds'
  const size = Math.abs(margin)
  const relative = limit === 0 ? '' : ` (${formatFigure((size / Math.abs(limit)) * 100)} % of the limit)`
  // A difference of shares, with their ratio.
  const distance = unit === 'share' ? `${formatFigure(size * 100)} points` : toText(size, unit)
  if (!ok) return size === 0 ? 'at the limit itself' : `crossed by ${distance}${relative}`
  return size === 0 ? 'exactly' : `${distance} to spare${relative}`
}

/** One line: `✗ p(99)<500: 612 ms, crossed by 112 ms (22.4 % of the limit)`. */
export function formatThresholdResult(result: ThresholdResult): string {
  const mark = result.ok ? '✓' : '✗'
  return `${mark} ${result.expression}: ${formatThresholdValue(result)}, ${formatThresholdMargin(result)}`
}

function toText(value: number, unit: ThresholdResult['unit']): string {
  if (unit === 'ms') return `${formatFigure(value)} ms`
  // A share of 0.0104 against a limit of 0.01 must not read "1.0 %".
  if (unit === 'share') return `${formatFigure(value * 100)} %`
  return Number.isInteger(value) ? formatCount(value) : formatFigure(value)
}

/** That requests did not succeed and no threshold is about it, with what to do; null where that is not so. */
export function noteUnjudged(report: Pick<LoadReport, 'thresholds' | 'counts' | 'generator'>): string | null {
  const { thresholds, counts } = report
  const unsuccessful = counts.rejected + counts.failed + counts.unknown
  const isJudged = thresholds.some(({ expression }) => expression.startsWith('http_req_failed'))
  // Of k6's thresholds not all are known.
  if (unsuccessful === 0 || isJudged || isFromK6(report)) return null
  const what = thresholds.length === 0 ? 'None was given' : 'None is about failures'
  const share = `${formatCount(unsuccessful)} of ${formatCount(counts.sent)}`
  return `${what}, so requests that did not succeed (${share}) fail nothing; http_req_failed:rate<0.01 is such a threshold.`
}
