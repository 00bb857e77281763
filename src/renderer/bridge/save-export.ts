import type { Exported, ExportFormat, ExportTarget } from '../../shared/bridge/results.ts'
import { findDesktopApi } from './client.ts'

/**
 * Asks where a file goes where there is a dialog for it, has it written, and downloads it in a browser; null where the
 * person cancelled.
 */
export async function saveExport(
  suggestedName: string,
  write: (target: ExportTarget | null) => Promise<Exported>,
): Promise<Exported | null> {
  const desktop = findDesktopApi()
  const target = desktop === null ? null : await desktop.chooseExportFile(suggestedName)
  if (desktop !== null && target === null) return null
  const exported = await write(target)
  if (exported.kind === 'download') startDownload(exported)
  return exported
}

const LONGEST = 80

/** A file name for an export of a run: the run's name without what file systems refuse, and the format's ending. */
export function suggestFileName(runName: string, format: ExportFormat, what = 'results'): string {
  const stem = runName
    .replace(/\.[a-z0-9]{1,5}$/i, '')
    .replace(/[^\p{Letter}\p{Number} ._-]+/gu, '-')
    .replace(/^[. -]+|[. -]+$/g, '')
    .slice(0, LONGEST)
  return `${stem === '' ? 'run' : stem}-${what}.${format}`
}

/** Has the browser fetch an export that waits on this page's own origin, under its name. */
function startDownload(download: { url: string; name: string }): void {
  const link = document.createElement('a')
  link.href = download.url
  link.download = download.name
  document.body.append(link)
  link.click()
  link.remove()
}
