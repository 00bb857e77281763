import leven from 'leven'

/** The candidate a person most likely meant, or null where none is near: a third of its letters off at most. */
export function findNearest(typed: string, candidates: readonly string[]): string | null {
  let nearest: string | null = null
  let least = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const distance = leven(typed.toLowerCase().replaceAll('-', '_'), candidate.toLowerCase())
    if (distance < least && distance <= Math.max(1, Math.floor(candidate.length / 3))) {
      nearest = candidate
      least = distance
    }
  }
  return nearest
}
