// The `electron` module of the stand-in program. Calls that the app only passes to the system are noted, as
// in tests of single modules; the life cycle of the app, its windows and their messages are real.
import { join } from 'node:path'
import process from 'node:process'
import { type BrowserContext, chromium } from 'playwright-core'
import { BrowserWindow as NotedWindow, app as notedApp } from '../../main/desktop/electron-stand-in.ts'
import { CHROMIUM_ARGUMENTS, findChromium } from '../e2e/find-chromium.ts'
import { readDebuggerAddress } from '../shells/debugger-address.ts'
import { takeInstanceLock } from './instance-lock.ts'
import { openPage } from './page.ts'

export * from '../../main/desktop/electron-stand-in.ts'

const USER_DATA = '--user-data-dir='
const userData =
  process.argv.find((argument) => argument.startsWith(USER_DATA))?.slice(USER_DATA.length) ?? ''

let chromiumContext: BrowserContext | null = null

/** Electron is ready when its Chromium is. Chromium ends with this process, however that ends. */
async function startChromium(): Promise<void> {
  chromiumContext = await chromium.launchPersistentContext(userData, {
    executablePath: findChromium() ?? '',
    args: [...CHROMIUM_ARGUMENTS, '--remote-debugging-port=0'],
    viewport: { width: 1440, height: 900 },
    reducedMotion: 'reduce',
  })
  // A debugger of the main process reads the address of the pages from this line.
  if (process.argv.includes('--inspect=0'))
    process.stderr.write(`DevTools listening on ${readDebuggerAddress(userData)}\n`)
}

export const app = Object.assign(notedApp, {
  isPackaged: false,
  getPath: (name: string) => (name === 'userData' ? userData : join(userData, name)),
  requestSingleInstanceLock: () =>
    takeInstanceLock(userData, ({ args, folder }) => app.emit('second-instance', {}, args, folder)),
  whenReady: startChromium,
  quit() {
    let isPrevented = false
    const event = {
      preventDefault() {
        isPrevented = true
      },
    }
    app.emit('before-quit', event)
    if (isPrevented) return
    for (const window of BrowserWindow.windows) window.events.emit('close')
    void Promise.resolve(chromiumContext?.close()).finally(() => process.exit(0))
  },
  exit: (code: number) => process.exit(code),
})

/** A window whose page is in Chromium. */
export class BrowserWindow extends NotedWindow {
  override async loadURL(url: string): Promise<void> {
    if (chromiumContext === null) throw new Error('the app is not ready')
    // Chromium opens with an empty page.
    const page = chromiumContext.pages()[0] ?? (await chromiumContext.newPage())
    await openPage(page, url, {
      contents: this.webContents,
      preloadFile: String(this.options.webPreferences['preload']),
    })
    this.events.emit('ready-to-show')
  }
}
