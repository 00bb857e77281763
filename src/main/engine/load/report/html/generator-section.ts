import type { LoadReport } from '../../../../../shared/load/load-report.ts'
import { formatCount, formatMs, formatShare } from '../../../../../shared/messages/figure-text.ts'
import { html, type Markup } from './markup.ts'
import { drawFacts } from './table.ts'
import { drawGeneratorChart } from './timeline-section.ts'

/** How the machine that sent the load did: whether its figures are to be believed. */
export function drawGenerator(report: LoadReport): Markup {
  const { generator, durationMs } = report
  const seconds = Math.max(generator.limitedSeconds, Math.ceil(durationMs / 1000))
  const orNone = (ms: number | null) => (ms === null ? 'not watched' : formatMs(ms))
  const facts: [string, string][] = [
    ['Verdict', toVerdict(report)],
    ...(generator.achievedShare === null
      ? []
      : [['Schedule achieved', formatShare(generator.achievedShare)] satisfies [string, string]]),
    ['Seconds limited', `${formatCount(generator.limitedSeconds)} of ${formatCount(seconds)}`],
    ['start_lag p99', orNone(generator.startLagP99Ms)],
    ['Longest stall of the event loop', orNone(generator.eventLoopMaxMs)],
    [
      'Garbage collections',
      generator.gcMaxMs === null
        ? formatCount(generator.gcPauses)
        : `${formatCount(generator.gcPauses)}, the longest ${formatMs(generator.gcMaxMs)}`,
    ],
    ['Waited for one in flight to end', formatCount(generator.waited)],
    ['Dropped', formatCount(generator.dropped)],
    ['Sending threads', formatCount(generator.workers)],
  ]
  return html`<section><h2>The machine that sent</h2>
${drawFacts(facts)}
${drawGeneratorChart(report)}</section>`
}

function toVerdict({ generator, counts }: LoadReport): string {
  if (generator.limited) return 'the limit at times'
  return counts.sent === 0 ? 'nothing was sent' : 'kept up: the figures tell of the service and the way to it'
}
