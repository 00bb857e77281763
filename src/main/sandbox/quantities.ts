/** Longest duration in a setting: an hour, in milliseconds. */
const MAX_DURATION_MS = 3_600_000

/** Parses `250ms`, `1.5s`, or a number of milliseconds; null for anything else and for more than an hour. */
export function parseDurationMs(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)(ms|s)?$/.exec(text.trim())
  if (match === null) return null
  const durationMs = Number(match[1]) * (match[2] === 's' ? 1_000 : 1)
  return durationMs <= MAX_DURATION_MS ? durationMs : null
}

/** Parses `3%` or `0.5%` as a share from 0 to 1; null for anything else. */
export function parseShare(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)%$/.exec(text.trim())
  if (match === null) return null
  const share = Number(match[1]) / 100
  return share <= 1 ? share : null
}

/** Parses a whole number from 0; null for anything else. */
export function parseCount(text: string): number | null {
  return /^\d{1,9}$/.test(text.trim()) ? Number(text) : null
}
