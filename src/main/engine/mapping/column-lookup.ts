import { toComparable } from '../../../shared/match-columns.ts'
import { toFound } from '../../../shared/problem.ts'

/** The index of a column by its exact name or its 1-based number, or null. A name of digits goes before the number. */
export function findColumn(columns: readonly string[], column: string | number): number | null {
  if (typeof column === 'string') {
    const index = columns.indexOf(column)
    if (index !== -1) return index
    if (!/^\d+$/.test(column)) return null
  }
  const number = Number(column)
  return number >= 1 && number <= columns.length ? number - 1 : null
}

const MOST_LISTED = 30

/** The columns there are, as an error lists them, each as "1 `id`"; cut after thirty. */
export function listColumns(columns: readonly string[]): string {
  const listed = columns.slice(0, MOST_LISTED).map((name, index) => `${index + 1} \`${toFound(name)}\``)
  const more = columns.length - listed.length
  return more > 0 ? `${listed.join(', ')} and ${more} more` : listed.join(', ')
}

/** The candidate that a name was most likely meant to be, or null where none is near. */
export function findNearest(name: string, candidates: readonly string[]): string | null {
  const wanted = toComparable(name).slice(0, LONGEST_COMPARED)
  let best: { candidate: string; distance: number } | null = null
  for (const candidate of candidates) {
    const distance = measureDistance(wanted, toComparable(candidate).slice(0, LONGEST_COMPARED))
    if (distance <= Math.max(1, wanted.length / 3) && (best === null || distance < best.distance)) {
      best = { candidate, distance }
    }
  }
  return best?.candidate ?? null
}

const LONGEST_COMPARED = 64

/** Levenshtein's distance. */
function measureDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= right.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[right.length] ?? 0
}
