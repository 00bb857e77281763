import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, relative, sep } from 'node:path'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { PlanSource } from '../../../../shared/plan/plan.ts'
import { isTableName, removePackedEnding } from '../../../../shared/plan/source-formats.ts'
import { SkippedFiles } from '../folder/skipped-files.ts'
import { isLeftBehind, walkFolder } from '../folder/walk-folder.ts'

/** A file of a source that has several. */
export interface TableFile {
  path: string
  /** Distinguishes it from the others: its name, or its path below their common folder. */
  name: string
}

/** The files of a source, in row order. */
export interface Tables {
  files: readonly TableFile[]
  skipped: SkippedFiles
}

/**
 * The tables of a source of more than one file: those that it names, and those of a folder that contains only
 * tables. Null for one file, and for a folder of posts. Throws `BAD_SOURCE` for a folder with tables and
 * other files, for a file named twice, and if nothing is left to read.
 */
export async function findTables(source: PlanSource): Promise<Tables | null> {
  const { path, more = [], format } = source
  if (more.length === 0) {
    if (format === 'folder' || !isFolder(path)) return null
    const skipped = new SkippedFiles()
    const paths = await listFolder(path, format !== undefined, skipped)
    return paths === null ? null : toTables(path, paths, skipped)
  }
  const skipped = new SkippedFiles()
  const paths: string[] = []
  for (const one of [path, ...more]) {
    if (isFolder(one)) {
      const found = await listFolder(one, format !== undefined, skipped)
      if (found === null) throw new SluiceError({ id: 'folder_among_files', source: one })
      paths.push(...found)
    } else if (isLeftBehind(basename(one))) skipped.note(basename(one))
    else paths.push(one)
  }
  return toTables(path, paths, skipped)
}

/** Most names of other files that an error lists. */
const NAMED_MAX = 3

/**
 * The tables in a folder and its subfolders; null if it holds posts. JSON files are posts in a folder of
 * posts, and tables among tables; with `isFormatGiven` every file is a table.
 */
async function listFolder(
  folder: string,
  isFormatGiven: boolean,
  skipped: SkippedFiles,
): Promise<string[] | null> {
  const paths: string[] = []
  const others: string[] = []
  let tables = 0
  for (const entry of walkFolder(folder, (hidden) => skipped.note(hidden))) {
    const isTable = entry.kind === 'file' && isTableName(entry.path)
    if (isTable) tables += 1
    if (isTable || (entry.kind === 'file' && (isFormatGiven || isJsonName(entry.path)))) {
      paths.push(join(folder, entry.path))
    } else others.push(entry.path)
  }
  if (!isFormatGiven && tables === 0) return null
  if (others.length === 0) return paths.length === 0 ? null : paths
  // Loads a list of media types that no other source needs.
  const { findFileKind } = await import('../folder/folder-row.ts')
  throw new SluiceError({
    id: 'folder_is_mixed',
    source: folder,
    tables,
    sources: listSources(folder, paths),
    posts: others.filter((path) => findFileKind(path) !== null).length,
    mixedIn: others.slice(0, NAMED_MAX),
    rest: Math.max(0, others.length - NAMED_MAX),
  })
}

/** Most tables named one by one. */
const TABLES_NAMED_MAX = 3

/** What to name on a command line for these tables: their paths, or patterns; empty if no pattern fits. */
function listSources(folder: string, paths: readonly string[]): string[] {
  if (paths.length <= TABLES_NAMED_MAX) return [...paths]
  if (/[*?[\]{}()!+@\\]/.test(folder)) return []
  const isDeep = paths.some((path) => dirname(path) !== folder)
  const toEnding = (path: string) => {
    const unpacked = removePackedEnding(path)
    return extname(unpacked) + path.slice(unpacked.length)
  }
  const endings = new Set(paths.map(toEnding))
  return [...endings].map((ending) => join(folder, isDeep ? '**' : '', `*${ending}`))
}

function isJsonName(name: string): boolean {
  return extname(name).toLowerCase() === '.json'
}

function toTables(source: string, paths: readonly string[], skipped: SkippedFiles): Tables {
  if (paths.length === 0) throw new SluiceError({ id: 'no_source_left', source })
  refuseRepeated(paths)
  const names = paths.map((path) => basename(path))
  const isClear = new Set(names).size === names.length
  const shared = isClear ? '' : findShared(paths)
  const toName = (path: string) => (isClear ? basename(path) : relative(shared, path).split(sep).join('/'))
  return { files: paths.map((path) => ({ path, name: toName(path).toWellFormed() })), skipped }
}

/** The deepest folder that all paths are below. */
function findShared(paths: readonly string[]): string {
  let shared = dirname(paths[0] ?? '')
  while (!paths.every((path) => path.startsWith(shared.endsWith(sep) ? shared : shared + sep))) {
    const above = dirname(shared)
    if (above === shared) break
    shared = above
  }
  return shared
}

function refuseRepeated(paths: readonly string[]): void {
  const known = new Set<string>()
  for (const path of paths) {
    const real = toRealPath(path)
    if (known.has(real)) throw new SluiceError({ id: 'source_named_twice', source: path, copyOf: null })
    known.add(real)
  }
}

function toRealPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // Opening the file reports the problem.
    return path
  }
}

/** Whether a path leads to a folder; opening it reports problems. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
