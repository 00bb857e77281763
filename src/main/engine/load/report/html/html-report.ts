import { createHash } from 'node:crypto'
import type { LoadReport } from '../../../../../shared/load/load-report.ts'
import { drawComparison } from './comparison-section.ts'
import { drawFigures, drawLatencies } from './figures-section.ts'
import { drawGenerator } from './generator-section.ts'
import { drawHead, drawThresholds } from './head-section.ts'
import { html, toStyle } from './markup.ts'
import { drawGroups, drawOutcomes } from './outcome-section.ts'
import { PAGE_STYLE } from './page-style.ts'
import { drawTimeline } from './timeline-section.ts'

/**
 * A load test as one page that opens anywhere without a network: it holds no script, loads nothing, and its policy
 * lets pass nothing but its own style sheet. Whether the machine that sent was the limit is said before any number.
 */
export function formatHtmlReport(report: LoadReport): string {
  const hash = createHash('sha256').update(PAGE_STYLE).digest('base64')
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`
  const page = html`<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${report.name} · load test</title>
${toStyle(PAGE_STYLE)}
</head>
<body>
<main>
${drawHead(report)}
${drawThresholds(report)}
${drawFigures(report)}
${drawLatencies(report)}
${drawTimeline(report)}
${drawOutcomes(report)}
${drawGroups(report)}
${report.comparison === null ? null : drawComparison(report.comparison)}
${drawGenerator(report)}
<footer>
<p>Percentiles are from HDR histograms of microseconds with three figures. response_time and start_lag count from the instant a request was due, so that nothing which delays the sending is hidden.</p>
</footer>
</main>
</body>
</html>
`
  return `<!doctype html>\n${page.markup}`
}
