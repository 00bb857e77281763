import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Papa from 'papaparse'
import { describe, expect, test } from 'vitest'
import { SECONDS_COLUMNS } from '../../../../../src/main/engine/load/report/tool-reports.ts'
import {
  findLoadReportFormat,
  type LoadReportSource,
  writeLoadReport,
} from '../../../../../src/main/engine/load/report/write-load-report.ts'
import type { NumberedSample } from '../../../../../src/shared/load/load-report.ts'
import { openTestFolder } from '../../../../helpers/test-folder.ts'
import { buildEmptyLoadReport, buildEncodedHistogram, buildLoadReport } from './build-load-report.ts'

const SAMPLE: NumberedSample = {
  kept: 'error',
  sentMs: 1234.5,
  row: 18,
  record: 17,
  postId: 'p-17',
  outcome: 'rejected',
  status: 429,
  errorCode: 'RATE_LIMITED',
  message: 'too many\nrequests',
  taskId: null,
  httpReqDurationMs: 12.5,
  httpReqWaitingMs: 12.1,
  httpReqConnectingMs: null,
  httpReqTlsHandshakingMs: null,
  responseTimeMs: 13,
  startLagMs: 0.5,
  callbackLatencyMs: null,
  request: '{"text_data":"späm"}',
  response: '{"error":true}',
}

const SOURCE: LoadReportSource = {
  report: buildLoadReport({ seconds: 3, rate: 10, limited: [1] }),
  intervals: [
    [
      {
        metric: 'http_req_duration',
        startS: 0,
        lengthS: 1,
        maxMs: 1,
        histogram: buildEncodedHistogram([1000]),
      },
    ],
  ],
  samples: [[SAMPLE, { ...SAMPLE, kept: 'sample' }], [SAMPLE]],
}

const folder = openTestFolder()
let files = 0

/** A file name that does not exist yet. */
function toFile(name: string): string {
  files += 1
  return join(folder, `${files}-${name}`)
}

async function write(name: string, source: LoadReportSource = SOURCE) {
  const file = toFile(name)
  const result = await writeLoadReport({ ...source, file })
  return { result, text: await readFile(file, 'utf8') }
}

describe('a load report', () => {
  test.each([
    ['a.html', 'html'],
    ['a.HTM', 'html'],
    ['a.junit.xml', 'junit.xml'],
    ['a.hlog', 'hlog'],
    ['a.csv', 'csv'],
    ['a.jsonl', 'jsonl'],
    ['a.ndjson', 'jsonl'],
  ])('named %s has the format %s', (file, format) => {
    expect(findLoadReportFormat(file)).toBe(format)
  })

  test.each(['a', 'a.xml', 'a.xlsx', 'html'])('named %s is refused with the available extensions', (file) => {
    expect(() => findLoadReportFormat(file)).toThrow(
      /ends in \.html, \.md, \.junit\.xml, \.hlog, \.csv, \.jsonl, \.k6\.zip or \.k6/,
    )
  })

  test.each([
    ['a.html', /^<!doctype html>/, 0],
    ['a.junit.xml', /^<\?xml version="1\.0"/, 0],
    ['a.hlog', /^#\[Sluice /, 1],
    ['a.csv', /^second,scheduled,sent,/, 3],
    ['a.jsonl', /^\{"kept":"error"/, 3],
  ])('is written in full as %s', async (name, beginning, rows) => {
    const { result, text } = await write(name)
    expect(text).toMatch(beginning)
    expect(result).toMatchObject({ rows, sizeBytes: Buffer.byteLength(text) })
  })

  test('replaces an existing file', async () => {
    const file = toFile('a.csv')
    await writeFile(file, 'x'.repeat(100_000))
    await writeLoadReport({ ...SOURCE, file })
    expect(await readFile(file, 'utf8')).toMatch(/^second,.*true\r\n2,10,.*false\r\n$/s)
  })

  test('into a missing folder says so', async () => {
    const file = join(folder, 'no', 'a.html')
    await expect(writeLoadReport({ ...SOURCE, file })).rejects.toMatchObject({
      code: 'FILE_UNWRITABLE',
      message: expect.stringContaining('its folder does not exist'),
    })
  })
})

describe('a CSV of seconds', () => {
  test('has a line for each second, with empty cells if nothing was measured', async () => {
    const { text } = await write('a.csv')
    const { data, errors } = Papa.parse<Record<string, string>>(text, { header: true, skipEmptyLines: true })
    expect(errors).toEqual([])
    expect(Object.keys(data[0] ?? {})).toEqual(SECONDS_COLUMNS)
    expect(data[1]).toMatchObject({
      second: '1',
      scheduled: '10',
      sent: '10',
      succeeded: '10',
      http_req_duration_count: '10',
      callback_latency_p99_ms: '',
      event_loop_max_ms: '62.5',
      time: new Date(Date.parse(String(SOURCE.report.startedAt)) + 1_000).toISOString(),
      generator_limited: 'true',
    })
    expect(data.every((row) => /^\d+(\.\d{1,3})?$/.test(row['http_req_duration_p50_ms'] ?? ''))).toBe(true)
  })

  test('without seconds is only its header', async () => {
    const { text } = await write('a.csv', { ...SOURCE, report: buildEmptyLoadReport() })
    expect(text).toBe(`${SECONDS_COLUMNS.join(',')}\r\n`)
  })
})

describe('a JSONL of samples', () => {
  test('has every kept request with its bodies unchanged', async () => {
    const { text } = await write('a.jsonl')
    const lines = text.trimEnd().split('\n')
    expect(lines).toHaveLength(3)
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      kept: 'error',
      sent_ms: 1234.5,
      row: 18,
      record: 17,
      post_id: 'p-17',
      outcome: 'rejected',
      status: 429,
      error_code: 'RATE_LIMITED',
      message: 'too many\nrequests',
      task_id: null,
      http_req_duration_ms: 12.5,
      http_req_waiting_ms: 12.1,
      http_req_connecting_ms: null,
      http_req_tls_handshaking_ms: null,
      response_time_ms: 13,
      start_lag_ms: 0.5,
      callback_latency_ms: null,
      request: '{"text_data":"späm"}',
      response: '{"error":true}',
    })
  })
})
