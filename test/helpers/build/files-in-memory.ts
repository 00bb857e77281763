import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import type { Plugin } from 'vite'

/** Linux' folder for files in memory. */
const MEMORY_FOLDER = '/dev/shm'

/** All tests together need a twentieth of it at a time. */
const FREE_BYTES = 1024 ** 3

/**
 * Keeps the temporary files of all tests in memory if possible, and removes them at the end. A journal syncs
 * its commits, so tests of many small runs would mostly wait for the disk.
 */
export function keepFilesInMemory(): Plugin {
  return {
    name: 'keep-files-in-memory',
    config() {
      // Called once for each project; a folder chosen by a person stays.
      if (process.env['TMPDIR'] !== undefined || findQuickFolder() !== MEMORY_FOLDER) return
      const folder = mkdtempSync(join(MEMORY_FOLDER, 'sluice-tests-'))
      // With the permissions of the system's folder: some tests run commands as another user.
      chmodSync(folder, 0o755)
      process.env['TMPDIR'] = folder
      process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    },
  }
}

/** A folder for temporary files without waiting for a disk; the usual one if there is none with room. */
export function findQuickFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER)
    if (bavail * bsize >= FREE_BYTES) return MEMORY_FOLDER
  } catch {
    // The folder does not exist.
  }
  return tmpdir()
}
