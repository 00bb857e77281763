const CHARACTER_REM = 0.47
const PADDING_REM = 1.25
const NARROWEST_REM = 5
const WIDEST_REM = 28

/** A width in rem that shows nine in ten of a column's cells whole, from their lengths; never wider than a line. */
export function toColumnRem(name: string, lengths: readonly number[]): number {
  const sorted = [...lengths].sort((a, b) => a - b)
  const usual = sorted[Math.floor(sorted.length * 0.9)] ?? 0
  const characters = Math.max(name.length * 1.05, usual)
  return Math.min(WIDEST_REM, Math.max(NARROWEST_REM, characters * CHARACTER_REM + PADDING_REM))
}
