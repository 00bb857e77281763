import { BrowserWindow, nativeTheme } from 'electron'

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
