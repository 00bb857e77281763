import type { PLAN_FORMAT } from '../../shared/bridge/plans.ts'
import type { Exported, ExportFormat, ExportTarget } from '../../shared/bridge/results.ts'
import { findDesktopApi } from './client.ts'

/**
 * Asks for an export's file name if there is a dialog, has the files written, and downloads them in a
 * browser; null if the person cancelled. On the desktop, `showInFolder` shows the first file in the system's
 * file manager.
 */
export async function saveExport(
  suggestedName: string,
  write: (target: ExportTarget | null) => Promise<Exported | readonly Exported[]>,
): Promise<{ files: readonly Exported[]; showInFolder: (() => void) | null } | null> {
  const desktop = findDesktopApi()
  const target = desktop === null ? null : await desktop.chooseExportFile(suggestedName)
  if (desktop !== null && target === null) return null
  const files = [await write(target)].flat()
  for (const [index, file] of files.entries()) {
    if (file.kind !== 'download') continue
    if (index > 0) await new Promise((resolve) => setTimeout(resolve, BETWEEN_DOWNLOADS_MS))
    startDownload(file)
  }
  return {
    files,
    showInFolder: desktop === null || target === null ? null : () => void desktop.showExportFile(target),
  }
}

/** Browsers may drop a download that begins right after another. */
const BETWEEN_DOWNLOADS_MS = 500

const LONGEST = 80

/** Name of a run's export file: the run's name without characters that file systems refuse, and ending. */
export function suggestFileName(
  runName: string,
  format: ExportFormat | typeof PLAN_FORMAT,
  what = 'results',
): string {
  const stem = runName
    .replace(/\.[a-z0-9]{1,5}$/i, '')
    .replace(/[^\p{Letter}\p{Number} ._-]+/gu, '-')
    .replace(/^[. -]+|[. -]+$/g, '')
    .slice(0, LONGEST)
  return `${stem === '' ? 'run' : stem}-${what}.${format}`
}

/** Makes the browser download an export that waits on this page's own origin, under its name. */
function startDownload(download: { url: string; name: string }): void {
  const link = document.createElement('a')
  link.href = download.url
  link.download = download.name
  document.body.append(link)
  link.click()
  link.remove()
}
