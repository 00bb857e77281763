import { expect, test } from 'vitest'
import { toLoadView } from '../../../../src/shared/load/load-view.ts'
import { startFaultServer, toErrorAnswer, toTaskAnswer, type Wire } from '../../../helpers/fault-server.ts'
import { firstOf } from '../../../helpers/long-form.ts'
import { createDraw } from '../../../helpers/seeded-draw.ts'
import { openTestFolder } from '../../../helpers/test-folder.ts'
import { createLoadRuns, type LoadResult } from './load-runs.ts'

const loads = createLoadRuns(openTestFolder())

/** Every way in which a request can end. */
const WAYS: readonly ((wire: Wire) => void)[] = [
  (wire) => wire.send(503, toErrorAnswer(503, 'BUSY', 'not now')),
  (wire) => wire.send(429, toErrorAnswer(429, 'RATE_LIMITED', 'slow down'), { 'retry-after': '0' }),
  (wire) => wire.send(400, toErrorAnswer(400, 'INVALID_PARAM', 'not this')),
  (wire) => wire.send(200, toErrorAnswer(400, 'INVALID_PARAM', 'an error inside a 200')),
  (wire) => wire.send(200, '<html>'),
  (wire) => wire.reset(),
]

/** Every place that counts requests; all must agree. */
function listSums({ summary, report }: LoadResult) {
  const sum = (all: readonly { requests: number }[]) => all.reduce((n, { requests }) => n + requests, 0)
  const { sent, succeeded, rejected, failed, unknown } = summary.requests
  const { counts } = report
  return {
    sent,
    byOutcome: succeeded + rejected + failed + unknown,
    inReport: counts.sent,
    inReportByOutcome: counts.succeeded + counts.rejected + counts.failed + counts.unknown,
    firstTriesAndRetries: (summary.load?.iterations ?? 0) + summary.requests.retried,
    byStatus: sum(report.statuses),
    byError: sum(report.errors) + succeeded,
    bySize: sum(report.groups.filter(({ by }) => by === 'size')),
    sentInSeconds: report.seconds.reduce((n, second) => n + second.counts.sent, 0),
    endedInSeconds: report.seconds.reduce(
      (n, second) =>
        n + second.counts.succeeded + second.counts.rejected + second.counts.failed + second.counts.unknown,
      0,
    ),
    withConnection: report.connections.opened + report.connections.reused,
  }
}

test.each(firstOf(2, [1, 2, 3, 4]))(
  'all counts of a drawn load test with retries add up (seed %i)',
  async (seed) => {
    const draw = createDraw(seed)
    const [failing, retries] = [draw(), Math.floor(draw() * 3)]
    const server = await startFaultServer({
      onRequest: (request, wire) => {
        const way = WAYS[Math.floor(draw() * WAYS.length)]
        if (draw() < failing && way !== undefined) way(wire)
        else wire.send(200, toTaskAnswer(request))
      },
    })
    const [requests, concurrency] = [30 + Math.floor(draw() * 30), 1 + Math.floor(draw() * 5)]
    const result = await loads.run(
      loads.createPlan(
        7,
        server.baseUrl,
        {
          pace: { kind: 'closed', concurrency },
          requests,
          workers: Math.min(concurrency, 1 + Math.floor(draw() * 2)),
          thresholds: ['http_reqs:count>0', 'http_req_failed:rate<=1'],
        },
        { retry: { limit: retries, baseMs: 1, maxMs: 2 } },
      ),
    )
    const { summary, report } = result
    const sums = listSums(result)
    const came = server.requests.length
    expect(sums, `failing ${failing}, retries ${retries}`).toEqual(
      Object.fromEntries(Object.keys(sums).map((name) => [name, came])),
    )
    expect(summary.load?.iterations).toBe(requests)
    expect(report.retried).toBe(came - requests)
    const { succeeded } = summary.requests
    expect(summary.thresholds?.map(({ value }) => value)).toEqual([came, (came - succeeded) / came])
    expect(report.answered).toBe(
      report.statuses.reduce((n, one) => n + (one.status === null ? 0 : one.requests), 0),
    )
    // The text for people.
    const facts = new Map(toLoadView(report).requests.map(({ label, note = '' }) => [label, note]))
    const retried =
      report.retried === 0 ? '' : `, ${report.retried} ${report.retried === 1 ? 'retry' : 'retries'} included`
    expect(facts.get('Sent')).toBe(`${came} in total${retried}`)
    expect(facts.get('Answered')).toBe(`${report.answered} in total`)
    expect(facts.get('Succeeded')).toMatch(new RegExp(`^${succeeded} in total, `))
  },
)
