import { ipcMain, type MessagePortMain, type WebFrameMain } from 'electron'
import { isOwnUrl } from './app-protocol.ts'
import { IPC_CHANNELS } from './ipc-channels.ts'

/** Serves the bridge over one port until the port closes. */
export type ServeBridge = (port: MessagePortMain) => void

/** Hands the ports that our own page sends to the bridge; ports from anyone else are closed unheard. */
export function acceptBridgePorts(serveBridge: ServeBridge, appUrl: string): void {
  ipcMain.on(IPC_CHANNELS.openBridge, (event) => {
    const [port, ...others] = event.ports
    for (const other of others) other.close()
    if (port === undefined) return
    if (!isOwnSender(event, appUrl)) {
      port.close()
      return
    }
    // Listeners first: a port delivers nothing until it is started.
    serveBridge(port)
    port.start()
  })
}

/** The part of an IPC event that says who sent it. */
export interface IpcSender {
  readonly senderFrame: Pick<WebFrameMain, 'url' | 'parent'> | null
}

/** Whether a message comes from the top frame of our own page; a frame that is gone is nobody's. */
export function isOwnSender({ senderFrame }: IpcSender, appUrl: string): boolean {
  return senderFrame !== null && senderFrame.parent === null && isOwnUrl(senderFrame.url, appUrl)
}
