import { fork } from 'node:child_process'
import { EventEmitter } from 'node:events'

// Stands in for the `electron` module, which exists only inside Electron. It records what it is given for
// tests to inspect, and carries messages from the preload script to the main process as Electron does.

type Handler = (event: unknown, ...values: unknown[]) => unknown

class WindowStandIn {
  static windows: WindowStandIn[] = []
  static getAllWindows = () => WindowStandIn.windows
  static fromWebContents = (contents: unknown) =>
    WindowStandIn.windows.find((window) => window.webContents === contents) ?? null

  readonly events = new EventEmitter()
  readonly once = this.events.once.bind(this.events)
  readonly on = this.events.on.bind(this.events)
  readonly webContents = createWebContents()
  readonly calls: string[] = []
  readonly options: Record<string, unknown> & { webPreferences: Record<string, unknown> }
  url: string | null = null
  focused = false
  /** The values that the progress bar was set to, in order. */
  readonly progress: number[] = []

  constructor(options: Record<string, unknown> & { webPreferences: Record<string, unknown> }) {
    this.options = options
    WindowStandIn.windows.push(this)
    app.emit('web-contents-created', {}, this.webContents)
  }

  async loadURL(url: string) {
    this.url = url
  }
  show = () => this.calls.push('show')
  focus = () => this.calls.push('focus')
  restore = () => this.calls.push('restore')
  isMinimized = () => true
  isMaximized = () => this.calls.includes('maximize')
  isDestroyed = () => false
  isFocused = () => this.focused
  maximize = () => this.calls.push('maximize')
  getNormalBounds = () => ({ x: 20, y: 30, width: 1200, height: 800 })
  setProgressBar = (share: number) => void this.progress.push(share)
}

/** Electron's `webContents`: a page, its navigation events and its window-open handler. */
export function createWebContents() {
  const contents = Object.assign(new EventEmitter(), {
    /** Messages to the page's preload script, which arrive as events of `ipcRenderer`. */
    send: (channel: string) => void ipcRenderer.emit(channel, {}),
    reloads: 0,
    reload() {
      contents.reloads += 1
    },
    openHandler: null as ((details: { url: string }) => { action: string }) | null,
    setWindowOpenHandler(handler: (details: { url: string }) => { action: string }) {
      contents.openHandler = handler
    },
  })
  return contents
}

class AppStandIn extends EventEmitter {
  calls: string[] = []
  isPackaged = true
  hasLock = true
  requestSingleInstanceLock = () => this.hasLock
  /** Parent of the folders that `getPath` names; not writable unless a test sets it. */
  home = '/dev/null'
  getPath = (name: string) => `${this.home}/${name}`
  recent: string[] = []
  addRecentDocument = (path: string) => void this.recent.push(path)
  setAsDefaultProtocolClient = (scheme: string) => void this.calls.push(`links of ${scheme}`)
  about: Record<string, string> = {}
  setAboutPanelOptions = (about: Record<string, string>) => {
    this.about = about
  }
  whenReady = async () => void this.calls.push('ready')
  enableSandbox = () => void this.calls.push('enableSandbox')
  exit = (code: number) => void this.calls.push(`exit ${code}`)
  quit = () => {
    this.calls.push('quit')
    let prevented = false
    this.emit('before-quit', { preventDefault: () => (prevented = true) })
    if (!prevented) this.calls.push('gone')
  }
}

export const app = new AppStandIn()
export const BrowserWindow = WindowStandIn
export const nativeTheme = { shouldUseDarkColors: false }

export const screen = {
  displays: [{ workArea: { x: 0, y: 0, width: 1920, height: 1080 } }],
  getAllDisplays: () => screen.displays,
}

/** Gives a Node process the `parentPort` of an Electron utility process. */
const PARENT_PORT = `data:text/javascript,${encodeURIComponent(`
  import { EventEmitter } from 'node:events'
  const postMessage = (message) => void process.send(message)
  process.parentPort = Object.assign(new EventEmitter(), { postMessage })
  process.on('message', (data) => process.parentPort.emit('message', { data }))
