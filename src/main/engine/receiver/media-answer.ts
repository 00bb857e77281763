/** What a request says about the part of a file it wants, and about the copy it has. */
export interface MediaConditions {
  isHead: boolean
  range: string | undefined
  ifRange: string | undefined
  ifNoneMatch: string | undefined
  ifModifiedSince: string | undefined
}

/** What a request for a file is answered with; `lastByte` is inclusive, and -1 where the file is empty. */
export type MediaAnswer =
  | { status: 200 | 206; firstByte: number; lastByte: number }
  | { status: 304 }
  | { status: 416 }

/**
 * Decides what is sent, by RFC 9110 §13.2.2 and §14.2: the whole file, a part of it, or nothing. Several ranges at once are
 * answered with the whole, which every client must handle.
 */
export function toMediaAnswer(
  file: { sizeBytes: number; modifiedAtMs: number; etag: string },
  conditions: MediaConditions,
): MediaAnswer {
  const { isHead, range, ifRange, ifNoneMatch, ifModifiedSince } = conditions
  const isUnchanged =
    ifNoneMatch === undefined ? isNotNewer(file, ifModifiedSince) : isListed(file.etag, ifNoneMatch)
  if (isUnchanged) return { status: 304 }
  const whole = { status: 200, firstByte: 0, lastByte: file.sizeBytes - 1 } as const
  const part = isHead || range === undefined ? null : parseRange(range)
  if (part === null || !isSame(file, ifRange)) return whole
  const lastByte = file.sizeBytes - 1
  if (part.first === null) {
    if (part.last === 0 || file.sizeBytes === 0) return { status: 416 }
    return { status: 206, firstByte: Math.max(0, file.sizeBytes - part.last), lastByte }
  }
  if (part.first > lastByte) return { status: 416 }
  return { status: 206, firstByte: part.first, lastByte: Math.min(part.last, lastByte) }
}

/** `first` is null for the last so many bytes. Null where it is not a range of bytes that we know, which is then ignored. */
function parseRange(range: string): { first: number | null; last: number } | null {
  const [, first, last] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(range) ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return null
  if (first === '') return { first: null, last: Number(last) }
  if (last === '') return { first: Number(first), last: Number.POSITIVE_INFINITY }
  return Number(first) <= Number(last) ? { first: Number(first), last: Number(last) } : null
}

function isListed(etag: string, list: string): boolean {
  return list.split(',').some((item) => ['*', etag].includes(item.trim().replace(/^W\//, '')))
}

function isNotNewer({ modifiedAtMs }: { modifiedAtMs: number }, since: string | undefined): boolean {
  const sinceMs = Date.parse(since ?? '')
  return Math.floor(modifiedAtMs / 1000) * 1000 <= sinceMs
}

/** Whether a part may be put to what the client has. A weak tag never may. */
function isSame(file: { modifiedAtMs: number; etag: string }, ifRange: string | undefined): boolean {
  if (ifRange === undefined) return true
  if (/^(W\/)?"/.test(ifRange)) return ifRange === file.etag
  return Date.parse(ifRange) === Math.floor(file.modifiedAtMs / 1000) * 1000
}
