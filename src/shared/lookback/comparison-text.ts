import { formatCount, formatCounted, formatShare, listCounts } from '../messages/figure-text.ts'
import type { ChangedRow, ComparedGroup, DecisionComparison, Flips } from './comparison.ts'

/** What changed, in a sentence. */
export function describeChange({ joined }: { joined: Omit<ComparedGroup, 'overall' | 'rules'> }): string {
  if (joined.rows === 0) return 'The runs have no finished row in common, so nothing was compared.'
  if (joined.changed === 0) return `None of ${formatCounted(joined.rows, 'row')} changed.`
  return `${formatCount(joined.changed)} of ${formatCounted(joined.rows, 'row')} changed (${formatShare(joined.share ?? 0)}).`
}

/** Rows that trigger different rules in the two runs: changes that are neither flips nor other outcomes. */
export function countOtherRules({
  joined: { changed, overall },
  outcomes,
}: {
  joined: Pick<ComparedGroup, 'changed'> & { overall: Pick<Flips, 'newly' | 'no_longer'> }
  outcomes: DecisionComparison['outcomes']
}): number {
  return changed - overall.newly - overall.no_longer - countOtherOutcomes(outcomes)
}

/** Rows that ended differently. */
export function countOtherOutcomes({
  listed,
  further_rows: further,
}: DecisionComparison['outcomes']): number {
  return listed.reduce((rows, one) => rows + one.rows, further)
}

/** How rows were paired, and which are not compared; phrases that begin with a count. */
export function describeRows({
  joined,
  joined_by: by,
  unfinished,
  left_out: leftOut,
  skipped,
  a,
  b,
}: Omit<DecisionComparison, 'listed' | 'exported' | 'labels'>): { compared: string; left: string[] } {
  const left = listCounts([
    [unfinished, 'without an outcome in one of the runs yet'],
    [leftOut, 'that a correction left out of one of the runs'],
    [skipped, 'skipped, sent by an earlier run'],
    [a.only_here, 'only in A'],
    [b.only_here, 'only in B'],
    [a.ambiguous, `of A with a repeated ${by}`],
    [b.ambiguous, `of B with a repeated ${by}`],
    [a.without_key, `of A without ${by}`],
    [b.without_key, `of B without ${by}`],
  ])
  return {
    compared: `${formatCount(joined.rows)} in both runs, joined by ${by}; ${formatCount(joined.decided)} answered in both`,
    left,
  }
}

/** Labelled rows on which neither run is judged, by reason; '' if there are none. */
export function describeUnjudged(labels: NonNullable<DecisionComparison['labels']>): string {
  const left = listCounts([
    [labels.without_label, 'without a label'],
    [labels.unsure, 'marked as unsure'],
    [labels.conflicting_label, 'with contradicting labels'],
  ])
  return left.length === 0 ? '' : `left out: ${left.join(', ')}`
}

/** A probability: `<0.0001`, `0.0312`, `0.42`. */
export function formatP(p: number): string {
  if (p < 0.0001) return '<0.0001'
  return p < 0.1 ? p.toFixed(4) : p.toFixed(2)
}

/** The result of McNemar's test on newly and no longer triggered rows, in words. */
export function describeChance({ newly, no_longer: noLonger, p }: Omit<Flips, 'both' | 'neither'>): string {
  if (newly + noLonger === 0) return 'no change'
  if (p < 0.001) return 'hardly chance'
  if (p < 0.05) return 'probably not chance'
  return 'may be chance'
}

/** When answers have scores of classes. */
export const WHEN_SCORES =
  'Answers contain scores where a run asks for the legacy answer, or for models in v2.'

/** Why no class has moved scores, given the number of rows with scores in both runs. */
export function describeNoMoves(scoredRows: number): string {
  return scoredRows === 0
    ? `No row has scores in both runs. ${WHEN_SCORES}`
    : `No score moved on the ${formatCounted(scoredRows, 'row')} with scores in both runs.`
}

/** A difference of scores with its sign: `+0.25`, `−3`. */
export function formatScoreMove(move: number): string {
  const rounded = Math.round(move * 1e4) / 1e4
  return rounded > 0 ? `+${rounded}` : String(rounded).replace('-', '−')
}

/** A difference of shares in percentage points, with its sign: `+12.5`, `−3.0`. */
export function formatPoints(share: number): string {
  const points = (share * 100).toFixed(1)
  return share > 0 ? `+${points}` : points.replace('-', '−')
}

/** What changed on a row: its outcome, or the rules that it newly or no longer triggers. */
export function describeChangedRow({ a, b, newly, no_longer: noLonger }: Omit<ChangedRow, 'cells'>): string {
  if (a.outcome !== b.outcome) return `${a.outcome} → ${b.outcome}`
  return [...newly.map((rule) => `+ ${rule}`), ...noLonger.map((rule) => `− ${rule}`)].join(', ')
}
