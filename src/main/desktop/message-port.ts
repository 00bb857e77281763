import { ipcMain, type MessagePortMain, type WebFrameMain } from 'electron'
import { isOwnUrl } from './app-protocol.ts'
import { IPC_CHANNELS } from './ipc-channels.ts'

/** Serves the bridge over a port until it closes. */
export type ServeBridge = (port: MessagePortMain) => void

/** Passes ports from our own page to the bridge; ports from others are closed unread. */
export function acceptBridgePorts(serveBridge: ServeBridge, appUrl: string): void {
  ipcMain.on(IPC_CHANNELS.openBridge, (event) => {
    const [port, ...others] = event.ports
    for (const other of others) other.close()
    if (port === undefined) return
    if (!isOwnSender(event, appUrl)) {
      port.close()
      return
    }
    // After the listeners are set: a port delivers nothing until it is started.
    serveBridge(port)
    port.start()
  })
}

/** The part of an IPC event that identifies its sender. */
export interface IpcSender {
  readonly senderFrame: Pick<WebFrameMain, 'url' | 'parent'> | null
}

/** Whether a message comes from the top frame of our own page; false if the frame is gone. */
export function isOwnSender({ senderFrame }: IpcSender, appUrl: string): boolean {
  return senderFrame !== null && senderFrame.parent === null && isOwnUrl(senderFrame.url, appUrl)
}
