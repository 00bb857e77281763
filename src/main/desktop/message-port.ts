import { ipcMain, type MessagePortMain } from 'electron'
import { IPC_CHANNELS } from './ipc-channels.ts'
import { isOwnSender } from './sender-check.ts'

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