`)}`

export const utilityProcess = {
  fork(file: string, args: string[], options: { execArgv: string[] }) {
    const execArgv = [...options.execArgv, `--import=${PARENT_PORT}`]
    const child = fork(file, args, { execArgv, stdio: ['ignore', 'pipe', 'ignore', 'ipc'] })
    return Object.assign(child, { postMessage: (message: object) => void child.send(message) })
  },
}

export const powerSaveBlocker = {
  /** The ids of active blockers. */
  on: new Set<number>(),
  started: 0,
  start(kind: string) {
    if (kind !== 'prevent-app-suspension') throw new Error(`unexpected: ${kind}`)
    powerSaveBlocker.started += 1
    powerSaveBlocker.on.add(powerSaveBlocker.started)
    return powerSaveBlocker.started
  },
  stop: (id: number) => void powerSaveBlocker.on.delete(id),
}

export class Notification extends EventEmitter {
  static shown: Notification[] = []
  static isSupported = () => true
  readonly options: { title: string; body: string }
  constructor(options: { title: string; body: string }) {
    super()
    this.options = options
  }
  show = () => void Notification.shown.push(this)
}

export const shell = {
  folders: [] as string[],
  showItemInFolder: (path: string) => void shell.folders.push(path),
  openPath: async (path: string) => {
    shell.folders.push(path)
    return ''
  },
  opened: [] as string[],
  openExternal: async (url: string) => void shell.opened.push(url),
}

export const protocol = {
  schemes: [] as { scheme: string; privileges: Record<string, boolean> }[],
  handlers: new Map<string, (request: Request) => Promise<Response>>(),
  registerSchemesAsPrivileged(schemes: { scheme: string; privileges: Record<string, boolean> }[]) {
    app.calls.push('registerSchemesAsPrivileged')
    protocol.schemes = schemes
  },
  handle(scheme: string, handler: (request: Request) => Promise<Response>) {
    protocol.handlers.set(scheme, handler)
  },
}

type PermissionHandler = (
  contents: unknown,
  permission: string,
  answer: (allowed: boolean) => void,
  details: { requestingUrl: string },
) => void

export const session = {
  defaultSession: {
    onRequest: null as PermissionHandler | null,
    onCheck: null as ((contents: unknown, permission: string, origin: string) => boolean) | null,
    onDevice: null as (() => boolean) | null,
    setPermissionRequestHandler: (handler: PermissionHandler) => {
      session.defaultSession.onRequest = handler
    },
    setPermissionCheckHandler: (
      handler: (contents: unknown, permission: string, origin: string) => boolean,
    ) => {
      session.defaultSession.onCheck = handler
    },
    setDevicePermissionHandler: (handler: () => boolean) => {
      session.defaultSession.onDevice = handler
    },
    setBluetoothPairingHandler: () => undefined,
    /** The system's answers, by address. */
    proxies: new Map<string, string>(),
    resolveProxy: async (url: string) => session.defaultSession.proxies.get(url) ?? 'DIRECT',
  },
}

export const clipboard = {
  text: '',
  writeText: (text: string) => {
    clipboard.text = text
  },
}

interface MenuItem {
  label?: string
  enabled?: boolean
  click?: () => void
  submenu?: MenuItem[]
}

export const Menu = {
  installed: null as unknown,
  buildFromTemplate: (template: unknown) => template,
  setApplicationMenu: (menu: unknown) => {
    Menu.installed = menu
  },
  /** The items below the given item, or of all menus. */
  list(label?: string): MenuItem[] {
    const items = (Menu.installed as MenuItem[]).flatMap(({ submenu }) => submenu ?? [])
    return label === undefined ? items : (items.find((one) => one.label === label)?.submenu ?? [])
  },
  /** Chooses an item as a person would. */
  click(label: string) {
    const items = Menu.list().flatMap((item) => [item, ...(item.submenu ?? [])])
    const item = items.find((one) => one.label === label)
    if (item?.click === undefined || item.enabled === false) throw new Error(`the menu offers no ${label}`)
    item.click()
  },
}

