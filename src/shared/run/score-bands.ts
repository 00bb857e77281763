/** Scores from `from` to `below`, exclusive; null for no bound. */
export interface ScoreBand {
  from: number
  below: number | null
}

/** Number of bands for scores that are not whole numbers. */
const BANDS = 10

/** Up to this highest score, each whole number is a band. */
const WHOLE_MAX = 10

/** The end of the scale with this score: 1, 10, 100 and so on. */
export function toScoreScale(highest: number): number {
  let scale = 1
  while (scale < highest) scale *= 10
  return scale
}

/**
 * The bands of a class, lowest first, from its highest score and whether all scores are whole numbers. The
 * interface has whole numbers (docs/interface.md §2.3); some services answer with shares of 1.
 */
export function toScoreBands({ highest, isWhole }: { highest: number; isWhole: boolean }): ScoreBand[] {
  const scale = toScoreScale(highest)
  const isApart = isWhole && highest <= WHOLE_MAX
  const count = isApart ? highest + 1 : BANDS
  const toBound = (band: number) => (isApart ? band : (band * scale) / BANDS)
  return Array.from({ length: count }, (_, band) => ({
    from: toBound(band),
    below: band === count - 1 ? null : toBound(band + 1),
  }))
}

/** A band in words: `0.8 to 0.9`, `2`, `at least 0.9`. */
export function sayScoreBand({ from, below }: ScoreBand): string {
  if (below === null) return `at least ${from}`
  return Number.isInteger(from) && below === from + 1 ? String(from) : `${from} to ${below}`
}
