import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { ChosenSource } from '../../shared/bridge/source.ts'
import { SluiceError } from '../../shared/messages/errors.ts'

/** Files and folders that a person has let windows have read, each under a handle that cannot be guessed. */
export interface Sources {
  /** Makes a file or folder readable; `path` is absolute and comes from a dialog, a drop or an upload, never from a page. */
  add(path: string, name?: string): Promise<ChosenSource>
  /** The path behind a handle. Throws `BAD_SOURCE` where none was given out under it. */
  find(sourceId: string): { path: string; name: string }
}

/** Makes the register of sources, empty; it lives as long as the process. */
export function createSources(): Sources {
  const known = new Map<string, { path: string; name: string }>()
  return {
    async add(path, name = basename(path)) {
      const sourceId = randomBytes(16).toString('hex')
      known.set(sourceId, { path, name })
      // A missing file is reported when it is read, with what to do.
      const about = await stat(path).catch(() => null)
      return { sourceId, name, sizeBytes: about?.isFile() ? about.size : 0 }
    },
    find(sourceId) {
      const found = known.get(sourceId)
      if (found !== undefined) return found
      throw new SluiceError({ id: 'source_unknown' })
    },
  }
}
