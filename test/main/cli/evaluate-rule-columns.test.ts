import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Evaluation } from '../../../src/shared/lookback/evaluation.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

type Scores = Record<'hate' | 'bullying', number>

/**
 * Labelled rows and scikit-learn's figures for them, computed by test/fixtures/statistics/rule_columns.py.
 */
const { rows, rules, f1 } = JSON.parse(
  readFileSync(new URL('../../fixtures/statistics/rule-columns.json', import.meta.url), 'utf8'),
) as {
  rows: { votes: Scores; scores: Scores }[]
  rules: Record<
    string,
    Record<'precision' | 'recall' | 'f1' | 'average_precision' | 'roc_auc', number> & { matrix: object }
  >
  f1: Record<'macro' | 'micro', number>
}

test('votes in a column for each rule are evaluated as scikit-learn does', async () => {
  const workspace = createTemporaryFolder()
  const sandbox = await withSandbox()
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace, env: { SLUICE_API_KEY: sandbox.key } })
  const lines = rows.map(
    ({ votes, scores }, index) =>
      `u${index},sandbox:hate:${scores.hate} sandbox:bullying:${scores.bullying} ${index},${votes.hate},${votes.bullying}.0`,
  )
  const text = `user_id,text_data,hate_votes,bullying_votes\n${lines.join('\n')}\n`
  const source = writeSource(workspace, 'votes.csv', text)
  await sluice('task', source, '--legacy', '--base-url', sandbox.baseUrl, '--quiet')
  const labels = ['hate_votes>=1=Hateful content', 'bullying_votes>=2=Bullying'].flatMap((one) => [
    '--label',
    one,
  ])
  const scores = ['hate=Hateful content', 'bullying=Bullying'].flatMap((one) => ['--score', one])
  const { stdout } = await sluice('evaluate', 'latest', ...labels, ...scores, '--json')
  const evaluation = JSON.parse(stdout) as Evaluation
  expect(evaluation.rows.evaluated).toBe(rows.length)
  expect(evaluation.rules.map(({ rule }) => rule).sort()).toEqual(Object.keys(rules).sort())
  for (const [rule, wanted] of Object.entries(rules)) {
    const judged = evaluation.rules.find((one) => one.rule === rule)
    const score = evaluation.scores.find((one) => one.rule === rule)
    expect(judged?.matrix).toEqual(wanted.matrix)
    expect(judged?.precision.value).toBeCloseTo(wanted.precision, 14)
    expect(judged?.recall.value).toBeCloseTo(wanted.recall, 14)
    expect(judged?.f1.value).toBeCloseTo(wanted.f1, 14)
    expect(score?.average_precision).toBeCloseTo(wanted.average_precision, 12)
    expect(score?.roc_auc).toBeCloseTo(wanted.roc_auc, 12)
  }
  expect(evaluation.macro.f1).toBeCloseTo(f1.macro, 14)
  expect(evaluation.micro.f1).toBeCloseTo(f1.micro, 14)
})
