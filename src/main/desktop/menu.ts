import { Menu, type MenuItemConstructorOptions } from 'electron'

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
