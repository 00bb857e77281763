import { basename, isAbsolute } from 'node:path'
import { BrowserWindow, dialog, type IpcMainInvokeEvent, ipcMain, shell } from 'electron'
import type { OpenRequest } from '../../shared/bridge/desktop-api.ts'
import { isPlanName, PLAN_ENDINGS, PLAN_FORMAT } from '../../shared/bridge/plans.ts'
import { type ExportTarget, exportTargetSchema } from '../../shared/bridge/results.ts'
import type { ChosenSource } from '../../shared/bridge/source.ts'
import type { TlsFile } from '../../shared/messages/service-messages.ts'
import { SOURCE_ENDINGS } from '../../shared/plan/source-formats.ts'
import { LOAD_EXPORT_FORMATS, ROW_EXPORT_FORMATS } from '../../shared/run/export-formats.ts'
import { type AskProduction, describeProduction } from '../bridge/production-gate.ts'
import { IPC_CHANNELS } from './ipc-channels.ts'
import { isOwnSender } from './message-port.ts'
import type { ChosenFiles, OpenRequests } from './open-requests.ts'
import { showMessage } from './window.ts'

const LONGEST_NAME = 200

const SOURCE_FILTERS = [
  {
    name: 'Spreadsheets and plans',
    // Dialogs match only what follows the last dot.
    extensions: [...SOURCE_ENDINGS, ...PLAN_ENDINGS].map((ending) =>
      ending.slice(ending.lastIndexOf('.') + 1),
    ),
  },
  { name: 'All files', extensions: ['*'] },
]

const SOURCE_DIALOGS = {
  file: { title: 'Open a file', properties: ['openFile'], filters: SOURCE_FILTERS },
  files: {
    title: 'Open spreadsheets or a plan',
    properties: ['openFile', 'multiSelections'],
    filters: SOURCE_FILTERS,
  },
  folder: { title: 'Open a folder', properties: ['openDirectory'] },
} satisfies Record<string, Electron.OpenDialogOptions>

/**
 * Asks for a source in a dialog: a folder, a plan, or several files, sorted by name. Empty if the person
 * cancelled, or chose a plan together with other files, which a message refuses.
 */
export async function choosePaths(
  kind: keyof typeof SOURCE_DIALOGS,
  window: BrowserWindow,
): Promise<string[]> {
  const { canceled, filePaths } = await dialog.showOpenDialog(window, SOURCE_DIALOGS[kind])
  if (canceled) return []
  if (filePaths.length > 1 && filePaths.some(isPlanName)) {
    await showMessage({
      type: 'warning',
      message: 'A plan cannot be opened together with other files.',
      detail: 'Choose one plan, or only spreadsheets.',
      buttons: ['OK'],
    })
    return []
  }
  return filePaths.toSorted((a, b) => (basename(a) < basename(b) ? -1 : 1))
}

const CONNECTION_FILES: Record<TlsFile, string> = {
  authorities: 'Certificate authorities',
  certificate: 'Client certificate',
  key: 'Key of the client certificate',
}

/** Asks for a connection's PEM file in a dialog that names the connection; null if the person cancelled. */
export async function chooseConnectionFile(connection: string, file: TlsFile): Promise<string | null> {
  const title = `${CONNECTION_FILES[file]} of ${connection}`
  const options: Electron.OpenDialogOptions = {
    title,
    // macOS shows no title.
    message: title,
    properties: ['openFile'],
    filters: [
      { name: 'PEM files', extensions: ['pem', 'crt', 'cer', 'key'] },
      { name: 'All files', extensions: ['*'] },
    ],
  }
  const [window] = BrowserWindow.getAllWindows()
  const { canceled, filePaths } = await (window === undefined
    ? dialog.showOpenDialog(options)
    : dialog.showOpenDialog(window, options))
  const [path] = filePaths
  return canceled || path === undefined ? null : path
}

// Dialogs match only what follows the last dot. Formats of both kinds of runs have the label for rows.
const EXPORT_FILTERS = [
  ...ROW_EXPORT_FORMATS,
  ...LOAD_EXPORT_FORMATS,
  { ending: PLAN_FORMAT, label: 'Sluice plan' },
]
  .map(({ ending, label }) => ({ name: label, extensions: [ending.slice(ending.lastIndexOf('.') + 1)] }))
  .filter(
    ({ extensions: [extension] }, index, all) =>
      index === all.findIndex((one) => one.extensions[0] === extension),
  )

