import { describe, expect, test } from 'vitest'
import { formatJunitReport } from '../../../../../src/main/engine/load/report/write-load-report.ts'
import type { LoadReport } from '../../../../../src/shared/load/load-report.ts'
import type { ThresholdResult } from '../../../../../src/shared/load/thresholds.ts'
import { buildEmptyLoadReport, buildLoadReport } from './build-load-report.ts'
import { readXml } from './read-xml.ts'

const CROSSED: ThresholdResult = {
  expression: 'p(99)<50',
  value: 90.06,
  ok: false,
  limit: 50,
  margin: -40.06,
  unit: 'ms',
}
const HELD: ThresholdResult = {
  expression: 'dropped==0',
  value: 0,
  ok: true,
  limit: 0,
  margin: 0,
  unit: 'number',
}

function read(report: LoadReport) {
  const document = readXml(formatJunitReport(report))
  const [suite] = document.children
  if (suite === undefined) throw new Error('there is a suite')
  return { document, suite, cases: suite.children.filter(({ name }) => name === 'testcase') }
}

describe('a JUnit report', () => {
  test('lists in its output doubts about the test as a whole, and about rows', () => {
    const warnings = [
      { code: 'LATENCY_OF_FAILURES', message: 'The threshold p(95)<500 is mostly about failures.' },
      { code: 'ragged_row', rows: 2, message: 'has fewer cells than the header' },
    ]
    const text = formatJunitReport({ ...buildLoadReport({ seconds: 1 }), warnings })
    expect(text).toContain('Warning: The threshold p(95)&lt;500 is mostly about failures.')
    expect(text).toContain('Warning: 2 rows: has fewer cells than the header')
  })

  test('says in its output if failures fail nothing, and what percentiles leave out', () => {
    const report = buildLoadReport({ seconds: 1 }, { thresholds: [HELD] })
    const { counts, generator } = report
    const [output] = read({
      ...report,
      counts: { ...counts, succeeded: counts.succeeded - 3, rejected: counts.rejected + 3 },
      generator: { ...generator, dropped: 4 },
    }).suite.children.filter(({ name }) => name === 'system-out')
    expect(output?.text).toContain('No threshold is about failures: ')
    expect(output?.text).toContain('4 dropped requests have no latency.')
  })

  test("has every element and attribute that Ant's schema requires, in its order", () => {
    const { document, suite, cases } = read(buildLoadReport({ seconds: 2 }, { thresholds: [HELD] }))
    expect(document).toMatchObject({ name: 'testsuites', attributes: {} })
    expect(suite.attributes).toEqual({
      name: 'posts.csv at 200 a second',
      package: 'sluice',
      id: '0',
      timestamp: '2026-11-21T09:43:29',
      hostname: 'localhost',
      tests: '2',
      failures: '0',
      errors: '0',
      skipped: '0',
      time: '2.000',
    })
    expect(suite.children.map(({ name }) => name)).toEqual([
      'properties',
      'testcase',
      'testcase',
      'system-out',
      'system-err',
    ])
    expect(cases.map(({ attributes }) => attributes)).toEqual([
      { name: 'the run went to its end', classname: 'sluice.load', time: '2.000' },
      { name: 'dropped==0', classname: 'sluice.load', time: '2.000' },
    ])
  })

  test('has a test case for each threshold, failed by its measured value', () => {
    const { suite, cases } = read(buildLoadReport({ seconds: 2 }, { thresholds: [CROSSED, HELD] }))
    expect(suite.attributes).toMatchObject({ tests: '3', failures: '1', errors: '0' })
    expect(cases.map(({ children }) => children)).toEqual([
      [],
      [
        {
          name: 'failure',
          attributes: {
            type: 'threshold',
            message: 'p(99)<50 does not hold: 90.1 ms, 40.1 ms over the limit of 50 ms',
          },
          children: [],
          text: 'p(99)<50 does not hold: 90.1 ms, 40.1 ms over the limit of 50 ms',
        },
      ],
      [],
    ])
  })

  test('has a failed test case if no request succeeded, whatever the thresholds say', () => {
    const counts = { sent: 40, succeeded: 0, rejected: 30, failed: 0, unknown: 10 }
    const { suite, cases } = read(buildLoadReport({ seconds: 2 }, { counts, thresholds: [HELD] }))
    expect(suite.attributes).toMatchObject({ tests: '3', failures: '1', errors: '0' })
    expect(cases.map(({ attributes, children }) => [attributes['name'], children[0]?.attributes])).toEqual([
      ['the run went to its end', undefined],
      ['at least one request succeeded', { type: 'no_success', message: 'none of 40 requests succeeded' }],
      ['dropped==0', undefined],
    ])
  })

  test('is an error if the run did not complete', () => {
    const { suite, cases } = read(buildEmptyLoadReport())
    expect(suite.attributes).toMatchObject({ tests: '1', errors: '1', timestamp: '2026-11-21T09:43:28' })
    expect(cases[0]?.children[0]).toMatchObject({
      name: 'error',
      attributes: { type: 'stopped', message: expect.stringContaining('Nothing listens on service.test') },
    })
  })

  test('says first that latencies may include delays of the sending machine', () => {
    const { suite } = read(buildLoadReport({ seconds: 3, limited: [1] }))
    const output = suite.children.find(({ name }) => name === 'system-out')?.text ?? ''
    expect(output).toMatch(/^Latencies may include delays of this machine\. No request was lost/)
    const properties = suite.children[0]?.children.map(({ attributes }) => attributes)
    expect(properties).toContainEqual({ name: 'generator_limited', value: 'true' })
  })

  test('is well formed whatever names and messages hold', () => {
    const hostile = ' ]]><x a="1">&amp; \u0000\u0008\uFFFF\uD800 "\' \n\t end '
    const { suite, cases } = read(
      buildLoadReport(
        { seconds: 1 },
        {
          name: hostile,
          source: hostile,
          state: 'stopped',
          stopReason: hostile,
          thresholds: [{ ...CROSSED, expression: hostile }],
        },
      ),
    )
    const token = ']]><x a="1">&amp; ���� "\' end'
    expect(suite.attributes['name']).toBe(token)
    expect(cases[1]?.attributes['name']).toBe(token)
    expect(cases[0]?.children[0]?.text).toContain('<x a="1">&amp; ���� "\'')
  })
})
