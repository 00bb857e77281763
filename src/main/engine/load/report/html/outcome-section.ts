import type { LoadGroup, LoadReport } from '../../../../../shared/load/load-report.ts'
import { formatCount, formatMs, formatShare } from '../../../../../shared/messages/figure-text.ts'
import { html, type Markup, quoteForeign } from './markup.ts'
import { drawTable } from './table.ts'

/** Groups of errors that a page lists; more of them say nothing new. */
const ERRORS_MAX = 100

/** Answers by status, and what did not succeed by how. */
export function drawOutcomes({ counts, statuses, errors }: LoadReport): Markup {
  const total = statuses.reduce((sum, { requests }) => sum + requests, 0)
  return html`<section><h2>Answers</h2>
${
  statuses.length === 0
    ? html`<p class="none">There were none.</p>`
    : drawTable({
        caption: 'By HTTP status and error code',
        columns: [
          { title: 'status', align: 'left' },
          { title: 'error code', align: 'left' },
          { title: 'requests', align: 'right' },
          { title: 'share', align: 'right' },
        ],
        rows: statuses.map(({ status, errorCode, requests }) => [
          status === null ? 'no answer' : String(status),
          errorCode === null ? '' : quoteForeign(errorCode),
          formatCount(requests),
          formatShare(requests / total),
        ]),
      })
}
<h2>Errors</h2>
${errors.length === 0 ? html`<p class="none">${counts.sent === 0 ? 'Nothing was sent.' : 'Every request succeeded.'}</p>` : drawErrors(errors)}</section>`
}

function drawErrors(errors: LoadReport['errors']): Markup {
  const left = errors.length - ERRORS_MAX
  return html`${drawTable({
    caption: 'What did not succeed, alike in how',
    columns: [
      { title: 'outcome', align: 'left' },
      { title: 'status', align: 'left' },
      { title: 'message', align: 'left' },
      { title: 'requests', align: 'right' },
      { title: 'seconds', align: 'right' },
    ],
    rows: errors
      .slice(0, ERRORS_MAX)
      .map(({ outcome, status, errorCode, message, requests, firstSecond, lastSecond }) => [
        outcome,
        html`${status === null ? 'no answer' : String(status)}${errorCode === null ? null : html` ${quoteForeign(errorCode)}`}`,
        quoteForeign(message),
        formatCount(requests),
        firstSecond === lastSecond ? String(firstSecond) : `${firstSecond} to ${lastSecond}`,
      ]),
  })}${left > 0 ? html`<p class="about">${formatCount(left)} further groups are left out.</p>` : null}`
}

const GROUPINGS = [
  { by: 'model', title: 'By model' },
  { by: 'size', title: 'By size of content' },
] as const

/** Latency by model and by size of content, where the source has them. */
export function drawGroups({ groups }: LoadReport): Markup[] {
  return GROUPINGS.flatMap(({ by, title }) => {
    const members = groups.filter((group) => group.by === by)
    return members.length === 0
      ? []
      : [html`<section><h2>${title}</h2>${drawGroupTable(by, members)}</section>`]
  })
}

function drawGroupTable(by: LoadGroup['by'], groups: readonly LoadGroup[]): Markup {
  const points = ['p50', 'p90', 'p99', 'max'] as const
  return drawTable({
    caption: 'http_req_duration of each',
    columns: [
      { title: by, align: 'left' },
      { title: 'requests', align: 'right' },
      { title: 'did not succeed', align: 'right' },
      ...points.map((point) => ({ title: point, align: 'right' as const })),
    ],
    rows: groups.map(({ label, requests, failed, httpReqDurationMs }) => [
      quoteForeign(label),
      formatCount(requests),
      requests === 0 ? '–' : formatShare(failed / requests),
      ...points.map((point) => (httpReqDurationMs === null ? '–' : formatMs(httpReqDurationMs[point]))),
    ]),
  })
}
