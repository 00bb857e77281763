import { randomBytes } from 'node:crypto'
import type { ExportTarget } from '../../shared/bridge/results.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import type { BridgeHost } from './bridge-context.ts'

/** The desktop's rules, and the way in for what its save dialog named. */
export interface DesktopHost extends BridgeHost {
  /** Lets one export go to a file; `file` is absolute and comes from the save dialog, never from a page. */
  addExportFile(file: string): ExportTarget
}

/**
 * The desktop's rules: an export goes where the system's dialog said, once, and `askProduction` shows the question
 * before production in a dialog of the system.
 */
export function createDesktopHost(askProduction: BridgeHost['askProduction']): DesktopHost {
  const files = new Map<string, string>()
  return {
    platform: 'desktop',
    askProduction,
    addExportFile(file) {
      const targetId = randomBytes(16).toString('hex')
      files.set(targetId, file)
      return { targetId }
    },
    async placeExport({ targetId, format }) {
      const file = targetId === undefined ? undefined : files.get(targetId)
      if (targetId === undefined || file === undefined) {
        throw new SluiceError({ id: 'export_without_file' })
      }
      files.delete(targetId)
      if (!file.toLowerCase().endsWith(`.${format}`)) {
        throw new SluiceError({ id: 'export_name_mismatch', file, format })
      }
      return { file, publish: (result) => ({ kind: 'file', ...result }) }
    },
  }
}
