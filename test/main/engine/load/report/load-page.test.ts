import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { formatLoadPage } from '../../../../../src/main/engine/load/report/load-page.ts'
import { toBuckets } from '../../../../../src/main/engine/page/chart-series.ts'
import { compareRuns } from '../../../../../src/shared/load/compare.ts'
import { createHistogram, recordUs } from '../../../../../src/shared/load/latency-meter.ts'
import type { LoadReport } from '../../../../../src/shared/load/load-report.ts'
import { toLatencyHistory } from '../../../../../src/shared/load/statistics.ts'
import { buildEmptyLoadReport, buildLoadReport } from './build-load-report.ts'

const HOSTILE = '</title><script>alert(1)</script><img src=x onerror="alert(1)">\'&\u202E\u0000'

/** The visible text, in order. */
function toVisibleText(page: string): string {
  return page
    .replaceAll(/<style>.*?<\/style>|<title>.*?<\/title>/gs, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&#39;/g, "'")
    .replaceAll(/&lt;/g, '<')
    .replaceAll(/&gt;/g, '>')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** A load test that repeats the same second. */
function buildLongReport(length: number): LoadReport {
  const report = buildLoadReport({ seconds: 1 })
  const [first] = report.seconds
  if (first === undefined) throw new Error('there is a second')
  return { ...report, seconds: Array.from({ length }, (_, second) => ({ ...first, second })) }
}

const read = (report: LoadReport) => toVisibleText(formatLoadPage(report))

describe('the page of a load test', () => {
  const page = formatLoadPage(buildLoadReport({ stalled: [20], failingFrom: 30 }))

  test('loads nothing, runs nothing, and allows only its own style', () => {
    const style = /<style>(.*?)<\/style>/s.exec(page)?.[1] ?? ''
    const hash = createHash('sha256').update(style).digest('base64')
    expect(page).toContain(
      `content="default-src &#39;none&#39;; style-src &#39;sha256-${hash}&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;"`,
    )
    expect(page).not.toMatch(
      /<script|<link|<img|<iframe|<object|\ssrc=|\shref=|\sstyle=|\son\w+=|url\(|@import/i,
    )
  })

  test('warns of doubts about the test as a whole, and about rows', () => {
    const warnings = [
      { code: 'LATENCY_OF_FAILURES', message: 'The threshold p(95)<500 is mostly about failures.' },
      { code: 'ragged_row', rows: 2, message: 'has fewer cells than the header' },
    ]
    const text = read({ ...buildLoadReport({ seconds: 1 }), warnings })
    expect(text).toContain('The threshold p(95)<500 is mostly about failures.')
    expect(text).toContain('2 rows: has fewer cells than the header')
  })

  test('has every section, thresholds before figures', () => {
    const headings = [...page.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, heading = '']) => toVisibleText(heading))
    expect(headings).toEqual([
      'Thresholds',
      'Requests',
      'Latency',
      'Over time',
      'Answers',
      'Errors',
      'This machine: kept up',
    ])
  })

  test('shows what was measured', () => {
    const text = toVisibleText(page)
    for (const part of [
      'posts.csv at 200 a second Load test of https://service.test/v · task, sync, v1 · rows of posts.csv',
      'Measured for 1 min, after 5 s of warm-up, from 2026-11-21 09:43:29 UTC',
      'Sent 200/s 12,000 in total',
      'Succeeded 190/s 11,400 in total, 95.0 %',
      'Did not succeed 5.0 % 600 rejected',
      '429 RATE_LIMITED 600 5.0 %',
      'rejected 429 RATE_LIMITED too many requests, wait 1 second 600 in seconds 30 to 59',
      'start_lag p99 0.50 ms',
    ]) {
      expect(text).toContain(part)
    }
  })

  test('draws latency and requests over time, the distribution and the tail', () => {
    const charts = [...page.matchAll(/role="img" aria-label="([^"]*)"/g)].map(([, label]) => label)
    expect(charts).toEqual([
      expect.stringMatching(/^Distribution of http_req_duration of 12,000 requests; half of them took/),
      expect.stringMatching(/^Distribution of response_time of 12,000 requests/),
      expect.stringMatching(/^Latency by percentile: response_time up to .*, http_req_duration up to/),
      expect.stringContaining('http_req_duration over time'),
      expect.stringContaining('response_time over time'),
      expect.stringContaining('start_lag over time'),
      expect.stringContaining('Requests per second over time'),
      expect.stringContaining('Longest stall'),
    ])
    // The second in which the service stalled is the highest point: nearest to the top of the chart.
    const tail = /<path class="line tail" d="(M71[^"]*)"/.exec(page.slice(page.indexOf('over time')))?.[1]
    const heights = [...(tail ?? '').matchAll(/[ML][\d.]+ ([\d.]+)/g)].map(([, y]) => Number(y)).slice(1)
    expect(heights).toHaveLength(60)
    expect(heights.indexOf(Math.min(...heights))).toBe(20)
  })

  test('leaves out the distribution of a latency that repeats another', () => {
    const report = buildLoadReport()
    const { http_req_duration: repeated = '' } = report.histograms
    const histograms = { ...report.histograms, succeeded_duration: repeated }
    const repeating = formatLoadPage({ ...report, histograms })
    expect(repeating).toContain('Distribution of http_req_duration')
    expect(repeating).not.toContain('succeeded_duration')
  })

  test('escapes all text from outside', () => {
    const hostile = formatLoadPage(
      buildLoadReport(
        { seconds: 2 },
        {
          name: HOSTILE,
          baseUrl: HOSTILE,
          source: HOSTILE,
          operation: HOSTILE,
          plan: [HOSTILE],
          state: 'stopped',
          stopReason: HOSTILE,
          statuses: [{ status: 200, errorCode: HOSTILE, requests: 1 }],
          errors: [
            {
              outcome: 'unknown',
              status: null,
              errorCode: HOSTILE,
              message: HOSTILE,
              requests: 1,
              firstSecond: 0,
              lastSecond: 0,
            },
          ],
          groups: [HOSTILE, 'other'].map((label) => ({
            by: 'model' as const,
            label,
            requests: 1,
            failed: 0,
            httpReqDurationMs: null,
          })),
          thresholds: [{ expression: HOSTILE, value: null, ok: false, limit: 1, margin: null, unit: 'ms' }],
        },
      ),
    )
    expect(hostile).not.toMatch(/<script|<img|onerror="/)
    expect(hostile.match(/&lt;script&gt;alert\(1\)&lt;\/script&gt;/g)?.length).toBeGreaterThanOrEqual(11)
    expect(hostile).not.toContain('\u0000')
    expect(hostile.match(/<title>/g)?.length).toBeGreaterThan(1)
    expect(hostile.indexOf('</title>')).toBeGreaterThan(hostile.indexOf('· load test'))
  })
})

