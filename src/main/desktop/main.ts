import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { app, session } from 'electron'
import { createDesktopHost } from '../bridge/desktop-host.ts'
import { openBridge } from '../bridge/open-bridge.ts'
import { serveOverMessagePort } from '../bridge/serve-connection.ts'
import { findDefaultWorkspace } from '../default-workspace.ts'
import { parseProxyList } from '../engine/secrets/system-proxy.ts'
import { keepFilesPrivate } from '../engine/workspace/file-permissions.ts'
import { APP_URL } from './app-protocol.ts'
import { askProduction } from './dialogs.ts'
import { createProfileKeys } from './profile-keys.ts'
import { startDesktop } from './start-desktop.ts'
import { startUtilityProcess } from './utility-process.ts'

keepFilesPrivate()

const { SLUICE_WORKSPACE: workspace, ELECTRON_RENDERER_URL: developmentUrl } = process.env
const output = join(import.meta.dirname, '..')

/**
 * The releases page of the repository that built the app, whose address the build writes into package.json;
 * null elsewhere.
 */
function findReleasesUrl(): string | null {
  try {
    const { homepage } = JSON.parse(readFileSync(join(output, '..', 'package.json'), 'utf8'))
    return typeof homepage === 'string' && homepage.startsWith('https://') ? `${homepage}/releases` : null
  } catch {
    return null
  }
}

// Not awaited: an ES module that waits for the app to be ready prevents exactly that.
void startDesktop({
  appUrl: (app.isPackaged ? undefined : developmentUrl) ?? APP_URL,
  rendererFolder: join(output, 'renderer'),
  preloadFile: join(output, 'preload', 'preload.cjs'),
  args: process.argv,
  onUncaught: (listener) => process.on('uncaughtExceptionMonitor', listener),
  releasesUrl: findReleasesUrl(),
  async createUpdater() {
    // Release builds name their repository in this file; without it there is no update server.
    if (!app.isPackaged || !existsSync(join(process.resourcesPath ?? '', 'app-update.yml'))) return null
    const { default: electronUpdater } = await import('electron-updater')
    return {
      updater: electronUpdater.autoUpdater,
      createToken: () => new electronUpdater.CancellationToken(),
    }
  },
  async openBridge() {
    const host = createDesktopHost(askProduction)
    const bridge = openBridge({
      workspace: workspace ? resolve(workspace) : findDefaultWorkspace(),
      host,
      lastingKeys: createProfileKeys(join(app.getPath('userData'), 'keys.json')),
      // The system's settings or its proxy script decide, as for a browser.
      startProcess: startUtilityProcess,
      findSystemProxy: async (url) => parseProxyList(await session.defaultSession.resolveProxy(url), url),
    })
    return {
      files: {
        addSource: (path, ...more) => bridge.services.sources.unite([path, ...more]),
        addExportFile: (path) => host.addExportFile(path),
        openPlan: (path) => bridge.services.plans.open(path),
      },
      media: bridge.services.media,
      runs: bridge.services.liveRuns,
      crashes: bridge.services.crashes,
      listRuns: async () => (await bridge.services.engine.runs.listRuns()).runs,
      attach: (parts) => host.attach(parts),
      serve: (port) => serveOverMessagePort(port, bridge.services),
      close: () => bridge.close(),
    }
  },
})
