import { join } from 'node:path'
import process from 'node:process'
import { app, BrowserWindow, dialog, session, shell } from 'electron'
import { sayError } from '../../shared/messages/error-messages.ts'
import { SluiceError, toSluiceError } from '../../shared/messages/errors.ts'
import type { RunSummary } from '../../shared/run/run.ts'
import { APP_VERSION } from '../../shared/version.ts'
import type { DesktopParts } from '../bridge/bridge-context.ts'
import type { Crashes } from '../bridge/crashes.ts'
import type { MediaFiles } from '../bridge/media-files.ts'
import { registerAppScheme, serveAppProtocol } from './app-protocol.ts'
import { writeDiagnostics } from './diagnostics.ts'
import { chooseConnectionFile, choosePaths, serveDialogs } from './dialogs.ts'
import { describeError, type EventLog, openEventLog } from './event-log.ts'
import { IPC_CHANNELS } from './ipc-channels.ts'
import { installAbout, installMenu } from './menu.ts'
import { acceptBridgePorts, type ServeBridge } from './message-port.ts'
import { denyPermissions, lockEveryPage } from './navigation-lock.ts'
import {
  type ChosenFiles,
  createOpenRequests,
  findOpened,
  LINK_SCHEME,
  type Opened,
  type OpenRequests,
} from './open-requests.ts'
import { guardQuit } from './quit.ts'
import { createRecentSources } from './recent-sources.ts'
import { type HeldRuns, showRunsToSystem } from './run-attention.ts'
import { createUpdates, type UpdaterParts, type Updates } from './updates.ts'
import { createWindow, findWindow, showWindow } from './window.ts'

/** The bridge of the desktop app: opened once, served to each window, closed before the app quits. */
export interface DesktopBridge {
  serve: ServeBridge
  files: ChosenFiles
  /** Pictures, videos and sounds for the page. */
  media: Pick<MediaFiles, 'answer'>
  runs: HeldRuns
  crashes: Pick<Crashes, 'note' | 'onCrash'>
  /** The newest runs of the workspace. */
  listRuns(): Promise<RunSummary[]>
  /** Attaches the desktop services that the page may use. */
  attach(parts: DesktopParts): void
  /** Stops runs and closes their journals. */
  close(): Promise<void>
}

export interface DesktopOptions {
  /** Address of the page: `APP_URL`, or a development server's. */
  appUrl: string
  rendererFolder: string
  preloadFile: string
  /** The arguments of the process, as in `process.argv`. */
  args: readonly string[]
  /** Calls the listener with the error that is about to end the process. */
  onUncaught(listener: (error: unknown) => void): void
  /** The releases page; null if this build does not know it. */
  releasesUrl: string | null
  /** Creates the updater; null if this build has no update server. */
  createUpdater(): Promise<UpdaterParts | null>
  /** Called when the app is ready. Rejects if the engine cannot be opened, as on an unusable workspace. */
  openBridge(): Promise<DesktopBridge>
}

/** Tells the person why no window can open, and ends the app. */
function endWithoutWindow(error: unknown): void {
  const { said, exitCode } = toSluiceError(error)
  const { message, hint } = sayError(said, 'window')
  dialog.showErrorBox('Sluice cannot start', `${message}\n\n${hint}`)
  app.exit(exitCode)
}

/** Collects what is opened with the app until the engine is ready for it. */
function collectOpened(ownArguments: readonly string[]): {
  deliverTo(listener: (opened: Opened) => void): void
} {
  const early: Opened[] = []
  let deliver = (opened: Opened): void => {
    early.push(opened)
  }
  // An unpackaged app is started as `electron FOLDER …`, with options anywhere.
  const own = app.isPackaged ? 1 : 2
  const deliverArguments = (args: readonly string[], folder: string) => {
    const named = args.filter((argument) => !argument.startsWith('-'))
    const opened = findOpened(named.slice(own), folder)
    if (opened !== null) deliver(opened)
  }
  deliverArguments(ownArguments, process.cwd())
  app.on('second-instance', (_event, args, folder) => {
    showWindow()
    deliverArguments(args, folder)
  })
  app.on('open-file', (event, value) => {
    event.preventDefault()
    deliver({ kind: 'path', value })
  })
  app.on('open-url', (event, value) => {
    event.preventDefault()
    deliver({ kind: 'link', value })
  })
  return {
    deliverTo(listener) {
      deliver = listener
      for (const opened of early.splice(0)) listener(opened)
    },
  }
}

/** Logs what ends or endangers the process, and when runs begin and end. */
function logEvents(log: EventLog, { runs, crashes }: DesktopBridge): void {
  crashes.onCrash((error) => log.write('crashed', { error: describeError(error) }))
  app.on('child-process-gone', (_event, { type, name, reason, exitCode }) => {
    log.write('process gone', { type, reason, exitCode })
    if (reason === 'clean-exit') return
    crashes.note(new SluiceError({ id: 'helper_process_gone', name: name ?? type, reason }))
  })
  const phases = new Map<string, string>()
  runs.onChange(() => {
    const snapshots = runs.snapshots()
    for (const { runId, phase } of snapshots) {
      if (phases.get(runId) !== phase) log.write('run', { runId, phase })
      phases.set(runId, phase)
    }
    for (const runId of phases.keys()) {
      if (snapshots.some((snapshot) => snapshot.runId === runId)) continue
      phases.delete(runId)
      log.write('run', { runId, phase: 'closed' })
    }
  })
}

