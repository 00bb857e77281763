import { readFileSync, writeFileSync } from 'node:fs'
import { app, BrowserWindow, dialog, nativeTheme, type Rectangle, screen } from 'electron'
import { z } from 'zod'
import type { EventLog } from './event-log.ts'

export interface WindowOptions {
  /** Absolute path of the built CommonJS preload script. */
  preloadFile: string
  appUrl: string
  /** File that stores the window's position. */
  stateFile: string
  log: EventLog
}

/** The only window; null if there is none. */
export function findWindow(): BrowserWindow | null {
  return BrowserWindow.getAllWindows()[0] ?? null
}

/** Brings the window to the front, if there is one. */
export function showWindow(): void {
  const window = findWindow()
  if (window === null) return
  if (window.isMinimized()) window.restore()
  window.show()
  window.focus()
}

/**
 * Shows a system dialog, over the window if there is one, and returns the index of the pressed button. No
 * page can draw over it or answer it.
 */
export async function showMessage(options: Electron.MessageBoxOptions): Promise<number> {
  const window = findWindow()
  const all = { noLink: true, ...options }
  const { response } = await (window === null
    ? dialog.showMessageBox(all)
    : dialog.showMessageBox(window, all))
  return response
}

/** Opens a window on the app's page at its last position, shown once it has content. */
export function createWindow({ preloadFile, appUrl, stateFile, log }: WindowOptions): BrowserWindow {
  const state = readWindowState(stateFile)
  const window = new BrowserWindow({
    width: state?.width ?? 1440,
    height: state?.height ?? 900,
    ...(state === null ? {} : { x: state.x, y: state.y }),
    minWidth: 1024,
    minHeight: 700,
    show: false,
    backgroundColor: nativeTheme.shouldUseDarkColors ? '#1a1b1e' : '#ffffff',
    webPreferences: {
      preload: preloadFile,
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webviewTag: false,
      webSecurity: true,
      allowRunningInsecureContent: false,
      experimentalFeatures: false,
      navigateOnDragDrop: false,
      // The spell checker would download dictionaries, and the text here is not the person's own.
      spellcheck: false,
    },
  })
  if (state?.isMaximized) window.maximize()
  keepWindowState(window, stateFile)
  surviveCrash(window, log)
  window.once('ready-to-show', () => window.show())
  // A page that fails to load is shown anyway, so that the window does not stay hidden.
  window.loadURL(appUrl).catch(() => window.show())
  return window
}

const RELOAD = 0

/** Reports a crash of the page and reloads it; runs continue in the main process and its threads. */
function surviveCrash(window: BrowserWindow, log: EventLog): void {
  window.webContents.on('render-process-gone', (_event, { reason, exitCode }) => {
    log.write('page gone', { reason, exitCode })
    if (reason === 'clean-exit' || window.isDestroyed()) return
    const options: Electron.MessageBoxOptions = {
      type: 'error',
      title: 'Sluice',
      message: 'The window has crashed',
      detail: 'Runs in progress continue, and no row is lost. What was typed and not yet sent is lost.',
      buttons: ['Reload', 'Quit'],
      defaultId: RELOAD,
      cancelId: RELOAD,
    }
    showMessage(options).then(
      (pressed) => {
        if (pressed !== RELOAD) app.quit()
        else if (!window.isDestroyed()) window.webContents.reload()
      },
      () => {},
    )
  })
  window.on('unresponsive', () => log.write('page does not answer'))
  window.on('responsive', () => log.write('page answers again'))
}

const stateSchema = z.object({
  x: z.int(),
  y: z.int(),
  width: z.int().min(1),
  height: z.int().min(1),
  isMaximized: z.boolean(),
})

/** A window's position, in the system's points. */
type WindowState = z.infer<typeof stateSchema>

/** How much of a window must be on a screen so that a person can grab it, points. */
const VISIBLE_MIN = 100

function isVisible(state: Rectangle): boolean {
  return screen.getAllDisplays().some(({ workArea: area }) => {
    const width = Math.min(state.x + state.width, area.x + area.width) - Math.max(state.x, area.x)
    const height = Math.min(state.y + state.height, area.y + area.height) - Math.max(state.y, area.y)
    return width >= VISIBLE_MIN && height >= VISIBLE_MIN && state.y >= area.y
  })
}

/** The window's position when it was last closed; null if none is stored or no screen shows it any more. */
function readWindowState(file: string): WindowState | null {
  try {
    const state = stateSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
    return isVisible(state) ? state : null
  } catch {
    return null
  }
}

/** Stores the window's position when it is closed; a failure is ignored. */
function keepWindowState(window: BrowserWindow, file: string): void {
  window.on('close', () => {
    const state: WindowState = { ...window.getNormalBounds(), isMaximized: window.isMaximized() }
    try {
      writeFileSync(file, JSON.stringify(state))
    } catch {
      // Next time, the window opens in the centre.
    }
  })
}
