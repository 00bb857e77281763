import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import type { Plugin } from 'vite'

/** What Linux keeps in memory. */
const MEMORY_FOLDER = '/dev/shm'

/** All tests together have a twentieth of it there at once. */
const FREE_BYTES = 1024 ** 3

/**
 * Keeps the temporary files of all tests in memory, if the system can, and removes them at the end. A journal syncs what it
 * commits, so that tests of many small runs would mostly wait for the disk.
 */
export function keepFilesInMemory(): Plugin {
  return {
    name: 'keep-files-in-memory',
    config() {
      // Each project has plugins of its own, and a folder that a person has chosen stays.
      if (process.env['TMPDIR'] !== undefined || findQuickFolder() !== MEMORY_FOLDER) return
      const folder = mkdtempSync(join(MEMORY_FOLDER, 'sluice-tests-'))
      // As that of the system: some tests run commands as another user.
      chmodSync(folder, 0o755)
      process.env['TMPDIR'] = folder
      process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    },
  }
}

/** A folder for temporary files that are never waited for; the usual one if there is none with room. */
export function findQuickFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER)
    if (bavail * bsize >= FREE_BYTES) return MEMORY_FOLDER
  } catch {
    // No such folder.
  }
  return tmpdir()
}
