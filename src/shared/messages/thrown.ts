/** A thrown value for a message: the code from the system or runtime, such as `EADDRINUSE`, and its text. */
export interface Thrown {
  /** Null if it has none. */
  system: string | null
  reason: string
}

/** The code and the words of anything thrown. */
export function toThrown(thrown: unknown): Thrown {
  return { system: toSystemCode(thrown), reason: toThrownText(thrown) }
}

/** The code of the operating system or the runtime, such as `EADDRINUSE`; null if there is none. */
export function toSystemCode(thrown: unknown): string | null {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : null
}

/** The text of a thrown value. */
export function toThrownText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** Why a disk failed: it is full, or it fails or refuses for another reason. */
export type DiskTrouble = 'full' | 'failing'

const FULL_CODES = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])
const FAILING_CODES = new Set(['EIO', 'EROFS', 'ESTALE'])

/** SQLite's primary result codes: disk full; I/O error, cannot open, read-only, permission denied. */
const SQLITE_FULL = 13
const SQLITE_FAILING = new Set([10, 14, 8, 3])

/** Whether the disk failed, according to the system or SQLite; null if it did not. */
export function findDiskTrouble(thrown: unknown): DiskTrouble | null {
  if (!(thrown instanceof Error)) return null
  if ('errcode' in thrown) {
    // The primary code; SQLite's I/O errors include full disks.
    const code = Number(thrown.errcode) & 0xff
    return code === SQLITE_FULL ? 'full' : SQLITE_FAILING.has(code) ? 'failing' : null
  }
  const code = toSystemCode(thrown) ?? ''
  return FULL_CODES.has(code) ? 'full' : FAILING_CODES.has(code) ? 'failing' : null
}

/** SQLite's primary result codes for a file that is damaged or is not a database. */
const SQLITE_DAMAGED = new Set([11, 26])

/** Whether SQLite says that a file is damaged or is not a database. */
export function isDamagedDatabase(thrown: unknown): boolean {
  return thrown instanceof Error && 'errcode' in thrown && SQLITE_DAMAGED.has(Number(thrown.errcode) & 0xff)
}

/** What to do about a disk before trying again, as the beginning of a sentence. */
export function sayDiskRemedy(disk: DiskTrouble): string {
  return disk === 'full'
    ? 'Free some space on that disk'
    : 'Check that the disk works, has free space and can be written to'
}

/** Why a port cannot be opened. */
export function sayPortProblem({ system, reason }: Thrown): string {
  switch (system) {
    case 'EADDRINUSE':
      return 'another program uses that port'
    case 'EACCES':
      return 'you do not have permission to use that port'
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return 'this machine does not have that address'
    default:
      return reason
  }
}
