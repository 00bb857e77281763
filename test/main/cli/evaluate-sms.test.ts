import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, it } from 'vitest'
import type { Evaluation, Judged, Metric, ThresholdPoint } from '../../../src/shared/lookback/evaluation.ts'
import type { Averages } from '../../../src/shared/lookback/rule-metrics.ts'
import { formatShare } from '../../../src/shared/messages/figure-text.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'

const source = fileURLToPath(new URL('../../../../shared/data/sms-spam.csv', import.meta.url))
const isAbsent = !existsSync(source)
if (isAbsent) process.stderr.write(`sms-spam.csv is not at ${source}: its evaluation is skipped.\n`)

type ExpectedJudged = Pick<Judged, 'matrix' | 'precision' | 'recall'> & { f1: number }

/** Figures from scikit-learn and scipy for the export, computed by test/fixtures/statistics/sms_spam.py. */
const expected = JSON.parse(
  readFileSync(new URL('../../fixtures/statistics/sms-spam.json', import.meta.url), 'utf8'),
) as {
  rows: number
  spam: number
  rules: Record<string, ExpectedJudged>
  overall: ExpectedJudged
  macro: Averages
  micro: Averages
  scores: {
    average_precision: number
    roc_auc: number
    points: Pick<ThresholdPoint, 'threshold' | 'precision' | 'recall' | 'f1'>[]
  }
}

const RULES = Object.keys(expected.rules)
const LABELS = ['--label', '1', ...RULES.flatMap((rule) => ['--positive', `spam=${rule}`])]

function expectJudged(found: Judged | undefined, { matrix, precision, recall, f1 }: ExpectedJudged) {
  expect(found?.matrix).toEqual(matrix)
  for (const [metric, wanted] of [
    [found?.precision, precision],
    [found?.recall, recall],
  ] as const) {
    expect(metric?.value).toBeCloseTo(wanted.value ?? Number.NaN, 14)
    expect(metric?.low).toBeCloseTo(wanted.low ?? Number.NaN, 8)
    expect(metric?.high).toBeCloseTo(wanted.high ?? Number.NaN, 8)
  }
  expect(found?.f1.value).toBeCloseTo(f1, 14)
}

function toText({ value, low, high }: Metric): string {
  return `${formatShare(value ?? 0)}  ${formatShare(low ?? 0)} to ${formatShare(high ?? 0)}`
}

// Its short forms are evaluate.test.ts and the tests of single figures.
describe.skipIf(isAbsent || !inject('isLong'))('5,572 real messages', () => {
  it('are evaluated as scikit-learn does: matrices, intervals, averages, thresholds, AP and AUC', async () => {
    const workspace = createTemporaryFolder()
    const sandbox = await withSandbox()
    const sluice = (...args: string[]) =>
      runInProcess(args, { workspace, env: { SLUICE_API_KEY: sandbox.key } })
    const sent = await sluice(
      ...['task', source, '--no-header', '--map', 'text_data=2', '--set', 'user_id=sms', '--legacy'],
      ...['--concurrency', '16', '--base-url', sandbox.baseUrl, '--json', '--quiet'],
    )
    expect(sent.code).toBe(0)

    const { stdout } = await sluice('evaluate', 'latest', ...LABELS, '--precision', '0.9', '--json')
    const found = JSON.parse(stdout) as Evaluation
    expect(found.rows).toMatchObject({ read: expected.rows, evaluated: expected.rows, without_label: 0 })
    expect(found.labels.values).toEqual([
      { value: 'ham', rows: expected.rows - expected.spam, rules: [] },
      { value: 'spam', rows: expected.spam, rules: RULES },
    ])
    for (const rule of RULES) {
      expectJudged(
        found.rules.find((judged) => judged.rule === rule),
        expected.rules[rule] ?? expect.fail(),
      )
    }
    expectJudged(found.overall, expected.overall)
    for (const average of ['macro', 'micro'] as const) {
      for (const figure of ['precision', 'recall', 'f1'] as const) {
        expect(found[average][figure]).toBeCloseTo(expected[average][figure] ?? Number.NaN, 14)
      }
    }
    const [scores] = found.scores
    expect(scores).toMatchObject({
      class: 'spam',
      rule: 'Likely spam',
      rows: expected.rows,
      without_score: 0,
    })
    expect(scores?.average_precision).toBeCloseTo(expected.scores.average_precision, 14)
    expect(scores?.roc_auc).toBeCloseTo(expected.scores.roc_auc, 14)
    expect(scores?.points).toHaveLength(expected.scores.points.length)
    for (const [index, point] of expected.scores.points.entries()) {
      expect(scores?.points[index]?.threshold).toBe(point.threshold)
      for (const figure of ['precision', 'recall', 'f1'] as const) {
        expect(scores?.points[index]?.[figure]).toBeCloseTo(point[figure] ?? Number.NaN, 14)
      }
    }
    const reaching = expected.scores.points.find(({ precision }) => (precision ?? 0) >= 0.9)
    expect(scores?.wanted[0]?.point?.threshold).toBe(reaching?.threshold)

    // The figures for people are rounded from the same values.
    const text = (await sluice('evaluate', 'latest', ...LABELS)).stdout.replaceAll(/ {2,}/g, '  ')
    for (const { precision, recall, f1 } of Object.values(expected.rules)) {
      expect(text).toContain(`precision  ${toText(precision)}`)
      expect(text).toContain(`recall  ${toText(recall)}`)
      expect(text).toContain(`F1  ${formatShare(f1)}`)
    }
    expect(text).toContain(`average precision ${expected.scores.average_precision.toFixed(4)}`)
    expect(text).toContain(`ROC AUC ${expected.scores.roc_auc.toFixed(4)}`)
  })
})
