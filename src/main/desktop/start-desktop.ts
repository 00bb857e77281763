import {
  app,
  BrowserWindow,
  dialog,
  Menu,
  type MenuItemConstructorOptions,
  nativeTheme,
  session,
} from 'electron'
import { sayError } from '../../shared/messages/error-messages.ts'
import { toSluiceError } from '../../shared/messages/errors.ts'
import { registerAppScheme, serveAppProtocol } from './app-protocol.ts'
import { type ChosenFiles, serveDialogs } from './dialogs.ts'
import { acceptBridgePorts, type ServeBridge } from './message-port.ts'
import { denyPermissions, lockEveryPage } from './navigation-lock.ts'

/** The bridge as the desktop holds it: made once, served to each window, closed before the app quits. */
export interface DesktopBridge {
  serve: ServeBridge
  files: ChosenFiles
  /** Stops what runs, so that the journals are closed. */
  close(): Promise<void>
}

/** What the app is started with. */
export interface DesktopOptions {
  /** Address of the page: `APP_URL`, or a development server's. */
  appUrl: string
  /** Folder of the built renderer. */
  rendererFolder: string
  /** The built preload script. */
  preloadFile: string
  /** Runs when the app is ready. Rejects where there can be no engine, such as with an unusable workspace. */
  openBridge(): Promise<DesktopBridge>
}

/** Brings the window there is to the front, as starting the app twice asks for. */
function showFirstWindow(): void {
  const [window] = BrowserWindow.getAllWindows()
  if (window === undefined) return
  if (window.isMinimized()) window.restore()
  window.show()
  window.focus()
}

/** Closes the bridge before the app goes, once, however often quitting is asked for. */
function closeBeforeQuit(bridge: DesktopBridge): void {
  let state: 'open' | 'closing' | 'closed' = 'open'
  app.on('before-quit', (event) => {
    if (state === 'closed') return
    event.preventDefault()
    if (state === 'closing') return
    state = 'closing'
    const quit = () => {
      state = 'closed'
      app.quit()
    }
    bridge.close().then(quit, quit)
  })
}

/** Tells the person why there will be no window, and ends the app. */
function endWithoutWindow(error: unknown): void {
  const { said, exitCode } = toSluiceError(error)
  const { message, hint } = sayError(said, 'window')
  dialog.showErrorBox('Sluice cannot start', `${message}\n\n${hint}`)
  app.exit(exitCode)
}

/**
 * Starts the one instance of the app: hardens every page before there is one, opens the bridge, then the window.
 * Settles when the window is made. A second instance hands over to the first and settles at once; where the bridge
 * cannot be opened, the app says why and ends.
 */
export async function startDesktop(options: DesktopOptions): Promise<void> {
  const { appUrl, preloadFile, rendererFolder } = options
  if (!app.requestSingleInstanceLock()) {
    app.quit()
    return
  }
  // Before the app is ready, or not at all.
  registerAppScheme()
  app.enableSandbox()
  lockEveryPage(appUrl)
  app.on('second-instance', showFirstWindow)
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit()
  })

  await app.whenReady()
  denyPermissions(session.defaultSession, appUrl)
  serveAppProtocol(rendererFolder)
  installMenu({ platform: process.platform, development: !app.isPackaged })
  let bridge: DesktopBridge
  try {
    bridge = await options.openBridge()
  } catch (error) {
    endWithoutWindow(error)
    return
  }
  closeBeforeQuit(bridge)
  acceptBridgePorts(bridge.serve, appUrl)
  serveDialogs(bridge.files, appUrl)
  createWindow({ preloadFile, appUrl })
  app.on('activate', () => {
    if (BrowserWindow.getAllWindows().length === 0) createWindow({ preloadFile, appUrl })
  })
}

/** What a window needs: where its preload script is, and what it shows. */
export interface WindowOptions {
  /** Absolute path of the built CommonJS preload script. */
  preloadFile: string
  /** Address of the page. */
  appUrl: string
}

/** Opens a window on the app's page, shown once it has something to show. */
export function createWindow({ preloadFile, appUrl }: WindowOptions): BrowserWindow {
  const window = new BrowserWindow({
    width: 1440,
    height: 900,
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
      // The spell checker would fetch dictionaries from elsewhere, and the text here is not the person's own.
      spellcheck: false,
    },
  })
  window.once('ready-to-show', () => window.show())
  // A page that cannot load is shown anyway, so that the window does not stay away without a word.
  window.loadURL(appUrl).catch(() => window.show())
  return window
}

/** What the menu depends on. */
export interface MenuOptions {
  platform: NodeJS.Platform
  /** Adds reload and developer tools, which an installed app does not show. */
  development: boolean
}

/** The application menu: the roles each system expects, and nothing that could leave the page. */
function createMenuTemplate({ platform, development }: MenuOptions): MenuItemConstructorOptions[] {
  const isMac = platform === 'darwin'
  const view: MenuItemConstructorOptions[] = [
    { role: 'resetZoom' },
    { role: 'zoomIn' },
    { role: 'zoomOut' },
    { type: 'separator' },
    { role: 'togglefullscreen' },
  ]
  if (development) view.push({ type: 'separator' }, { role: 'reload' }, { role: 'toggleDevTools' })
  return [
    ...(isMac ? [{ role: 'appMenu' } as const] : []),
    { label: '&File', submenu: [isMac ? { role: 'close' } : { role: 'quit' }] },
    { role: 'editMenu' },
    { label: '&View', submenu: view },
    { role: 'windowMenu' },
  ]
}

/** Puts the application menu in place. */
export function installMenu(options: MenuOptions): void {
  Menu.setApplicationMenu(Menu.buildFromTemplate(createMenuTemplate(options)))
}
