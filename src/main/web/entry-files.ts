import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SluiceError } from '../../shared/messages/errors.ts'
import { toThrownText } from '../../shared/messages/thrown.ts'
import { createRedirectPage } from './entry-page.ts'

/** Files that lead a browser to an address that nobody else may see. */
export interface EntryFiles {
  /** Writes a file that only its owner can read; its absolute path. Throws `WORKSPACE_UNUSABLE`. */
  write(url: string): Promise<string>
  /** Removes every file that was written. */
  clear(): Promise<void>
}

/** Makes the writer of entry files, in the workspace. */
export function createEntryFiles(workspace: string): EntryFiles {
  const files = new Set<string>()
  return {
    async write(url) {
      const file = join(workspace, `open-${randomBytes(8).toString('hex')}.html`)
      try {
        await writeFile(file, createRedirectPage(url), { flag: 'wx', mode: 0o600 })
      } catch (error) {
        throw new SluiceError({ id: 'entry_unwritable', file, reason: toThrownText(error) }, { cause: error })
      }
      files.add(file)
      return file
    },
    async clear() {
      const written = [...files]
      files.clear()
      await Promise.all(written.map((file) => rm(file, { force: true }).catch(() => {})))
    },
  }
}
