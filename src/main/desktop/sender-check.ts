import type { WebFrameMain } from 'electron'
import { isOwnUrl } from './app-origin.ts'

/** The part of an IPC event that says who sent it. */
export interface IpcSender {
  readonly senderFrame: Pick<WebFrameMain, 'url' | 'parent'> | null
}

/** Whether a message comes from the top frame of our own page; a frame that is gone is nobody's. */
export function isOwnSender({ senderFrame }: IpcSender, appUrl: string): boolean {
  return senderFrame !== null && senderFrame.parent === null && isOwnUrl(senderFrame.url, appUrl)
}
