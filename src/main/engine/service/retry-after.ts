/** The forms of RFC 9110 §5.6.7, roughly. Only asctime's names no zone, and is in GMT anyway. */
const HTTP_DATE = /^[A-Z][a-z]+,? [\w -]+\d\d:\d\d:\d\d( GMT| \d{4})$/

/**
 * Reads a Retry-After header (RFC 9110 §10.2.3): seconds, or an HTTP date. Returns milliseconds from `nowMs`, 0 for a
 * date that has passed, null for anything else, negative numbers included.
 */
export function parseRetryAfter(header: string | null, nowMs: number): number | null {
  if (header === null) return null
  const text = header.trim()
  if (/^\d+(\.\d+)?$/.test(text)) {
    const ms = Number(text) * 1000
    return Number.isFinite(ms) ? ms : Number.MAX_SAFE_INTEGER
  }
  // Date.parse takes far more than HTTP dates: "try 2099" is a year to it.
  if (!HTTP_DATE.test(text)) return null
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs)
}