/** The window that sent the event; throws if the sender is not our own page. */
function findAsker(event: IpcMainInvokeEvent, appUrl: string): BrowserWindow {
  const window = isOwnSender(event, appUrl) ? BrowserWindow.fromWebContents(event.sender) : null
  if (window === null) throw new Error('refused: the message does not come from a window of Sluice')
  return window
}

/** A plain file name made from a window's suggestion: no folders, no control characters, limited length. */
function toFileName(suggestion: unknown): string {
  const text = typeof suggestion === 'string' ? suggestion : ''
  const bare = text.replace(/[\p{Cc}\p{Cf}<>:"/\\|?*]/gu, '-').replace(/^[\s.]+|[\s.]+$/g, '')
  return bare.slice(0, LONGEST_NAME).toWellFormed() || 'results.csv'
}

/** The filters with the suggested format first, since a dialog may add the ending of the first filter. */
function toExportFilters(suggestion: unknown): typeof EXPORT_FILTERS {
  const name = toFileName(suggestion)
  const isSuggested = ({ extensions }: (typeof EXPORT_FILTERS)[number]) =>
    extensions.some((ending) => name.endsWith(`.${ending}`))
  return [...EXPORT_FILTERS.filter(isSuggested), ...EXPORT_FILTERS.filter((filter) => !isSuggested(filter))]
}

/** Shows the system's file dialogs, accepts dropped files, and passes on what was opened from outside. */
export function serveDialogs(files: ChosenFiles, appUrl: string, requests: OpenRequests): void {
  const exportFiles = new Map<string, string>()
  const take = async (path: string): Promise<ChosenSource | null> => {
    if (!isPlanName(path)) return files.addSource(path)
    await requests.openPath(path)
    return null
  }
  ipcMain.handle(IPC_CHANNELS.takeOpened, (event): OpenRequest | null => {
    findAsker(event, appUrl)
    return requests.take()
  })
  ipcMain.handle(IPC_CHANNELS.takeFile, async (event, path): Promise<ChosenSource | null> => {
    findAsker(event, appUrl)
    if (typeof path !== 'string' || !isAbsolute(path)) throw new Error('refused: not the path of a file')
    return take(path)
  })
  ipcMain.handle(IPC_CHANNELS.chooseFile, async (event): Promise<ChosenSource | null> => {
    const [path] = await choosePaths('file', findAsker(event, appUrl))
    return path === undefined ? null : take(path)
  })
  ipcMain.handle(IPC_CHANNELS.chooseSource, async (event): Promise<ChosenSource | null> => {
    const [path, ...more] = await choosePaths('files', findAsker(event, appUrl))
    if (path === undefined) return null
    return more.length === 0 ? take(path) : files.addSource(path, ...more)
  })
  ipcMain.handle(IPC_CHANNELS.chooseFolder, async (event): Promise<ChosenSource | null> => {
    const [path] = await choosePaths('folder', findAsker(event, appUrl))
    return path === undefined ? null : files.addSource(path)
  })
  ipcMain.handle(IPC_CHANNELS.chooseExportFile, async (event, suggestion): Promise<ExportTarget | null> => {
    const { canceled, filePath } = await dialog.showSaveDialog(findAsker(event, appUrl), {
      title: 'Export results',
      defaultPath: toFileName(suggestion),
      filters: toExportFilters(suggestion),
      properties: ['createDirectory', 'showOverwriteConfirmation'],
    })
    if (canceled || filePath === '') return null
    const target = files.addExportFile(filePath)
    exportFiles.set(target.targetId, filePath)
    return target
  })
  ipcMain.handle(IPC_CHANNELS.showExportFile, (event, target): void => {
    findAsker(event, appUrl)
    const file = exportFiles.get(exportTargetSchema.parse(target).targetId)
    if (file !== undefined) shell.showItemInFolder(file)
  })
}

const CANCEL = 0
const AGREE = 1

/** Asks before production in a system dialog, which no page can draw over or answer. */
export const askProduction: AskProduction = async (question, signal) => {
  const { title, lines, agree } = describeProduction(question)
  const pressed = await showMessage({
    type: 'warning',
    title: 'Production',
    message: title,
    detail: lines.join('\n'),
    buttons: ['Cancel', agree],
    defaultId: CANCEL,
    cancelId: CANCEL,
    signal,
  })
  return pressed === AGREE
}
