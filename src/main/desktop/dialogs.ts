import { BrowserWindow, dialog, type IpcMainInvokeEvent, ipcMain } from 'electron'
import { IPC_CHANNELS } from './ipc-channels.ts'
import { isOwnSender } from './sender-check.ts'

const LONGEST_NAME = 200

const SOURCE_FILTERS = [
  { name: 'Spreadsheets', extensions: ['csv', 'tsv', 'txt', 'xlsx', 'jsonl', 'ndjson'] },
  { name: 'All files', extensions: ['*'] },
]

const EXPORT_FILTERS = [
  { name: 'CSV', extensions: ['csv'] },
  { name: 'Excel workbook', extensions: ['xlsx'] },
  { name: 'JSON Lines', extensions: ['jsonl'] },
  { name: 'Report', extensions: ['html'] },
  { name: 'JUnit report', extensions: ['xml'] },
  { name: 'Histogram log', extensions: ['hlog'] },
]

/** The window that asked; throws where the asker is not our own page. */
function findAsker(event: IpcMainInvokeEvent, appUrl: string): BrowserWindow {
  const window = isOwnSender(event, appUrl) ? BrowserWindow.fromWebContents(event.sender) : null
  if (window === null) throw new Error('refused: the message does not come from a window of Sluice')
  return window
}

/** A bare file name out of whatever a window suggests: no folders, no control characters, no endless names. */
export function toFileName(suggestion: unknown): string {
  const text = typeof suggestion === 'string' ? suggestion : ''
  const bare = text.replace(/[\p{Cc}\p{Cf}<>:"/\\|?*]/gu, '-').replace(/^[\s.]+|[\s.]+$/g, '')
  return bare.slice(0, LONGEST_NAME).toWellFormed() || 'results.csv'
}

/** The format that the window suggests first: a dialog may add the ending of the first filter. */
function toExportFilters(suggestion: unknown): typeof EXPORT_FILTERS {
  const name = toFileName(suggestion)
  const isSuggested = ({ extensions }: (typeof EXPORT_FILTERS)[number]) =>
    extensions.some((ending) => name.endsWith(`.${ending}`))
  return [...EXPORT_FILTERS.filter(isSuggested), ...EXPORT_FILTERS.filter((filter) => !isSuggested(filter))]
}

/** Answers the window's questions for a file with the system's own dialogs. */
export function serveDialogs(appUrl: string): void {
  ipcMain.handle(IPC_CHANNELS.chooseSource, async (event): Promise<string | null> => {
    const { canceled, filePaths } = await dialog.showOpenDialog(findAsker(event, appUrl), {
      title: 'Open a spreadsheet',
      properties: ['openFile'],
      filters: SOURCE_FILTERS,
    })
    return canceled ? null : (filePaths[0] ?? null)
  })
  ipcMain.handle(IPC_CHANNELS.chooseFolder, async (event): Promise<string | null> => {
    const { canceled, filePaths } = await dialog.showOpenDialog(findAsker(event, appUrl), {
      title: 'Open a folder',
      properties: ['openDirectory'],
    })
    return canceled ? null : (filePaths[0] ?? null)
  })
  ipcMain.handle(IPC_CHANNELS.chooseExportFile, async (event, suggestion): Promise<string | null> => {
    const { canceled, filePath } = await dialog.showSaveDialog(findAsker(event, appUrl), {
      title: 'Export results',
      defaultPath: toFileName(suggestion),
      filters: toExportFilters(suggestion),
      properties: ['createDirectory', 'showOverwriteConfirmation'],
    })
    return canceled || filePath === '' ? null : filePath
  })
}
