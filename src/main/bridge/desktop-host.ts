import { isAbsolute } from 'node:path'
import { SluiceError } from '../../shared/errors.ts'
import type { BridgeHost } from './bridge-context.ts'

/** The desktop's rules: files are read in place, and an export goes where the system's dialog said. */
export function createDesktopHost(): BridgeHost {
  return {
    platform: 'desktop',
    checkSourcePath() {},
    async placeExport({ file, format }) {
      if (file === undefined || !isAbsolute(file) || !file.toLowerCase().endsWith(`.${format}`)) {
        throw new SluiceError({
          code: 'BAD_USAGE',
          message: `an export as ${format} needs a whole path that ends in .${format}, found ${file ?? 'none'}`,
          hint: `Choose where to save it, with a name that ends in .${format}.`,
        })
      }
      return { file, publish: (result) => ({ kind: 'file', ...result }) }
    },
  }
}