function toDiagnosticsFolder(): string {
  return join(app.getPath('userData'), 'diagnostics')
}

async function collectDiagnostics(log: EventLog, bridge: DesktopBridge): Promise<void> {
  try {
    const runs = await bridge.listRuns()
    const parent = toDiagnosticsFolder()
    shell.showItemInFolder(writeDiagnostics(parent, { logFolder: log.folder, runs, now: new Date() }))
  } catch (error) {
    log.write('no diagnostics', { error: describeError(error) })
    const { message, hint } = sayError(toSluiceError(error).said, 'window')
    dialog.showErrorBox('Cannot collect diagnostics', `${message}\n\n${hint}`)
  }
}

async function openByMenu(kind: 'files' | 'folder', requests: OpenRequests): Promise<void> {
  const window = findWindow()
  if (window !== null) await requests.openPaths(await choosePaths(kind, window))
}

const DAY_MS = 24 * 60 * 60 * 1000

/** Checks for updates now and once a day, unless the person has switched that off. */
function checkDaily(updates: Updates): void {
  const check = () => {
    if (updates.isAutomatic()) void updates.check({ byPerson: false })
  }
  check()
  setInterval(check, DAY_MS).unref()
}

/**
 * Starts the only instance of the app: hardens every page before there is one, opens the bridge, then the
 * window. Resolves when the window is created. A second instance hands over to the first and resolves at
 * once; if the bridge cannot be opened, the app tells why and ends.
 */
export async function startDesktop(options: DesktopOptions): Promise<void> {
  const { appUrl, preloadFile, rendererFolder } = options
  if (!app.requestSingleInstanceLock()) {
    app.quit()
    return
  }
  // Works only before the app is ready.
  registerAppScheme()
  app.enableSandbox()
  lockEveryPage(appUrl)
  const opened = collectOpened(options.args)
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit()
  })

  await app.whenReady()
  const log = openEventLog(app.getPath('logs'))
  log.write('started', { version: APP_VERSION, platform: process.platform, arch: process.arch })
  if (app.isPackaged) app.setAsDefaultProtocolClient(LINK_SCHEME)
  denyPermissions(session.defaultSession, appUrl)
  let bridge: DesktopBridge
  try {
    bridge = await options.openBridge()
  } catch (error) {
    log.write('cannot start', { error: describeError(error) })
    endWithoutWindow(error)
    return
  }
  serveAppProtocol(rendererFolder, bridge.media)
  logEvents(log, bridge)
  options.onUncaught((error) => log.write('uncaught', { error: describeError(error) }))
  const recent = createRecentSources(join(app.getPath('userData'), 'recent.json'), () => showMenu())
  const remember = (path: string) => {
    app.addRecentDocument(path)
    recent.add(path)
  }
  const files: ChosenFiles = {
    ...bridge.files,
    addSource(...paths) {
      for (const path of paths) remember(path)
      return bridge.files.addSource(...paths)
    },
    openPlan(path) {
      remember(path)
      return bridge.files.openPlan(path)
    },
  }
  const stateFile = join(app.getPath('userData'), 'window.json')
  const openWindow = () => createWindow({ preloadFile, appUrl, stateFile, log })
  const requests = createOpenRequests(files, () => {
    if (findWindow() === null) openWindow()
    else showWindow()
    findWindow()?.webContents.send(IPC_CHANNELS.opened)
  })
  const { closeThen } = guardQuit(bridge.runs, () => bridge.close())
  const parts = await options.createUpdater().catch((error: unknown) => {
    log.write('no updates', { error: describeError(error) })
    return null
  })
  const settingFile = join(app.getPath('userData'), 'updates.json')
  const updates =
    parts === null ? null : createUpdates({ ...parts, runs: bridge.runs, log, settingFile, closeThen })
  showRunsToSystem(bridge.runs, findWindow, (runId) => requests.openRun(runId))
  acceptBridgePorts(bridge.serve, appUrl)
  serveDialogs(files, appUrl, requests)
  const showMenu = () =>
    installMenu({
      platform: process.platform,
      development: !app.isPackaged,
      openFile: () => void openByMenu('files', requests),
      openFolder: () => void openByMenu('folder', requests),
      collectDiagnostics: () => void collectDiagnostics(log, bridge),
      recent: recent.known,
      openRecent: (path) => void requests.openPath(path),
      clearRecent: () => recent.clear(),
      releasesUrl: options.releasesUrl,
      updates,
    })
  installAbout(process.platform)
  showMenu()
  recent.look()
  bridge.attach({
    logFolder: log.folder,
    diagnosticsFolder: toDiagnosticsFolder(),
    openFolder: (path) => shell.openPath(path),
    collectDiagnostics: () => collectDiagnostics(log, bridge),
    chooseConnectionFile,
    updates:
      updates === null
        ? null
        : {
            ...updates,
            setAutomatic(isAutomatic) {
              updates.setAutomatic(isAutomatic)
              showMenu()
            },
          },
  })
  // Sources may have appeared or vanished while the person was elsewhere.
  app.on('browser-window-focus', () => recent.look())
  openWindow()
  if (updates !== null) checkDaily(updates)
  opened.deliverTo(({ kind, value }) => {
    if (kind === 'link') requests.openLink(value)
    else void requests.openPath(value)
  })
  app.on('activate', () => {
    if (BrowserWindow.getAllWindows().length === 0) openWindow()
  })
}
