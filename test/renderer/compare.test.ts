import { describe, expect, it } from 'vitest'
import { parseChoice } from '../../src/renderer/features/compare/changes-view.tsx'
import { addRun, findDecided, groupCandidates } from '../../src/renderer/features/compare/compare-screen.tsx'
import { formatPercent } from '../../src/renderer/features/compare/latency-view.tsx'
import { findCommonRules, toMetricLines } from '../../src/renderer/features/trend/trend-screen.tsx'
import { layOutCurves, layOutDistributions } from '../../src/renderer/ui/charts/latency-overlay.tsx'
import type { TrendPoint } from '../../src/shared/lookback/trend.ts'
import type { RunSummary } from '../../src/shared/run/run.ts'

const RUN = {
  run_id: 'r1',
  name: 'posts.csv',
  operation: 'task',
  source: '/data/posts.csv',
  base_url: 'https://one.example',
  created_at: '2026-11-20T10:00:00.000Z',
} as RunSummary

const LOAD: Partial<RunSummary> = { thresholds: [] }

describe('choosing runs to compare', () => {
  it('offers runs with the same source and connection first', () => {
    const runs = [
      { ...RUN, run_id: 'other', source: '/data/else.csv' },
      { ...RUN, run_id: 'elsewhere', base_url: 'https://two.example' },
      { ...RUN, run_id: 'alike' },
      { ...RUN, run_id: 'load', ...LOAD },
    ]
    expect(
      groupCandidates(RUN, runs).map(({ group, runs: found }) => [group, found.map(({ run_id }) => run_id)]),
    ).toEqual([
      ['Same source and connection', ['alike']],
      ['Same source', ['elsewhere', 'load']],
      ['Other runs', ['other']],
    ])
    expect(groupCandidates(null, [])).toEqual([])
  })

  it('puts the earlier of two runs first, and later choices last', () => {
    const earlier = { ...RUN, run_id: 'r0', created_at: '2026-11-19T10:00:00.000Z' }
    expect(addRun(earlier, ['r1'], RUN)).toEqual(['r0', 'r1'])
    expect(addRun(RUN, ['r0'], earlier)).toEqual(['r0', 'r1'])
    expect(addRun({ ...earlier, run_id: 'rx' }, ['r0', 'r1'], earlier)).toEqual(['r0', 'r1', 'rx'])
  })

  it('compares decisions only between bulk runs of one operation', () => {
    const appeal = { ...RUN, run_id: 'r3', operation: 'appeal-status' }
    expect(findDecided([RUN, { ...RUN, run_id: 'r2' }, appeal, { ...RUN, ...LOAD }])).toMatchObject([
      { run_id: 'r2' },
    ])
    expect(findDecided([{ ...RUN, ...LOAD }, RUN])).toEqual([])
  })
})

it('reads the chosen list of changed rows, whatever the rule is called', () => {
  expect(parseChoice('newly:a:b')).toEqual({ kind: 'newly', rule: 'a:b' })
  expect(parseChoice('no-longer:Likely spam')).toEqual({ kind: 'no-longer', rule: 'Likely spam' })
  expect(parseChoice('outcome')).toEqual({ kind: 'outcome' })
  expect(parseChoice('anything')).toEqual({ kind: 'changed' })
})

it('writes a ratio as a change in percent', () => {
  expect([1.123, 0.96, 1, 3].map(formatPercent)).toEqual(['+12.3 %', '−4.0 %', '0.0 %', '+200 %'])
})

describe('latencies in one chart', () => {
  const bars = [1, 2, 4].map((fromMs) => ({ fromMs, upToMs: fromMs * 2, count: 1 }))
  const toSeries = (letter: string, factor: number) => ({
    label: letter,
    letter,
    token: '--chart-1',
    latency: {
      percentiles: {},
      curve: [0, 50, 90, 99].map((percentile, index) => ({ percentile, ms: factor * (index + 1) })),
      bars: bars.map((bar, index) => ({ ...bar, count: index === 0 ? factor : 1 })),
    },
  })
  const series = [toSeries('A', 10), toSeries('B', 20), { ...toSeries('C', 1), latency: null }]

  it('are read at the percentile under the pointer', () => {
    const layout = layOutCurves(series)
    expect(layout?.lines).toHaveLength(2)
    expect(layout?.x.map(({ label }) => label)).toEqual(['fastest', 'p50', 'p90', 'p99'])
    // Half way to p99, the axis is at p90.
    expect(layout?.read(0.499)?.text).toBe('p90.0: A 30.0 ms, B 60.0 ms')
  })

  it('are read in the bar under the pointer, as shares of the answers of each run', () => {
    const layout = layOutDistributions(series)
    expect(layout?.read(0.1)?.text).toBe('1.00 ms to 2.00 ms: A 83.3 %, B 90.9 %')
    expect(layOutDistributions([{ ...toSeries('C', 1), latency: null }])).toBeNull()
  })
})

describe('a trend', () => {
  const judged = { value: 0.5, low: 0.25, high: 0.75 }
  const point = (rows: number, succeeded: number): TrendPoint =>
    ({
      is_load_test: false,
      succeeded,
      rules: rows === 0 ? [] : [{ rule_id: 'spam', rule: 'Likely spam', rows, share: rows / succeeded }],
      metrics:
        rows === 0
          ? null
          : { rules: [{ rule: 'Likely spam', precision: judged, recall: judged, f1: judged }] },
    }) as unknown as TrendPoint
  const runs = [point(2, 4), point(0, 4), point(0, 0)]

  it("has each rule's share in every run with answers", () => {
    expect(findCommonRules(runs)).toEqual([
      { rule: 'Likely spam', values: [{ value: 0.5 }, { value: 0 }, null] },
    ])
  })

  it('has the metrics of the evaluated runs', () => {
    const [chart] = toMetricLines(runs)
    expect(chart?.title).toBe('Likely spam, by labels')
    expect(chart?.lines[0]).toEqual({ label: 'Precision', values: [judged, null, null] })
  })
})

it('treats a file that was chosen twice in a browser as one source, and a file elsewhere as another', () => {
  const toUpload = (id: string, name: string) => `/workspace/uploads/${id.repeat(24)}/${name}`
  const first = { ...RUN, source: toUpload('a', 'posts.csv') }
  const runs = [
    { ...RUN, run_id: 'again', source: toUpload('b', 'posts.csv') },
    { ...RUN, run_id: 'other', source: toUpload('b', 'other.csv') },
    { ...RUN, run_id: 'elsewhere', source: '/data/posts.csv' },
  ]
  expect(
    groupCandidates(first, runs).map(({ group, runs: found }) => [group, found.map(({ run_id }) => run_id)]),
  ).toEqual([
    ['Same source and connection', ['again']],
    ['Other runs', ['other', 'elsewhere']],
  ])
})
