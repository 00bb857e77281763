import { HistogramLogReader, listTags } from 'hdr-histogram-js'
import { describe, expect, test } from 'vitest'
import { createHlogWriter } from '../../../../../src/main/engine/load/report/tool-reports.ts'
import { buildEncodedHistogram } from './build-load-report.ts'

const STARTED_AT = '2026-11-21T09:43:29.250Z'

function write(): string {
  const writer = createHlogWriter({ startedAt: STARTED_AT, runId: '20261121-094329-347k3f9' })
  return [
    writer.header(),
    writer.interval({
      metric: 'http_req_duration',
      startS: 0,
      lengthS: 1,
      maxMs: 30,
      histogram: buildEncodedHistogram([10_000, 20_000, 30_000]),
    }),
    writer.interval({
      metric: 'start_lag',
      startS: 0,
      lengthS: 1,
      maxMs: 0.4,
      histogram: buildEncodedHistogram([400]),
    }),
    writer.interval({
      metric: 'http_req_duration',
      startS: 1,
      lengthS: 0.5,
      maxMs: 1_500,
      histogram: buildEncodedHistogram([1_500_000]),
    }),
  ].join('')
}

describe('a histogram log', () => {
  test("is read by HdrHistogram's own reader: times, tags and every sample", () => {
    const reader = new HistogramLogReader(write())
    const startMs = Date.parse(STARTED_AT)
    const intervals = [0, 1, 2].map(() => reader.nextIntervalHistogram())
    expect(
      intervals.map((one) => one && [one.tag, one.startTimeStampMsec, one.endTimeStampMsec, one.totalCount]),
    ).toEqual([
      ['NO TAG', startMs, startMs + 1_000, 3],
      ['start_lag', startMs, startMs + 1_000, 1],
      ['NO TAG', startMs + 1_000, startMs + 1_500, 1],
    ])
    expect(intervals[0]?.getValueAtPercentile(50)).toBe(20_015)
    expect(reader.nextIntervalHistogram()).toBeNull()
    expect(listTags(write())).toEqual(['NO TAG', 'start_lag'])
  })

  test('has the lines of version 1.3', () => {
    const lines = write().split('\n')
    expect(lines.slice(1, 5)).toEqual([
      '#[Histogram log format version 1.3]',
      '#[StartTime: 1795254209.250 (seconds since epoch), Sat, 21 Nov 2026 09:43:29 GMT]',
      '#[BaseTime: 1795254209.250 (seconds since epoch)]',
      '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ])
    expect(lines[5]).toMatch(/^0\.000,1\.000,30\.000,HISTFAAAA/)
    expect(lines[6]).toMatch(/^Tag=start_lag,0\.000,1\.000,0\.400,HISTFAAAA/)
    expect(lines[7]).toMatch(/^1\.000,0\.500,1500\.000,HISTFAAAA/)
    expect(lines.slice(8)).toEqual([''])
  })
})
