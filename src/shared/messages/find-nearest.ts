function editDistance(one: string, other: string): number {
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= other.length; column += 1) {
      const substituted = (previous[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1)
      current.push(Math.min(substituted, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[other.length] ?? 0
}

/** The candidate a person most likely meant, or null where none is near: a third of its letters off at most. */
export function findNearest(typed: string, candidates: readonly string[]): string | null {
  let nearest: string | null = null
  let least = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const distance = editDistance(typed.toLowerCase().replaceAll('-', '_'), candidate.toLowerCase())
    if (distance < least && distance <= Math.max(1, Math.floor(candidate.length / 3))) {
      nearest = candidate
      least = distance
    }
  }
  return nearest
}
