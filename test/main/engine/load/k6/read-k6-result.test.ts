import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { readK6Result } from '../../../../../src/main/engine/load/k6/import-k6-result.ts'
import type { K6Result } from '../../../../../src/main/engine/load/k6/k6-result.ts'
import { decodeHistogram } from '../../../../../src/shared/load/latency-meter.ts'
import { openTestFolder } from '../../../../helpers/test-folder.ts'

const FIXTURES = join(import.meta.dirname, '../../../../fixtures/k6')
const folder = openTestFolder()
let files = 0

// Real results of k6 2.2.0 and 1.8.1, from a service that took 5 to 23 ms and failed one request in ten.
const VERSIONS = ['v2', 'v1'] as const
const read = (version: string, name: string) => readK6Result([join(FIXTURES, version, name)])

async function readText(text: string | Uint8Array): Promise<K6Result> {
  files += 1
  const file = join(folder, `${files}.k6`)
  await writeFile(file, text)
  return readK6Result([file])
}

const verdicts = ({ thresholds }: K6Result) =>
  Object.fromEntries(thresholds.map(({ expression, ok }) => [expression, ok]))

describe.each(VERSIONS)('results of k6 %s', (version) => {
  test('from --summary-export have their thresholds the right way round', async () => {
    const result = await read(version, 'summary-export.k6')
    expect(result).toMatchObject({
      shape: 'summary-export',
      scenario: null,
      requests: 12,
      failed: 1,
      dropped: 0,
      startedAt: null,
      seconds: [],
    })
    // In the file they read true, false and true: whether they failed.
    expect(verdicts(result)).toEqual({
      'p(95)<500': true,
      'p(50)<1': false,
      'http_req_failed:rate<0.01': false,
    })
    expect(result.durationS).toBeGreaterThan(0.1)
    expect(result.durationS).toBeLessThan(2)
    expect(result.latencies['http_req_duration']?.percentiles).toMatchObject({
      min: expect.any(Number),
      mean: expect.any(Number),
      p50: expect.any(Number),
      p90: expect.any(Number),
      p95: expect.any(Number),
      max: expect.any(Number),
    })
  })

  test('from handleSummary of an exported project cover the measured time without the warm-up', async () => {
    const result = await read(version, 'handle-summary.k6')
    expect(result).toMatchObject({
      shape: 'handle-summary',
      scenario: 'main',
      requests: 21,
      failed: 2,
      dropped: 0,
      durationS: 2,
    })
    expect(verdicts(result)).toEqual({
      'p(99)<500': true,
      'p(50)<1': false,
      'http_req_failed:rate<0.01': false,
      'dropped_iterations:count==0': true,
      'http_reqs:count>10': true,
    })
    const failed = result.thresholds.find(({ expression }) => expression === 'http_req_failed:rate<0.01')
    const margin = expect.closeTo(0.01 - 2 / 21, 10)
    expect(failed).toMatchObject({ value: 2 / 21, limit: 0.01, unit: 'share', margin })
    expect(result.latencies['http_req_duration']?.percentiles).toMatchObject({
      count: 21,
      p99_9: expect.any(Number),
    })
    expect(result.notes.join(' ')).toContain('no distribution')
  })

  test.each([
    ['machine-readable.k6', null, 12, 1],
    ['machine-readable-project.k6', 'main', 21, 2],
  ])('from the machine-readable summary have no thresholds: %s', async (name, scenario, requests, failed) => {
    const result = await read(version, name)
    expect(result).toMatchObject({ shape: 'machine-readable', scenario, requests, failed, thresholds: [] })
    expect(result.k6Version).toMatch(version === 'v2' ? /^2\./ : /^1\./)
    expect(result.latencies['http_req_duration']?.percentiles).toMatchObject({
      p90: expect.any(Number),
      p95: expect.any(Number),
    })
    expect(result.notes.join(' ')).toContain('does not record thresholds')
  })

  test('from --out json have every sample, also when compressed', async () => {
    const result = await read(version, 'plain-lines.k6')
    expect(result).toMatchObject({ shape: 'json-lines', scenario: null, requests: 12, failed: 1, dropped: 0 })
    const { histogram } = result.latencies['http_req_duration'] ?? {}
    expect(decodeHistogram(histogram ?? '').totalCount).toBe(12)
    expect(result.statuses).toEqual([
      { status: 200, errorCode: null, message: null, requests: 11 },
      { status: 503, errorCode: '1503', message: null, requests: 1 },
    ])
    expect(verdicts(result)).toEqual({
      'p(95)<500': true,
      'p(50)<1': false,
      'http_req_failed:rate<0.01': false,
    })
    const zipped = gzipSync(await readFile(join(FIXTURES, version, 'plain-lines.k6')))
    expect(await readText(zipped)).toEqual(result)
  })

  test('of one run agree in every format', async () => {
    for (const [summary, lines] of [
      ['summary-export.k6', 'plain-lines.k6'],
      ['handle-summary.k6', 'project-lines.k6.gz'],
    ] as const) {
      const [a, b] = await Promise.all([read(version, summary), read(version, lines)])
      expect({ ...b }).toMatchObject({ requests: a.requests, failed: a.failed, dropped: a.dropped })
      for (const metric of ['http_req_duration', 'http_req_waiting', 'http_req_blocked']) {
        const [left, right] = [a, b].map(({ latencies }) => latencies[metric]?.percentiles)
        for (const point of ['mean', 'min', 'max'] as const) {
          expect(Math.abs((left?.[point] ?? 0) - (right?.[point] ?? 9))).toBeLessThan(
            0.001 + 0.002 * (left?.[point] ?? 0),
          )
        }
      }
      expect(b.durationS ?? 0).toBeLessThan((a.durationS ?? 0) + 0.1)
    }
  })

  test('of an exported project count by the second, from the first that was measured', async () => {
    const { seconds, startedAt, durationS } = await read(version, 'project-lines.k6.gz')
    expect(seconds.map(({ second }) => second)).toEqual([0, 1, 2])
    expect(seconds.reduce((sum, { requests }) => sum + requests, 0)).toBe(21)
    expect(seconds.reduce((sum, { failed }) => sum + failed, 0)).toBe(2)
    const counted = seconds.map(({ histogram }) =>
      histogram === null ? 0 : decodeHistogram(histogram).totalCount,
    )
    expect(counted).toEqual(seconds.map(({ requests }) => requests))
    expect(Date.parse(startedAt ?? '')).toBeGreaterThan(0)
    expect(durationS).toBeGreaterThan(1.9)
    expect(durationS).toBeLessThan(2.2)
  })
})