describe('what has to be known first', () => {
  test('includes that latencies may include delays of this machine, before any figure', () => {
    const text = read(buildLoadReport({ limited: [10, 11] }, { name: 'a test' }))
    expect(text).toMatch(
      /^a test Latencies may include delays of this machine \(generator-limited in 2 of 60 seconds\) No request was lost and all counts are right; .* send from another machine\. start_lag p99 was 39 ms/,
    )
    expect(
      formatLoadPage(buildLoadReport({ limited: [10, 11, 40] })).match(/<rect class="limited" x/g),
    ).toHaveLength(10)
  })

  test('is empty if all went well', () => {
    expect(formatLoadPage(buildLoadReport())).not.toContain('class="notice')
  })

  test('includes that the run was stopped, that requests were dropped, that a cache answered', () => {
    const report = buildLoadReport({}, { state: 'interrupted', stopReason: null, fromCache: 7 })
    const text = read({ ...report, generator: { ...report.generator, dropped: 1_200 } })
    expect(text).toContain(
      'The load test was interrupted before its end What was measured until then is below.',
    )
    expect(text).toContain('1,200 dropped requests have no latency')
    expect(text).toContain("7 answers came from the service's cache")
  })
})

describe('thresholds', () => {
  test('are shown with the verdict, the value and the distance', () => {
    const text = read(
      buildLoadReport(
        {},
        {
          thresholds: [
            { expression: 'p(99)<50', value: 90.06, ok: false, limit: 50, margin: -40.06, unit: 'ms' },
            { expression: 'dropped==0', value: 0, ok: true, limit: 0, margin: 0, unit: 'number' },
          ],
        },
      ),
    )
    expect(text).toContain('Thresholds: ✗ 1 of 2 crossed')
    expect(text).toContain('✗ crossed p(99)<50')
    expect(text).toContain('90.1 ms 40.1 ms over the limit of 50 ms')
    expect(text).toContain('✓ holds dropped==0 0 exactly')
  })
})

