const DAY_MS = 86_400_000
/** 1 January 1970 in the days of a spreadsheet that counts from 1900. */
const UNIX_EPOCH_DAY = 25_569

/**
 * The number of days with which a spreadsheet stores a moment, for the few files that have it as ISO 8601 instead;
 * what is not such a time stays as it is.
 */
export function toSerial(text: string): string {
  const iso = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?$/.test(text)
  const ms = iso ? Date.parse(text.includes('T') ? `${text}Z` : text) : Number.NaN
  return Number.isNaN(ms) ? text : String(ms / DAY_MS + UNIX_EPOCH_DAY)
}
