import { describe, expect, it, onTestFinished } from 'vitest'
import { formatMetrics, serveMetrics } from '../../../../src/main/cli/session/metrics.ts'
import { sendRaw } from '../../../helpers/raw-http.ts'
import { createLoadSnapshot } from '../progress/load-snapshot.ts'

/** The values of Prometheus' text format by series. Throws if the text is of another format. */
function parseMetrics(text: string): Map<string, number> {
  const types = new Set<string>()
  const values = new Map<string, number>()
  for (const line of text.trimEnd().split('\n')) {
    const comment = /^# (HELP|TYPE) (\w+) (.+)$/.exec(line)
    if (comment?.[1] === 'TYPE') types.add(comment[2] ?? '')
    if (comment !== null) continue
    const sample = /^(\w+)(\{testid="[\w-]+"\}) (\S+)$/.exec(line)
    if (sample === null || !types.has(sample[1] ?? '')) throw new Error(`not of the format: ${line}`)
    values.set(sample[1] ?? '', Number(sample[3]))
  }
  return values
}

describe("a load test's figures for Prometheus", () => {
  it("have k6's names and units", () => {
    const values = parseMetrics(formatMetrics(createLoadSnapshot({ dropped: 3, limitedSeconds: 2 })))
    expect(Object.fromEntries(values)).toMatchObject({
      k6_http_reqs_total: 5_000,
      k6_http_req_failed_rate: 0.0084,
      k6_dropped_iterations_total: 3,
      k6_vus: 12,
      k6_http_req_duration_p95: 0.0482,
      k6_http_req_duration_p99: 0.06104,
      k6_http_req_duration_med: 0.0241,
      k6_http_req_duration_avg: 0.026,
      k6_response_time_p99: 0.075,
      sluice_scheduled_rate: 200,
      sluice_achieved_rate: 198,
      sluice_generator_limited_seconds_total: 2,
      sluice_thresholds_crossed: 0,
    })
    // Nothing was measured of it yet.
    expect([...values.keys()].some((name) => name.includes('start_lag'))).toBe(false)
  })

  it('are nothing before there are any, and of other runs', () => {
    expect(formatMetrics(null)).toBe('')
    expect(formatMetrics({ ...createLoadSnapshot(), load: null })).toBe('')
  })

  it('are served to this machine alone, the newest ones', async () => {
    const server = await serveMetrics(0)
    onTestFinished(() => server.close())
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/)
    const empty = await fetch(server.url)
    expect(empty.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(await empty.text()).toBe('')
    server.update(createLoadSnapshot({ requests: 1 }))
    server.update(createLoadSnapshot({ requests: 2 }))
    const values = parseMetrics(await (await fetch(`${server.url}?x=1`)).text())
    expect(values.get('k6_http_reqs_total')).toBe(2)
    expect((await fetch(server.url, { method: 'POST', body: 'x' })).status).toBe(405)
    expect((await fetch(server.url.replace('/metrics', '/'))).status).toBe(404)
    expect(await (await fetch(server.url, { method: 'HEAD' })).text()).toBe('')
  })

  it('are not held up by incomplete requests', async () => {
    const server = await serveMetrics(0, { waitMs: 100 })
    onTestFinished(() => server.close())
    // Whichever comes first: the head's time, or that nothing moves.
    expect([0, 408]).toContain((await sendRaw(server.url, 'GET /metrics HTTP/1.1\r\nhost: ')).status)
    expect((await fetch(server.url)).status).toBe(200)
  })

  it('report a port that is in use', async () => {
    const server = await serveMetrics(0)
    onTestFinished(() => server.close())
    await expect(serveMetrics(Number(new URL(server.url).port))).rejects.toMatchObject({
      code: 'BAD_USAGE',
      message: expect.stringMatching(
        /^--metrics-port: cannot listen on 127\.0\.0\.1:\d+: another program uses that port$/,
      ),
    })
  })
})
