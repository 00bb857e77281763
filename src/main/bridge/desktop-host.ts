import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join, parse } from 'node:path'
import type { ExportTarget } from '../../shared/bridge/results.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import type { BridgeHost, DesktopParts, ExportPlace } from './bridge-context.ts'

function toPlace(file: string): ExportPlace {
  return { file, publish: (result) => ({ kind: 'file', ...result }) }
}

/** An unused name next to a success file: `posts-errors.csv` for `posts-success.csv` and for `posts.csv`. */
function findErrorFile(success: string): string {
  const { dir, name, ext } = parse(success)
  const base = join(dir, `${name.replace(/[-_ .]?success$/i, '')}-errors`)
  for (let number = 1; ; number += 1) {
    const file = `${base}${number === 1 ? '' : `-${number}`}${ext}`
    if (!existsSync(file)) return file
  }
}

/** The desktop's rules, and a way to register files chosen in its save dialog. */
export interface DesktopHost extends BridgeHost {
  /** Allows one export to a file; `file` is absolute and comes from the save dialog, never from a page. */
  addExportFile(file: string): ExportTarget
  /** Attaches the services of the app once it has started. */
  attach(parts: DesktopParts): void
}

/**
 * Creates the host for the desktop: an export goes once to the file chosen in the system's dialog, and
 * `askProduction` shows the question before production in a system dialog.
 */
export function createDesktopHost(askProduction: BridgeHost['askProduction']): DesktopHost {
  const files = new Map<string, string>()
  let desktop: DesktopParts | null = null
  return {
    platform: 'desktop',
    get desktop() {
      return desktop
    },
    attach(parts) {
      desktop = parts
    },
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
      return toPlace(file)
    },
    placeErrors: async ({ success }) => toPlace(findErrorFile(success)),
  }
}
