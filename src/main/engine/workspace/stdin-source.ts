import { createWriteStream, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { toFileError } from './replace-file.ts'
import { createWorkspaceFolders } from './workspace-files.ts'

const FOLDER = 'stdin'

/**
 * Stores standard input as a file of the workspace, readable by its owner only: a source is read more than
 * once, also after a crash. Returns its path. Throws `FILE_UNWRITABLE` or `DISK_FULL`.
 */
export async function storeStdin(workspace: string, input: Readable, ending: string): Promise<string> {
  createWorkspaceFolders(workspace)
  const parent = join(workspace, FOLDER)
  mkdirSync(parent, { recursive: true, mode: 0o700 })
  const file = join(mkdtempSync(join(parent, 'source-')), `stdin${ending}`)
  try {
    await pipeline(input, createWriteStream(file, { mode: 0o600 }))
    return file
  } catch (error) {
    removeStdin(workspace, file)
    throw toFileError(file, error)
  }
}

/** Removes a source that {@link storeStdin} stored; any other file stays. */
export function removeStdin(workspace: string, file: string): void {
  // The path may come from elsewhere: `stdin/../posts.csv` is not in our folder.
  const folder = dirname(resolve(file))
  if (dirname(folder) !== join(workspace, FOLDER)) return
  rmSync(folder, { recursive: true, force: true })
}
