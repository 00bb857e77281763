import { BrowserWindow, dialog } from 'electron'
import { type AskProduction, describeProduction } from '../bridge/production-gate.ts'

const CANCEL = 0
const SEND = 1

/** Asks before production in a dialog of the system, which a page can neither draw over nor answer. */
export const askProduction: AskProduction = async (question, signal) => {
  const { title, lines } = describeProduction(question)
  const options: Electron.MessageBoxOptions = {
    type: 'warning',
    title: 'Production',
    message: title,
    detail: lines.join('\n'),
    buttons: ['Cancel', 'Send to production'],
    defaultId: CANCEL,
    cancelId: CANCEL,
    noLink: true,
    signal,
  }
  const [window] = BrowserWindow.getAllWindows()
  const { response } = await (window === undefined
    ? dialog.showMessageBox(options)
    : dialog.showMessageBox(window, options))
  return response === SEND
}
