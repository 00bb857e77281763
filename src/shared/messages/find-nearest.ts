import leven from 'leven'

/** Number of letters to change, add or remove; two swapped letters count as one. */
function toDistance(typed: string, name: string): number {
  const distance = leven(typed, name)
  const sort = (text: string) => [...text].sort().join('')
  return distance === 2 && sort(typed) === sort(name) ? 1 : distance
}

/** The candidate a person most likely meant; null if all differ in more than a third of their letters. */
export function findNearest(typed: string, candidates: readonly string[]): string | null {
  return listNearest(typed, candidates)[0] ?? null
}

/**
 * The candidates that a person may have meant, nearest first: they differ in at most a third of their
 * letters, with or without the prefix that some have.
 */
export function listNearest(typed: string, candidates: readonly string[], prefix = ''): string[] {
  const letters = typed.toLowerCase().replaceAll('-', '_')
  return candidates
    .flatMap((candidate) => {
      const name = candidate.toLowerCase()
      const names = prefix !== '' && name.startsWith(prefix) ? [name, name.slice(prefix.length)] : [name]
      const near = names
        .map((one) => ({ distance: toDistance(letters, one), most: Math.max(1, Math.floor(one.length / 3)) }))
        .filter(({ distance, most }) => distance <= most)
      return near.length === 0
        ? []
        : [{ candidate, distance: Math.min(...near.map(({ distance }) => distance)) }]
    })
    .sort((a, b) => a.distance - b.distance)
    .map(({ candidate }) => candidate)
}