/** Lines as k6 writes them. */
function toLines(points: readonly { s: number; ms: number; tags?: Record<string, string> }[]): string {
  const start = Date.parse('2026-11-21T09:00:00Z')
  return points
    .flatMap(({ s, ms, tags = {} }) => {
      const time = `${new Date(start + s * 1000).toISOString().slice(0, -1)}123456Z`
      const point = (metric: string, value: number) =>
        JSON.stringify({ metric, type: 'Point', data: { time, value, tags: { status: '200', ...tags } } })
      return [point('http_reqs', 1), point('http_req_duration', ms), point('http_req_failed', 0), '']
    })
    .join('\n')
}

describe('JSON lines', () => {
  test('from several machines are merged', async () => {
    const parts = [0, 1].map((part) =>
      toLines(Array.from({ length: 200 }, (_, i) => ({ s: i / 2 + part / 4, ms: 10 + (i % 7) + part }))),
    )
    const names = await Promise.all(
      parts.map(async (text, part) => {
        const file = join(folder, `part-${part}.json`)
        await writeFile(file, text)
        return file
      }),
    )
    const together = await readK6Result(names)
    expect(together).toEqual(await readText(parts.join('\n')))
    expect(together).toMatchObject({ requests: 400, failed: 0 })
    expect(together.durationS).toBeCloseTo(99.76, 2)
    expect(together.seconds.map(({ requests }) => requests).reduce((sum, n) => sum + n, 0)).toBe(400)
    expect(decodeHistogram(together.seconds[5]?.histogram ?? '').totalCount).toBe(4)
  })

  test('out of order, even by more seconds than are kept open, count in their second', async () => {
    const points = Array.from({ length: 600 }, (_, i) => ({ s: (i * 37) % 60, ms: 1 + i }))
    const shuffled = await readText(toLines(points))
    const ordered = await readText(toLines(points.toSorted((a, b) => a.s - b.s)))
    expect(shuffled).toEqual(ordered)
    expect(shuffled.seconds).toHaveLength(60)
  })

  test('in nanoseconds are timed to the microsecond, and empty connections do not count as connecting', async () => {
    const lines = ['0', '0.25'].map((value) =>
      JSON.stringify({
        metric: 'http_req_connecting',
        type: 'Point',
        data: { time: '2026-11-21T09:00:00.5Z', value: Number(value), tags: {} },
      }),
    )
    const { latencies, startedAt } = await readText(`${toLines([{ s: 0, ms: 10 }])}${lines.join('\n')}`)
    expect(latencies['http_req_connecting']?.percentiles).toMatchObject({ count: 1, min: 0.25 })
    expect(startedAt).toBe('2026-11-21T08:59:59.990Z')
  })

  test('prefer a script’s own verdict to k6’s', async () => {
    const verdict = JSON.stringify({
      metric: 'not_succeeded',
      type: 'Point',
      data: { time: '2026-11-21T09:00:00Z', value: 1, tags: {} },
    })
    expect(await readText(`${toLines([{ s: 0, ms: 10 }])}\n${verdict}`)).toMatchObject({
      requests: 1,
      failed: 1,
    })
  })

  test('that another program wrote again, with spaces, say the same', async () => {
    const compact = toLines([
      { s: 0, ms: 10 },
      { s: 1, ms: 20 },
    ])
    const spaced = compact.replaceAll(/([{,]"\w+":)/g, '$1 ')
    expect(spaced).toContain('"type": "Point"')
    expect(await readText(spaced)).toEqual(await readText(compact))
  })

  test('that are broken are skipped and reported', async () => {
    const whole = toLines([{ s: 0, ms: 10 }])
    const { requests, notes } = await readText(
      `${whole}\nnonsense\n{"metric":"http_reqs","type":"Point","data":{"time":"x","value":1}}\n{"metric":"http_reqs"`,
    )
    expect(requests).toBe(1)
    expect(notes).toContain('3 lines not from k6, left out')
  })

  test('cut off where k6 was stopped are read up to there', async () => {
    const whole = gzipSync(toLines(Array.from({ length: 3_000 }, (_, i) => ({ s: i, ms: 1 + (i % 97) }))))
    const { requests, notes } = await readText(whole.subarray(0, whole.length / 2))
    expect(requests).toBeGreaterThan(100)
    expect(requests).toBeLessThan(3_000)
    expect(notes).toContain('the file ends in the middle: k6 was stopped before it had written all of it')
  })
})

describe('a file that is not a k6 result', () => {
  test.each([
    ['', 'does not contain k6 results'],
    ['hello', 'does not contain k6 results'],
    ['{}', 'does not contain k6 results'],
    ['[1]', 'does not contain k6 results'],
    ['{"metrics":{}}', 'does not contain k6 results'],
    ['{"metrics":{"a":1}}', 'does not contain k6 results'],
  ])('is refused: %s', async (text, message) => {
    await expect(readText(text)).rejects.toMatchObject({
      code: 'BAD_SOURCE',
      message: expect.stringContaining(message),
      hint: expect.stringContaining('--summary-export'),
    })
  })

  test('is refused if it is missing or a folder', async () => {
    await expect(readK6Result([join(folder, 'none')])).rejects.toMatchObject({
      message: expect.stringContaining('does not exist'),
    })
    await expect(readK6Result([folder])).rejects.toMatchObject({
      message: expect.stringContaining('is a folder'),
    })
    const zipped = gzipSync('x'.repeat(10_000))
    zipped.fill(0xff, 10)
    await expect(readText(zipped)).rejects.toMatchObject({
      message: expect.stringContaining('broken gzip file'),
    })
  })

  test('includes a copy of another file, also a packed one, since its samples would count twice', async () => {
    const text = toLines([{ s: 1, ms: 10 }])
    const [file, copy] = [join(folder, 'samples.json'), join(folder, 'copy.json.gz')]
    await Promise.all([writeFile(file, text), writeFile(copy, gzipSync(text))])
    for (const names of [
      [file, copy],
      [file, file],
    ]) {
      await expect(readK6Result(names)).rejects.toMatchObject({
        message: expect.stringContaining('holds the same samples as'),
      })
    }
  })

  test('includes a summary among several files', async () => {
    const names = ['plain-lines.k6', 'summary-export.k6'].map((name) => join(FIXTURES, 'v2', name))
    await expect(readK6Result(names)).rejects.toMatchObject({
      message: expect.stringContaining('is not a JSON lines file'),
      hint: expect.stringContaining('--out json=FILE'),
    })
  })

  test('does not include one that starts with a byte-order mark', async () => {
    const text = await readFile(join(FIXTURES, 'v2', 'handle-summary.k6'), 'utf8')
    expect(await readText(`\uFEFF${text}`)).toMatchObject({ shape: 'handle-summary', requests: 21 })
    expect(gunzipSync(await readFile(join(FIXTURES, 'v2', 'project-lines.k6.gz'))).length).toBeGreaterThan(
      10_000,
    )
  })
})
