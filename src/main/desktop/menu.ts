import { app, Menu, type MenuItemConstructorOptions } from 'electron'
import { APP_VERSION } from '../../shared/version.ts'
import type { Updates } from './updates.ts'

/** What the menu depends on, and what its items do. */
export interface MenuOptions {
  platform: NodeJS.Platform
  /** Adds reload and developer tools, which an installed app does not show. */
  development: boolean
  openFile(): void
  openFolder(): void
  collectDiagnostics(): void
  /** Null where the build has no place to ask for updates. */
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

/** The application menu: the roles each system expects, and nothing that could leave the page. */
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
  // Windows keeps the list behind its taskbar icon; on Linux there is none for all desktops.
  const recent: MenuItemConstructorOptions[] = isMac
    ? [{ label: 'Open Recent', role: 'recentDocuments', submenu: [{ role: 'clearRecentDocuments' }] }]
    : []
  return [
    ...(isMac ? [{ role: 'appMenu' } as const] : []),
    {
      label: '&File',
      submenu: [
        { label: 'Open…', accelerator: 'CmdOrCtrl+O', click: options.openFile },
        { label: 'Open Folder…', accelerator: 'CmdOrCtrl+Shift+O', click: options.openFolder },
        ...recent,
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
        { label: 'Collect Diagnostics', click: options.collectDiagnostics },
        ...(isMac ? [] : [{ type: 'separator' } as const, { role: 'about' } as const]),
      ],
    },
  ]
}

/** Puts the application menu and the panel about the app in place. */
export function installMenu(options: MenuOptions): void {
  app.setAboutPanelOptions({
    applicationName: 'Sluice',
    applicationVersion: APP_VERSION,
    copyright: 'Copyright © The Sluice authors. MIT licence.',
  })
  Menu.setApplicationMenu(Menu.buildFromTemplate(createMenuTemplate(options)))
}
