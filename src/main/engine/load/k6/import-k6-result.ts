import { createHash, type Hash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { decodeHistogram, LatencyMeter } from '../../../../shared/load/latency-meter.ts'
import type { LoadErrorGroup } from '../../../../shared/load/load-report.ts'
import { mapTrends, TREND_METRICS } from '../../../../shared/load/metrics.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { toSystemCode } from '../../../../shared/messages/thrown.ts'
import type { Percentiles } from '../../../../shared/run/run.ts'
import type { Journal } from '../../journal/journal.ts'
import { type LoadState, LoadWriter } from '../../journal/load-record.ts'
import { updateRunRecord } from '../../journal/run-record.ts'
import { writeLatency } from '../../journal/seconds.ts'
import { K6Lines } from './k6-lines.ts'
import type { K6Latency, K6Result } from './k6-result.ts'
import { parseK6Summary, summaryToResult } from './k6-summary.ts'

/** Imports k6 results as a new run. Throws `BAD_SOURCE`. */
export async function importK6Result(journal: Journal, files: readonly string[]): Promise<void> {
  const result = await readK6Result(files)
  const startMs = result.startedAt === null ? Date.now() : Date.parse(result.startedAt)
  const measuredMs = Math.round((result.durationS ?? 0) * 1000)
  journal.transact('power', () => {
    const writer = new LoadWriter(journal)
    for (const second of result.seconds) writeSecond(writer, startMs, second)
    writer.writeState(toState(result, startMs, measuredMs))
    writeLatency(journal.db, toMeter(result))
    countRequests(journal, result)
    updateRunRecord(journal.db, {
      state: 'completed',
      started_at: startMs,
      ended_at: startMs + measuredMs,
      sending_ms: measuredMs,
    })
  })
}

function writeSecond(
  writer: LoadWriter,
  startMs: number,
  { second, requests, failed, dropped, histogram }: K6Result['seconds'][number],
): void {
  const latency = new LatencyMeter()
  if (histogram !== null) latency.add('http_req_duration', decodeHistogram(histogram))
  writer.writeSecond(
    {
      at: Math.floor(startMs / 1000) + second,
      succeeded: requests - failed,
      // Of single seconds only the number of unsuccessful requests is kept.
      rejected: failed,
      failed: 0,
      unknown: 0,
      eventLoopMaxUs: null,
      generatorLimited: false,
      latency,
    },
    { second, sent: requests, scheduled: null, dropped, inFlight: 0, gcUs: 0 },
  )
}

function toState(result: K6Result, startMs: number, measuredMs: number): LoadState {
  const requests = result.requests ?? 0
  const failed = result.failed ?? 0
  const unanswered = result.statuses.reduce((sum, one) => sum + (one.status === null ? one.requests : 0), 0)
  return {
    startMs,
    measuredMs,
    scheduled: null,
    sent: requests,
    dropped: result.dropped ?? 0,
    waited: 0,
    answered: requests - unanswered,
    within: {
      sent: requests,
      ended: requests,
      answered: requests - unanswered,
      succeeded: requests - failed,
    },
    maxInFlight: 0,
    fromCache: 0,
    retried: 0,
    statuses: result.statuses.map(({ status, errorCode, requests: n }) => ({
      status,
      errorCode,
      requests: n,
    })),
    errors: toErrors(result, Math.floor(measuredMs / 1000)),
    throttling: {
      answers: result.statuses.reduce((sum, one) => sum + (one.status === 429 ? one.requests : 0), 0),
      retryAfterAnswers: 0,
      askedS: 0,
    },
    connections: { opened: 0, reused: 0 },
    gc: { pauses: 0, maxUs: 0 },
    limitedSeconds: 0,
    limitedReasons: [],
    thresholds: result.thresholds,
    callbacks: null,
    percentiles: toWholePercentiles(result),
    partialPercentiles: mapTrends((series) =>
      result.latencies[series]?.histogram === null ? result.latencies[series].percentiles : null,
    ),
    notes: [
      `measured by k6${result.k6Version === null ? '' : ` ${result.k6Version}`}`,
      ...result.notes,
      ...listPartial(result),
    ],
  }
}

function toErrors({ statuses }: K6Result, lastSecond: number): LoadErrorGroup[] {
  return statuses
    .filter(({ status, errorCode }) => errorCode !== null || status === null || status >= 400)
    .map(({ status, errorCode, message, requests }) => ({
      // Judged like our own requests: after a 5xx the request may or may not have been accepted.
      outcome: status === null || status >= 500 ? ('unknown' as const) : ('rejected' as const),
      status,
      errorCode,
      message: message ?? (status === null ? 'there was no answer' : `answered ${status}`),
      requests,
      firstSecond: 0,
      lastSecond,
    }))
}

function toMeter({ latencies }: K6Result): LatencyMeter {
  const meter = new LatencyMeter()
  for (const series of TREND_METRICS) {
    const histogram = latencies[series]?.histogram ?? null
    if (histogram !== null) meter.add(series, decodeHistogram(histogram))
  }
  return meter
}

/** Latencies of summaries that have every percentile but no distribution. */
function toWholePercentiles({ latencies }: K6Result): NonNullable<LoadState['percentiles']> {
  return mapTrends((series) => {
    const latency = latencies[series]
    return latency?.histogram === null && isWhole(latency.percentiles) ? latency.percentiles : null
  })
}

const PERCENTILES = ['count', 'min', 'mean', 'p50', 'p90', 'p95', 'p99', 'p99_9', 'max'] as const

function isWhole(percentiles: K6Latency['percentiles']): percentiles is Percentiles {
  return PERCENTILES.every((name) => percentiles[name] !== undefined)
}

/** Latencies that a summary reports only in part. */
function listPartial({ latencies }: K6Result): string[] {
  return Object.entries(latencies).flatMap(([series, { histogram, percentiles }]) => {
    if (histogram !== null || isWhole(percentiles)) return []
    const figures = PERCENTILES.flatMap((name) => {
      const value = percentiles[name]
      return value === undefined || name === 'count' ? [] : [`${name} ${Math.round(value * 1000) / 1000} ms`]
    })
    return figures.length === 0 ? [] : [`${series}, as far as k6 tells: ${figures.join(', ')}`]
  })
}

function countRequests({ counters }: Journal, result: K6Result): void {
  const failed = result.failed ?? 0
  const errors = toErrors(result, 0)
  const isUnknown = ({ outcome }: LoadErrorGroup) => outcome === 'unknown'
  const unknown = Math.min(
    failed,
    errors.filter(isUnknown).reduce((sum, { requests }) => sum + requests, 0),
  )
  counters.add('request', 'succeeded', (result.requests ?? 0) - failed)
  counters.add('request', 'rejected', failed - unknown)
  counters.add('request', 'unknown', unknown)
  for (const { outcome, status, errorCode, message, requests } of errors) {
    counters.add('error', JSON.stringify([outcome, status, errorCode, message]), requests)
  }
}

/** Largest summary that is read; one has a few kilobytes for each metric. */
const SUMMARY_MAX_BYTES = 64 * 1024 * 1024

/**
 * Reads k6 results of any of its four kinds. Several files must be JSON lines: the parts of one run on
 * several machines, which are merged, and none of them a copy of another. Throws `BAD_SOURCE`.
 */
export async function readK6Result(files: readonly string[]): Promise<K6Result> {
  const lines = new K6Lines()
  const read = new Map<string, string>()
  for (const file of files) {
    const isSummary = await withChunks(file, async (chunks) => {
      const { head, all } = await peekFirstLine(chunks)
      if (!isJsonLine(head)) return true
      const hash = createHash('sha256')
      await lines.read(hashing(all, hash))
      const digest = hash.digest('hex')
      const other = read.get(digest)
      if (other !== undefined) throw new SluiceError({ id: 'k6_same_samples', file, other })
      read.set(digest, file)
      return false
    })
    if (!isSummary) continue
    if (files.length === 1) return readSummary(file)
    throw new SluiceError({ id: 'k6_not_json_lines', file })
  }
  if (lines.lines === 0) throw toNoResult(files[0] ?? 'k6')
  return lines.toResult()
}

async function readSummary(file: string): Promise<K6Result> {
  const text = await withChunks(file, (chunks) => readText(file, chunks))
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    throw toNoResult(file)
  }
  const summary = parseK6Summary(value)
  if (summary === null) throw toNoResult(file)
  return summaryToResult(summary)
}

