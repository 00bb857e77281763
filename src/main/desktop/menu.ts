import { basename, dirname } from 'node:path'
import { app, clipboard, Menu, type MenuItemConstructorOptions, shell } from 'electron'
import { APP_VERSION, INSTALL_COMMAND, WHERE_COMMAND_LINE_IS } from '../../shared/version.ts'
import type { RecentSource } from './recent-sources.ts'
import type { Updates } from './updates.ts'
import { showMessage } from './window.ts'

export interface MenuOptions {
  platform: NodeJS.Platform
  /** Adds reload and developer tools, which an installed app lacks. */
  development: boolean
  openFile(): void
  openFolder(): void
  collectDiagnostics(): void
  /** Recently opened sources, newest first; macOS has its own list. */
  recent: readonly RecentSource[]
  openRecent(path: string): void
  clearRecent(): void
  /** The releases page; null if the build does not know it. */
  releasesUrl: string | null
  /** Null if the build has no update server. */
  updates: Updates | null
}

function createUpdateItems(updates: Updates | null): MenuItemConstructorOptions[] {
  if (updates === null) return []
  return [
    { label: 'Check for Updates…', click: () => void updates.check({ byPerson: true }) },
    {
      label: 'Check for Updates Automatically',
      type: 'checkbox',
      checked: updates.isAutomatic(),
      click: ({ checked }) => updates.setAutomatic(checked),
    },
    { type: 'separator' },
  ]
}

/** A text as a menu label, in which a single `&` would mark the next letter as its access key. */
function toLabel(text: string): string {
  return text.replaceAll('&', '&&')
}

/** Sources that no longer exist stay in the list, disabled, so that a person sees why nothing opens. */
function createRecentMenu({
  platform,
  recent,
  openRecent,
  clearRecent,
}: MenuOptions): MenuItemConstructorOptions {
  if (platform === 'darwin') {
    return { label: 'Open Recent', role: 'recentDocuments', submenu: [{ role: 'clearRecentDocuments' }] }
  }
  const sources = recent.map(({ path, isThere }) => ({
    label: toLabel(`${basename(path)} (${isThere ? dirname(path) : 'missing'})`),
    enabled: isThere,
    click: () => openRecent(path),
  }))
  return {
    label: 'Open Recent',
    submenu: [
      ...(sources.length === 0 ? [{ label: 'Nothing opened yet', enabled: false }] : sources),
      { type: 'separator' },
      { label: 'Clear List', enabled: sources.length > 0, click: clearRecent },
    ],
  }
}

const COPY = 1
const OPEN_RELEASES = 2

/** Tells where the command line is, and helps to get it. */
async function showCommandLine(releasesUrl: string | null): Promise<void> {
  const pressed = await showMessage({
    type: 'info',
    title: 'Command line',
    message: 'The command line is installed separately',
    detail: WHERE_COMMAND_LINE_IS,
    buttons: ['Close', 'Copy Command', ...(releasesUrl === null ? [] : ['Open Releases'])],
    cancelId: 0,
  })
  if (pressed === COPY) clipboard.writeText(INSTALL_COMMAND)
  if (pressed === OPEN_RELEASES && releasesUrl !== null) await shell.openExternal(releasesUrl)
}

/** The application menu: the roles that each system expects, and nothing that leaves the page. */
export function createMenuTemplate(options: MenuOptions): MenuItemConstructorOptions[] {
  const isMac = options.platform === 'darwin'
  const view: MenuItemConstructorOptions[] = [
    { role: 'resetZoom' },
    { role: 'zoomIn' },
    { role: 'zoomOut' },
    { type: 'separator' },
    { role: 'togglefullscreen' },
  ]
  if (options.development) view.push({ type: 'separator' }, { role: 'reload' }, { role: 'toggleDevTools' })
  return [
    ...(isMac ? [{ role: 'appMenu' } as const] : []),
    {
      label: '&File',
      submenu: [
        { label: 'Open…', accelerator: 'CmdOrCtrl+O', click: options.openFile },
        { label: 'Open Folder…', accelerator: 'CmdOrCtrl+Shift+O', click: options.openFolder },
        createRecentMenu(options),
        { type: 'separator' },
        isMac ? { role: 'close' } : { role: 'quit' },
      ],
    },
    { role: 'editMenu' },
    { label: '&View', submenu: view },
    { role: 'windowMenu' },
    {
      role: 'help',
      submenu: [
        ...createUpdateItems(options.updates),
        {
          label: 'Install the Command Line…',
          click: () => void showCommandLine(options.releasesUrl).catch(() => {}),
        },
        { label: 'Collect Diagnostics', click: options.collectDiagnostics },
        ...(isMac ? [] : [{ type: 'separator' } as const, { role: 'about' } as const]),
      ],
    },
  ]
}

export function installAbout(platform: NodeJS.Platform): void {
  const copyright = 'Copyright © The Sluice authors. MIT licence.'
  app.setAboutPanelOptions({
    applicationName: 'Sluice',
    applicationVersion: APP_VERSION,
    // The About panel of Linux shows no credits.
    ...(platform === 'linux'
      ? { copyright: `${copyright}\n${WHERE_COMMAND_LINE_IS}` }
      : { copyright, credits: WHERE_COMMAND_LINE_IS }),
  })
}

export function installMenu(options: MenuOptions): void {
  Menu.setApplicationMenu(Menu.buildFromTemplate(createMenuTemplate(options)))
}