export const dialog = {
  errors: [] as string[],
  shown: [] as { window: unknown; options: Record<string, unknown> }[],
  messages: [] as Record<string, unknown>[],
  /** The index of the button pressed in a message box. */
  pressed: 0,
  showMessageBox: async (...given: unknown[]) => {
    dialog.messages.push(given.at(-1) as Record<string, unknown>)
    return { response: dialog.pressed }
  },
  answer: { canceled: false, filePaths: ['/data/rows.csv'], filePath: '/data/results.csv' },
  showErrorBox: (title: string, content: string) => void dialog.errors.push(`${title}: ${content}`),
  showOpenDialog: async (window: unknown, options: Record<string, unknown>) => {
    dialog.shown.push({ window, options })
    return dialog.answer
  },
  showSaveDialog: async (window: unknown, options: Record<string, unknown>) => {
    dialog.shown.push({ window, options })
    return dialog.answer
  },
}

export const ipcMain = Object.assign(new EventEmitter(), {
  handlers: new Map<string, Handler>(),
  handle: (channel: string, handler: Handler) => void ipcMain.handlers.set(channel, handler),
})

/** The sender of the preload's messages as the main process sees it. */
export const sender = {
  frame: { url: 'app://sluice/', parent: null } as { url: string; parent: unknown } | null,
  contents: null as unknown,
}

const toEvent = (ports: unknown[] = []) => ({ senderFrame: sender.frame, sender: sender.contents, ports })

export const ipcRenderer = Object.assign(new EventEmitter(), {
  invoke: async (channel: string, ...values: unknown[]) => {
    const handler = ipcMain.handlers.get(channel)
    if (handler === undefined) throw new Error(`nobody handles ${channel}`)
    return handler(toEvent(), ...values)
  },
  postMessage: (channel: string, _message: unknown, ports: unknown[]) =>
    ipcMain.emit(channel, toEvent(ports)),
})

export const contextBridge = {
  exposed: new Map<string, Record<string, (...values: unknown[]) => unknown>>(),
  exposeInMainWorld(name: string, value: Record<string, (...values: unknown[]) => unknown>) {
    contextBridge.exposed.set(name, value)
  },
}

/** Files from the system: only the system can give one a path. */
export const filesOnDisk = new WeakMap<File, string>()

export const webUtils = {
  getPathForFile(file: unknown) {
    if (!(file instanceof File)) throw new TypeError('not a File')
    return filesOnDisk.get(file) ?? ''
  },
}

/**
 * Encrypts with a key of this process: a test can decrypt the result, and no text search finds the plain
 * text.
 */
export const safeStorage = {
  /** Electron's name for the password store on Linux. */
  backend: 'gnome_libsecret',
  isAvailable: true,
  /**
   * Chromium's prefix: `v11` for a password from the system's store, `v10` on Linux for one that everybody
   * knows.
   */
  prefix: 'v11',
  keys: [0x5a],
  /** Requires everything encrypted so far to be encrypted again. */
  rotate: () => void safeStorage.keys.push((safeStorage.keys.length * 37) % 256),
  getSelectedStorageBackend: () => safeStorage.backend,
  isAsyncEncryptionAvailable: async () => safeStorage.isAvailable,
  encryptStringAsync: async (text: string) => {
    const version = safeStorage.keys.length - 1
    const bytes = Buffer.from(text, 'utf8').map((byte) => byte ^ (safeStorage.keys[version] ?? 0))
    return Buffer.concat([Buffer.from(safeStorage.prefix), Buffer.from([version]), bytes])
  },
  decryptStringAsync: async (encrypted: Buffer) => {
    const [version = 0, ...bytes] = encrypted.subarray(safeStorage.prefix.length)
    const key = safeStorage.keys[version] ?? 0
    return {
      result: Buffer.from(bytes.map((byte) => byte ^ key)).toString('utf8'),
      shouldReEncrypt: version !== safeStorage.keys.length - 1,
    }
  },
}
