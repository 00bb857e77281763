import type { ChangeOfMetrics } from '../../src/shared/lookback/comparison.ts'
import { judgePairedRule } from '../../src/shared/lookback/paired-rule.ts'

const INTERVAL =
  /^( {2}(?:precision|recall|F1) +[\d.]+ % {2})(([\d.]+) % to ([\d.]+) %) +((?:of the rows|both in) .*)$/

/** The lines of an evaluation without intervals of more than 70 points. */
export function sayTooFew(lines: readonly string[]): string[] {
  const shown: string[] = []
  for (let at = 0; at < lines.length; ) {
    const block: RegExpExecArray[] = []
    for (let found = INTERVAL.exec(lines[at] ?? ''); found !== null; found = INTERVAL.exec(lines[at] ?? '')) {
      block.push(found)
      at += 1
    }
    const intervals = block.map(([, , interval = '', from, to]) =>
      Number(to) - Number(from) > 70 ? 'too few rows' : interval,
    )
    const width = Math.max(0, ...intervals.map(({ length }) => length))
    for (const [index, [, before = '', , , , behind = '']] of block.entries())
      shown.push(`${before}${(intervals[index] ?? '').padEnd(width)}  ${behind}`)
    if (block.length === 0) {
      shown.push(lines[at] ?? '')
      at += 1
    }
  }
  return shown
}

/**
 * A comparison in JSON with today's intervals of changes by labels, which a bootstrap of its nine rows made
 * too narrow. B triggered rules on the same rows as A and on more that should.
 */
export function widenChanges(stdout: unknown): unknown {
  return JSON.parse(JSON.stringify(stdout), (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('right_only_in_a' in value)) return value
    const { a, b } = value as ChangeOfMetrics
    const found = b.matrix.true_positives - a.matrix.true_positives
    const { true_negatives: rest, false_negatives: missed } = b.matrix
    const cells = [rest, 0, 0, 0, missed, found, 0, a.matrix.true_positives]
    return { ...value, change: judgePairedRule([{ population: null, cells }]).change }
  })
}
