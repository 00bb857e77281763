import { SluiceError } from '../../shared/errors.ts'
import type { BridgeHost } from '../bridge/bridge-context.ts'
import { SAMPLE_FILE } from '../bridge/sample-file.ts'
import type { Downloads } from './downloads.ts'
import type { Uploads } from './uploads.ts'

/** The browser's rules: only files that it sent itself, and the sample, are read; exports are fetched. */
export function createBrowserHost({
  uploads,
  downloads,
}: {
  uploads: Uploads
  downloads: Downloads
}): BridgeHost {
  return {
    platform: 'browser',
    checkSourcePath(path) {
      if (path === SAMPLE_FILE || uploads.holds(path)) return
      throw new SluiceError({
        code: 'BAD_SOURCE',
        message: `a browser may only have files read that were chosen in it; found the path ${path}`,
        hint: 'Choose the file again, or drop it onto the window.',
      })
    },
    async placeExport({ file, name }) {
      if (file === undefined) return downloads.place(name)
      throw new SluiceError({
        code: 'BAD_USAGE',
        message: 'a browser cannot say where on this machine an export goes',
        hint: 'Leave the path out: the export is then downloaded.',
      })
    },
  }
}
