import { contextBridge, ipcRenderer, webUtils } from 'electron'
import { DESKTOP_API_NAME, type DesktopApi, OPEN_BRIDGE_MESSAGE } from '../../shared/bridge/desktop-api.ts'
import { IPC_CHANNELS } from './ipc-channels.ts'

const api: DesktopApi<File> = {
  // The page passes a File, which only the system creates with a path; the page can neither set nor read the
  // path.
  takeFile: async (file) => {
    const path = webUtils.getPathForFile(file)
    return path === '' ? null : ipcRenderer.invoke(IPC_CHANNELS.takeFile, path)
  },
  chooseFile: () => ipcRenderer.invoke(IPC_CHANNELS.chooseFile),
  chooseSource: () => ipcRenderer.invoke(IPC_CHANNELS.chooseSource),
  chooseFolder: () => ipcRenderer.invoke(IPC_CHANNELS.chooseFolder),
  chooseExportFile: (suggestedName) => ipcRenderer.invoke(IPC_CHANNELS.chooseExportFile, suggestedName),
  showExportFile: (target) => ipcRenderer.invoke(IPC_CHANNELS.showExportFile, target),
  takeOpened: () => ipcRenderer.invoke(IPC_CHANNELS.takeOpened),
  onOpened: (listener) => {
    // Electron's event is not passed on, since it contains the sender.
    ipcRenderer.on(IPC_CHANNELS.opened, () => listener())
  },
}

contextBridge.exposeInMainWorld(DESKTOP_API_NAME, api)

/** The part of the page's window that a preload script uses; full types belong to the renderer. */
interface PageWindow {
  addEventListener(type: 'message', listener: (event: PageMessage) => void): void
}

interface PageMessage {
  readonly source: unknown
  readonly data: unknown
  readonly ports: readonly object[]
}

declare const window: PageWindow

// A port cannot pass through contextBridge, so it is posted to the page's own window.
window.addEventListener('message', (event) => {
  if (event.source !== window || event.data !== OPEN_BRIDGE_MESSAGE) return
  const [port] = event.ports
  if (port !== undefined) ipcRenderer.postMessage(IPC_CHANNELS.openBridge, null, [port])
})
