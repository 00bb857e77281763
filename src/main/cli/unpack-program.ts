import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { findWriters, makeFolders } from '../engine/workspace/file-permissions.ts'

/** The files in an executable: those of the installed command, with `/` in their paths. */
export interface PackedProgram {
  /** Hash of all paths and contents. */
  hash: string
  files: readonly { path: string; sizeBytes: number }[]
}

const DAY_MS = 86_400_000

/** How long another version's files are kept after its last start, and those that a failed start left. */
const KEPT_MS = 30 * DAY_MS
const DRAFT_KEPT_MS = DAY_MS

const PROGRAM = /^app-[0-9a-f]+$/
const DRAFT = /^unpacking-/

/**
 * Unpacks the files of an executable into a folder of their own below `cacheFolder`, and returns that. The
 * first start writes them; a later one only checks that all exist with the right size, and rewrites them if
 * not. They are run without comparing their bytes, so this throws if anyone but the owner could have written
 * them, and if they cannot be written.
 */
export function unpackProgram(
  program: PackedProgram,
  read: (path: string) => Uint8Array,
  cacheFolder: string,
  nowMs = Date.now(),
): string {
  makeFolders(cacheFolder)
  refuseOthers(cacheFolder)
  const folder = join(cacheFolder, `app-${program.hash}`)
  if (isWhole(folder, program)) noteUse(folder, nowMs)
  else {
    place(folder, program, read)
    removeUnused(cacheFolder, folder, nowMs)
  }
  refuseOthers(folder)
  return folder
}

function refuseOthers(folder: string): void {
  const reason = findWriters(folder)
  if (reason !== null) throw new Error(reason)
}

function isWhole(folder: string, { files }: PackedProgram): boolean {
  return files.every(({ path, sizeBytes }) => {
    const found = lstatSync(join(folder, path), { throwIfNoEntry: false })
    return found?.isFile() === true && found.size === sizeBytes
  })
}

/** Written aside and then moved, so that no other start ever finds a part of the folder. */
function place(folder: string, program: PackedProgram, read: (path: string) => Uint8Array): void {
  const draft = mkdtempSync(join(dirname(folder), 'unpacking-'))
  try {
    const fresh = join(draft, 'fresh')
    for (const { path } of program.files) {
      mkdirSync(dirname(join(fresh, path)), { recursive: true, mode: 0o700 })
      writeFileSync(join(fresh, path), read(path), { flag: 'wx', mode: 0o600 })
    }
    try {
      renameSync(fresh, folder)
    } catch (error) {
      // Another start was faster, or the existing files are damaged.
      if (isWhole(folder, program)) return
      if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) throw error
      renameSync(folder, join(draft, 'damaged'))
      renameSync(fresh, folder)
    }
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** Marks the files as used, so that they are kept. */
function noteUse(folder: string, nowMs: number): void {
  try {
    if (nowMs - lstatSync(folder).mtimeMs > DAY_MS) utimesSync(folder, nowMs / 1000, nowMs / 1000)
  } catch {
    // A read-only disk also keeps its files.
  }
}

/** Another version may be running, and reads its files as it needs them. */
function removeUnused(cacheFolder: string, own: string, nowMs: number): void {
  for (const name of readdirSync(cacheFolder)) {
    const folder = join(cacheFolder, name)
    const keptMs = PROGRAM.test(name) ? KEPT_MS : DRAFT.test(name) ? DRAFT_KEPT_MS : Number.POSITIVE_INFINITY
    if (folder === own) continue
    try {
      if (nowMs - lstatSync(folder).mtimeMs > keptMs) rmSync(folder, { recursive: true, force: true })
    } catch {
      // It stays until a later version is unpacked.
    }
  }
}