test('breaks no line between a figure and its unit, and leaves text from outside unchanged', () => {
  const page = formatLoadPage(buildLoadReport({}, { name: 'wait 5 ms' }))
  expect(page).toMatch(/\d\u00A0%/)
  expect(page).toMatch(/\d\u00A0ms/)
  expect(page).toContain('<bdi>wait 5 ms</bdi>')
})

describe('unusual load tests', () => {
  test('without any results have a page that says so', () => {
    const text = read(buildEmptyLoadReport())
    expect(text).toContain('Nothing was measured · run')
    expect(text).toContain('Errors Nothing was sent.')
    expect(text).toContain('Nothing was measured. A load test cannot be resumed; start another one.')
    expect(text).not.toContain('until then is below')
    expect(text).not.toMatch(/NaN|Infinity|undefined|null/)
  })

  test('of a second, of a day, without a schedule or percentiles have no broken figure', () => {
    const closed = buildLoadReport({ seconds: 5 })
    for (const report of [
      buildLoadReport({ seconds: 1, rate: 1 }),
      buildLongReport(86_400),
      {
        ...closed,
        rates: { ...closed.rates, scheduledPerS: null },
        seconds: closed.seconds.map((second) => ({
          ...second,
          scheduled: null,
          eventLoopMaxMs: null,
          latencyMs: {},
        })),
      },
    ]) {
      expect(formatLoadPage(report)).not.toMatch(/NaN|Infinity|undefined|>null</)
    }
  })

  test('of hours are drawn with at most 300 points, each the worst of its seconds', () => {
    const report = buildLongReport(3_601)
    const buckets = toBuckets(report.seconds)
    expect(buckets).toHaveLength(277)
    expect(buckets.reduce((sum, bucket) => sum + bucket.seconds.length, 0)).toBe(3_601)
    expect(buckets.at(-1)).toMatchObject({ fromS: 3_588, toS: 3_601 })
    expect(read(report)).toContain('Each point stands for 13 seconds: the worst of them for latencies')
  })

  test('with missing seconds leave a gap', () => {
    const report = buildLoadReport({ seconds: 10 })
    const page = formatLoadPage({ ...report, seconds: report.seconds.filter(({ second }) => second !== 4) })
    const [, median = ''] = /<path class="line median" d="(M108[^"]*)"/.exec(page) ?? []
    expect(median.match(/M/g)).toHaveLength(2)
    expect(page).toContain('4\u00A0s: nothing measured')
  })
})

describe('a comparison', () => {
  test('is shown with its sentence, its ranges and the differences between the plans', () => {
    const run = (label: string, factor: number) => {
      const seconds = Array.from({ length: 10 }, (_, i) => {
        const histogram = createHistogram()
        for (let n = 0; n < 50; n += 1) recordUs(histogram, (20_000 + 100 * n + i) * factor)
        return histogram
      })
      const total = createHistogram()
      for (const second of seconds) total.add(second)
      return {
        label,
        plan: { load: { workers: factor } },
        state: 'whole' as const,
        durationS: 10,
        requests: 500,
        failed: 0,
        succeeded: 500,
        dropped: 0,
        missingCallbacks: 0,
        generatorLimited: false,
        fromCache: 0,
        latencies: { http_req_duration: toLatencyHistory(total, seconds) },
        batches: [],
      }
    }
    const comparison = compareRuns(run('before <1>', 1), run('after', 2))
    const text = read(buildLoadReport({ seconds: 2 }, { comparison }))
    expect(text).toContain('A is before <1> , B is after .')
    expect(text).toContain('B is slower than A at p50')
    expect(text).toContain('The plans differ in workers')
    expect(text).toMatch(/p50 22\.\d ms 4\d\.\d ms 2\.\d\d\d 1\.\d\d\d and 2\.\d\d\d slower/)
    expect(text).toContain('workers 1 2')
    const limited = { ...comparison, limited: ['A', 'B'] }
    expect(read(buildLoadReport({ seconds: 2 }, { comparison: limited }))).toContain(
      'Latencies of A and B may include delays of this machine. B is slower',
    )
  })
})
