import type { ErrorGroup } from './run.ts'

/** The key under which the journal counts rows that ended alike. */
export function toErrorKey(
  outcome: string,
  status: number | null,
  errorCode: string | null,
  message: string,
): string {
  return JSON.stringify([outcome, status, errorCode, message])
}

/** The key of what kept a row from being sent, in the form of {@link toErrorKey}. */
export function toInvalidKey(code: string, field: string | null, message: string): string {
  return toErrorKey('invalid', null, code, field === null ? message : `${field}: ${message}`)
}

/**
 * A service's message without what differs from row to row (quoted values, long numbers, identifiers), so that rows
 * refused for one cause are one group: `post_id "…" was submitted before`.
 */
export function toErrorPattern(message: string): string {
  return message
    .replaceAll(/"[^"]*"/g, '"…"')
    .replaceAll(/`[^`]*`/g, '`…`')
    .replaceAll(/\b(?=[\w-]*\d)[\w-]{16,}\b|\d{4,}/g, '…')
}

/** Groups of rows that ended alike, most rows first, from the journal's counts by {@link toErrorKey}. */
export function toErrorGroups(counts: ReadonlyMap<string, number>): ErrorGroup[] {
  const groups: ErrorGroup[] = []
  for (const [key, rows] of counts) {
    if (rows <= 0) continue
    const [outcome, status, errorCode, message] = JSON.parse(key) as [
      ErrorGroup['outcome'],
      number | null,
      string | null,
      string,
    ]
    groups.push({ outcome, status, error_code: errorCode, message, rows })
  }
  return groups.sort((a, b) => b.rows - a.rows)
}
