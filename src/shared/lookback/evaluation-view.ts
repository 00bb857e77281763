import { formatCount, formatShare } from '../messages/figure-text.ts'
import type { Evaluation, JudgedScore, ThresholdPoint } from './evaluation.ts'

/** Each cell of a matrix in plain words. */
export const CELL_WORDS = {
  tp: 'triggered, and should have',
  fp: 'triggered, and should not have',
  fn: 'did not trigger, and should have',
  tn: 'did not trigger, and should not have',
} as const

/** A share in percent, `–` where there is nothing to take a share of. */
export function toShareText(value: number | null): string {
  return value === null ? '–' : formatShare(value)
}

/** Rows that were not evaluated, by why; null where all were. */
export function describeLeftOut({ rows }: Evaluation): string | null {
  const others = [
    [rows.without_label, 'without a label'],
    [rows.unsure, 'marked as unsure'],
    [rows.conflicting_label, 'with contradicting labels'],
    [rows.without_answer, 'labelled but not answered'],
  ] as const
  const left = others.filter(([count]) => count > 0).map(([count, what]) => `${formatCount(count)} ${what}`)
  return left.length === 0 ? null : left.join(', ')
}

/** Thresholds of a class that are shown. */
const SHOWN_POINTS = 10

/** A few thresholds of a class, ascending, and what is known of each: the best, those asked for, some of the others. */
export function listShownPoints({
  best_f1: best,
  wanted,
  what_if: asked,
  points,
}: JudgedScore): { point: ThresholdPoint; notes: string[] }[] {
  const shown = new Map<number, { point: ThresholdPoint; notes: string[] }>()
  const add = (point: ThresholdPoint, note?: string) => {
    const entry = shown.get(point.threshold) ?? { point, notes: [] }
    if (note !== undefined) entry.notes.push(note)
    shown.set(point.threshold, entry)
  }
  if (best !== null) add(best, 'best F1')
  for (const { precision, point } of wanted) {
    if (point !== null) add(point, `finds most at a precision of ${formatShare(precision)}`)
  }
  for (const point of asked) add(point, 'as asked')
  const step = Math.max(1, Math.ceil(points.length / SHOWN_POINTS))
  for (const [index, point] of points.entries()) if (index % step === 0) add(point)
  return [...shown.values()].sort((a, b) => a.point.threshold - b.point.threshold)
}
