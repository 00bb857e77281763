import type { ChangeOfMetrics } from '../../src/shared/lookback/comparison.ts'
import type { Judged } from '../../src/shared/lookback/evaluation.ts'
import { judgePairedRule } from '../../src/shared/lookback/paired-rule.ts'
import { judgeRule } from '../../src/shared/lookback/rule-metrics.ts'
import type { Answer } from './answers.ts'

/**
 * The JSON of the golden comparison by labels as of today: with intervals of changes that a bootstrap of its
 * nine rows made too narrow, and with the label that stands for no rule. B triggered rules on the same rows
 * as A and on more that should.
 */
export function compareLabels(answer: Answer): Answer {
  const { args, stdout } = answer
  if (args[0] !== 'compare' || !args.includes('--label')) return answer
  return { ...answer, stdout: JSON.parse(JSON.stringify(stdout), toCompared) }
}

function toCompared(key: string, value: unknown): unknown {
  if (key === 'warnings' && Array.isArray(value)) return [...value, UNMAPPED]
  if (typeof value !== 'object' || value === null || !('right_only_in_a' in value)) return value
  const { a, b } = value as ChangeOfMetrics
  const found = b.matrix.true_positives - a.matrix.true_positives
  const { true_negatives: rest, false_negatives: missed } = b.matrix
  const cells = [rest, 0, 0, 0, missed, found, 0, a.matrix.true_positives]
  return { ...value, change: judgePairedRule([{ population: null, cells }]).change }
}

const UNMAPPED = 'Labels that stand for no rule count as rows that should trigger none: `hate` (1 row).'

/**
 * The JSON of the golden evaluation by labels and by verdicts on a sample, whose rows stand for themselves.
 */
export function weighNoVerdicts(answer: Answer): Answer {
  const { args, stdout } = answer
  if (args[0] !== 'evaluate' || !args.includes('--label') || !args.includes('--verdicts')) return answer
  return { ...answer, stdout: JSON.parse(JSON.stringify(stdout), toUnweighted) }
}

function toUnweighted(key: string, value: unknown): unknown {
  if (key === 'strata') return null
  if (typeof value !== 'object' || value === null || !('estimated' in value)) return value
  const { matrix } = value as Judged
  const { true_positives: truePositives, false_positives: falsePositives } = matrix
  const rows = Object.values(matrix).reduce((sum, cell) => sum + cell, 0)
  const falseNegatives = matrix.false_negatives
  const tally = { rows, population: null, truePositives, falsePositives, falseNegatives }
  return { ...value, ...judgeRule([tally]) }
}
