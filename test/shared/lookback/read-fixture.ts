import { readFileSync } from 'node:fs'
import type { Judged, Metric, ThresholdPoint } from '../../../src/shared/lookback/evaluation.ts'
import type { Averages } from '../../../src/shared/lookback/rule-metrics.ts'

/** Expected values from scikit-learn, scipy and numpy, computed by test/fixtures/statistics/evaluation.py. */
interface StatisticsFixture {
  rules: { matrix: Judged['matrix']; precision: Metric; recall: Metric; f1: Metric }[]
  averages: { rules: Judged['matrix'][]; macro: Averages; micro: Averages }
  curves: {
    truth: number[]
    scores: number[]
    average_precision: number
    roc_auc: number
    points: Pick<ThresholdPoint, 'threshold' | 'precision' | 'recall' | 'f1'>[]
    best_f1: { threshold: number; f1: number }
    wanted: number
    threshold_for_wanted: number | null
  }[]
  random: { seed: number; numbers: number[] }[]
}

/** Reads the expected values. */
export function readFixture(): StatisticsFixture {
  const file = new URL('../../fixtures/statistics/evaluation.json', import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')) as StatisticsFixture
}