async function withChunks<Result>(
  file: string,
  use: (chunks: AsyncIterable<Uint8Array>) => Promise<Result>,
): Promise<Result> {
  try {
    const handle = await open(file, 'r')
    const raw = handle.createReadStream()
    try {
      const magic = Buffer.alloc(2)
      await handle.read(magic, 0, 2, 0)
      const isZipped = magic[0] === 0x1f && magic[1] === 0x8b
      return await use(isZipped ? unzip(raw) : raw)
    } finally {
      raw.destroy()
      await handle.close().catch(() => undefined)
    }
  } catch (error) {
    throw toReadError(file, error)
  }
}

/** Ends with `Z_BUF_ERROR` if the file ends in the middle. */
function unzip(raw: Readable): Readable {
  const unzipped = createGunzip()
  raw.on('error', (error) => unzipped.destroy(error))
  return raw.pipe(unzipped)
}

/** The first line, and everything again from the start. */
async function peekFirstLine(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ head: string; all: AsyncIterable<Uint8Array> }> {
  const iterator = chunks[Symbol.asyncIterator]()
  const read: Uint8Array[] = []
  let size = 0
  for (;;) {
    const next = await iterator.next()
    if (next.done === true) break
    read.push(next.value)
    size += next.value.length
    if (next.value.includes(0x0a) || size > SUMMARY_MAX_BYTES) break
  }
  const head = Buffer.concat(read).toString('utf8').split('\n')[0] ?? ''
  async function* all() {
    yield* read
    for (;;) {
      const next = await iterator.next()
      if (next.done === true) return
      yield next.value
    }
  }
  return { head, all: all() }
}

async function* hashing(chunks: AsyncIterable<Uint8Array>, hash: Hash): AsyncIterable<Uint8Array> {
  for await (const chunk of chunks) {
    hash.update(chunk)
    yield chunk
  }
}

/** Whether a file's first line is one of k6's JSON lines: a summary is one object, over many lines or one. */
function isJsonLine(head: string): boolean {
  return /^\s*\{.*"type":\s*"(Metric|Point)"/.test(head) && /"metric":\s*"/.test(head)
}

async function readText(file: string, chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > SUMMARY_MAX_BYTES) throw toNoResult(file)
    parts.push(chunk)
  }
  return Buffer.concat(parts).toString('utf8')
}

function toNoResult(file: string): SluiceError {
  return new SluiceError({ id: 'k6_no_results', file })
}

function toReadError(file: string, error: unknown): unknown {
  const system = toSystemCode(error)
  if (system === null || error instanceof SluiceError) return error
  return new SluiceError({ id: 'k6_unreadable', file, system }, { cause: error })
}
