// node updating-app.ts VERSION FOLDER [--remote-debugging-port=0 --user-data-dir=…], in its own process: an
// installed app that shows its version in Chromium and updates itself by the app's own code and the updater
// of AppImages, with the stand-in for electron. FOLDER contains app-update.yml. A file `pressed` in it names
// the button that a person presses.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type RequestOptions, request } from 'node:http'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'
import { CHROMIUM_ARGUMENTS, findChromium } from '../e2e/find-chromium.ts'

const USER_DATA = '--user-data-dir='

const [version = '', folder = '', ...flags] = process.argv.slice(2)
// The process that an update starts is ignored: the test starts it again with a debugger.
if (flags.length === 0) process.exit()

const standIn = new URL('../../main/desktop/electron-stand-in.ts', import.meta.url).href
const forUpdater = join(folder, 'electron.cjs')
writeFileSync(forUpdater, "module.exports = { autoUpdater: new (require('node:events'))() }\n")
registerHooks({
  resolve: (specifier, context, next) => {
    if (specifier !== 'electron') return next(specifier, context)
    const isUpdater = context.parentURL?.includes('/electron-updater/')
    return isUpdater
      ? { url: pathToFileURL(forUpdater).href, format: 'commonjs', shortCircuit: true }
      : { url: standIn, shortCircuit: true }
  },
})
const electron: typeof import('../../main/desktop/electron-stand-in.ts') = await import(standIn)
const { AppImageUpdater, CancellationToken } = await import('electron-updater')
const { ElectronHttpExecutor } = await import('electron-updater/out/electronHttpExecutor.js')
const { createUpdates } = await import('../../../src/main/desktop/updates.ts')

// Playwright can also end a Chromium that a script started, and lets it end with this process in any case.
const context = await chromium.launchPersistentContext(
  flags.find((flag) => flag.startsWith(USER_DATA))?.slice(USER_DATA.length) ?? '',
  {
    executablePath: findChromium() ?? '',
    args: [...CHROMIUM_ARGUMENTS, ...flags.filter((flag) => !flag.startsWith(USER_DATA))],
    handleSIGTERM: false,
  },
)
await context.pages()[0]?.setContent(`Sluice ${version}`)
const end = () => void context.close().finally(() => process.exit())
process.on('SIGTERM', end)

/** Waits until a person presses one of the buttons. */
electron.dialog.showMessageBox = async (...given: unknown[]) => {
  const { buttons = [] } = given.at(-1) as { buttons?: string[] }
  const file = join(folder, 'pressed')
  for (;;) {
    const response = existsSync(file) ? buttons.indexOf(readFileSync(file, 'utf8')) : -1
    if (response >= 0) {
      rmSync(file)
      return { response }
    }
    await wait(20)
  }
}

const updater = new AppImageUpdater(null, {
  version,
  name: 'sluice',
  isPackaged: true,
  appUpdateConfigPath: join(folder, 'app-update.yml'),
  userDataPath: folder,
  baseCachePath: join(folder, 'cache'),
  whenReady: async () => {},
  relaunch: () => {},
  quit: end,
  onQuit: () => {},
})
class NodeExecutor extends ElectronHttpExecutor {
  override createRequest(
    options: RequestOptions,
    answer: Parameters<InstanceType<typeof ElectronHttpExecutor>['createRequest']>[1],
  ): Electron.ClientRequest {
    return request(options, answer) as unknown as Electron.ClientRequest
  }
}
Object.assign(updater, { httpExecutor: new NodeExecutor() })
const updates = createUpdates({
  updater,
  createToken: () => new CancellationToken(),
  runs: { snapshots: () => [], onChange: () => () => {} },
  log: { folder, write: () => {} },
  settingFile: join(folder, 'updates.json'),
  closeThen: (install) => install(),
})
await updates.check({ byPerson: false })
