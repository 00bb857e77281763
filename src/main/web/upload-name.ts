/** Longest name, in bytes of UTF-8, that every file system takes with room to spare. */
const LONGEST_BYTES = 200

/** Names that Windows keeps for devices, whatever their ending. */
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

/** A bare file name out of what a browser calls a file: no folders, no control characters, nothing hidden, no devices. */
export function toUploadName(name: string): string {
  const bare = name
    .toWellFormed()
    .replace(/^.*[\\/]/s, '')
    .replace(/[\p{Cc}\p{Cf}<>:"|?*]/gu, '-')
    .replace(/^[\s.]+|[\s.]+$/g, '')
  const safe = DEVICE.test(bare) ? `_${bare}` : bare
  return shorten(safe) || 'upload.csv'
}

/** Cuts the middle out of a long name, so that its ending stays what it is. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= LONGEST_BYTES) return name
  const ending = /\.[^.]{1,10}$/.exec(name)?.[0] ?? ''
  let stem = ''
  for (const character of name.slice(0, name.length - ending.length)) {
    if (Buffer.byteLength(stem + character + ending) > LONGEST_BYTES) break
    stem += character
  }
  return stem + ending
}

/** Longest path inside an uploaded folder, in bytes of UTF-8. */
const LONGEST_PATH_BYTES = 1_000

/**
 * A path inside an uploaded folder, its parts joined by `/` and kept as they are, since addresses of media are made
 * from them; null where it leads out of the folder or no system could store it.
 */
export function toUploadPath(path: string): string | null {
  const parts = path.split('/')
  if (parts.some(isUnusablePart) || Buffer.byteLength(path) > LONGEST_PATH_BYTES) return null
  return parts.join('/')
}

function isUnusablePart(part: string): boolean {
  if (part === '' || part === '.' || part === '..') return true
  return /[\\\p{Cc}]/u.test(part) || !part.isWellFormed() || DEVICE.test(part) || part.includes(':')
}
