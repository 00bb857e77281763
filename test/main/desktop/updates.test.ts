import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type RequestOptions, request, type Server } from 'node:http'
import { registerHooks } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { AppImageUpdater, CancellationToken } from 'electron-updater'
import { ElectronHttpExecutor } from 'electron-updater/out/electronHttpExecutor.js'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { writeUpdateFeeds } from '../../../scripts/release/update-feeds.ts'
import { APP_VERSION } from '../../../src/shared/version.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { waitFor } from '../../helpers/wait-for.ts'

// The real AppImage updater runs over a feed like a release's; only its network access and its app are Node's
// instead of Electron's.

const NEXT = '99.0.0'
const NEXT_NAME = `Sluice-${NEXT}-linux-${process.arch}.AppImage`

let electron: typeof import('./electron-stand-in.ts')

beforeEach(async () => {
  vi.resetModules()
  electron = await import('./electron-stand-in.ts')
  vi.doMock('electron', () => electron)
  return () => vi.unstubAllEnvs()
})

interface Feed {
  url: string
  /** The requested paths. */
  asked: string[]
  server: Server
}

/** Serves a release whose AppImage is a script; `hold` keeps its download waiting until it is cancelled. */
async function serveRelease(
  folder: string,
  { version = NEXT, bytes = '', hold = (): boolean => false } = {},
): Promise<Feed> {
  const file = join(folder, NEXT_NAME)
  const mark = join(folder, 'started')
  writeFileSync(file, `#!/bin/sh\nprintf ${NEXT} > '${mark}.draft' && mv '${mark}.draft' '${mark}'\n`)
  const content = readFileSync(file)
  const sha512 = createHash('sha512').update(content).digest('base64')
  const processor = process.arch === 'arm64' ? 'arm64' : 'x64'
  const installer = {
    name: NEXT_NAME,
    system: 'linux',
    processor,
    ending: 'AppImage',
    sizeBytes: content.length,
    sha512,
  } as const
  const [feed] = writeUpdateFeeds([installer], version, '2026-11-22T00:00:00.000Z')
  if (bytes !== '') writeFileSync(file, bytes)
  const asked: string[] = []
  const server = createServer(({ url = '' }, response) => {
    const path = url.replace(/^\/|\?.*$/g, '')
    asked.push(path)
    if (path === feed?.name) response.end(feed.text)
    else if (path !== NEXT_NAME) response.writeHead(404).end()
    else if (hold()) response.writeHead(200, { 'content-length': content.length }).flushHeaders()
    else createReadStream(file).pipe(response)
  })
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, server }
}

/** electron-updater asks Electron's own module to announce that it quits. */
function standInForElectron(folder: string): void {
  const file = join(folder, 'electron.cjs')
  writeFileSync(file, "module.exports = { autoUpdater: new (require('node:events'))() }\n")
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'electron'
        ? { url: pathToFileURL(file).href, format: 'commonjs', shortCircuit: true }
        : next(specifier, context),
  })
  onTestFinished(() => hooks.deregister())
}

/** An updater of an installed version N whose file is in `folder`. */
function createUpdater(folder: string, url: string) {
  const installed = join(folder, 'Sluice.AppImage')
  writeFileSync(installed, 'version N')
  vi.stubEnv('APPIMAGE', installed)
  standInForElectron(folder)
  let quits = 0
  const updater = new AppImageUpdater(null, {
    version: APP_VERSION,
    name: 'sluice',
    isPackaged: true,
    appUpdateConfigPath: join(folder, 'app-update.yml'),
    userDataPath: folder,
    baseCachePath: join(folder, 'cache'),
    whenReady: async () => {},
    relaunch: () => {},
    quit: () => {
      quits += 1
    },
    onQuit: () => {},
  })
  writeFileSync(
    join(folder, 'app-update.yml'),
    `provider: generic\nurl: ${url}\nupdaterCacheDirName: sluice\n`,
  )
  class NodeExecutor extends ElectronHttpExecutor {
    override createRequest(
      options: RequestOptions,
      answer: Parameters<ElectronHttpExecutor['createRequest']>[1],
    ): Electron.ClientRequest {
      return request(options, answer) as unknown as Electron.ClientRequest
    }
  }
  Object.assign(updater, { httpExecutor: new NodeExecutor() })
  return { updater, installed, countQuits: () => quits }
}

async function open(feedOptions?: Parameters<typeof serveRelease>[1], server?: string) {
  const folder = createTemporaryFolder()
  const feed = await serveRelease(folder, feedOptions)
  const { updater, installed, countQuits } = createUpdater(folder, server ?? feed.url)
  const runs = { phase: 'ended', listeners: new Set<() => void>() }
  const say = (phase: string) => {
    runs.phase = phase
    for (const listener of [...runs.listeners]) listener()
  }
  const logged: string[] = []
  const order: string[] = []
  const { createUpdates } = await import('../../../src/main/desktop/updates.ts')
  const options = {
    updater,
    createToken: () => new CancellationToken(),
    runs: {
      snapshots: () => [{ phase: runs.phase }],
      onChange(listener: () => void) {
        runs.listeners.add(listener)
        return () => runs.listeners.delete(listener)
      },
    },
    log: { folder, write: (event: string) => void logged.push(event) },
    settingFile: join(folder, 'updates.json'),
    closeThen: (install: () => void) => {
      order.push('closed')
      install()
    },
  }
  const updates = createUpdates(options as unknown as Parameters<typeof createUpdates>[0])
  return { updates, feed, folder, installed, say, logged, order, countQuits }
}

const messages = () => electron.dialog.messages.map(({ message }) => message)

describe.runIf(process.platform === 'linux')('an update', () => {
  it('goes from the installed version to the next one, after a yes to the download and one to the installation', async () => {
    const { updates, feed, folder, installed, order, countQuits } = await open()
    electron.dialog.pressed = 1
    await updates.check({ byPerson: false })
    expect(messages()).toEqual([`Sluice ${NEXT} is available`, `Sluice ${NEXT} is downloaded`])
    expect(electron.dialog.messages.map(({ defaultId }) => defaultId)).toEqual([0, 0])
    expect(feed.asked.at(-1)).toBe(NEXT_NAME)
    expect(order).toEqual(['closed'])
    await waitFor(() => expect(countQuits()).toBe(1))
    expect(readFileSync(installed, 'utf8')).toMatch(/^#!\/bin\/sh/)
    // The newly installed version has started.
    await waitFor(() => expect(readFileSync(join(folder, 'started'), 'utf8')).toBe(NEXT))
  })

  it('downloads and installs nothing without a yes', async () => {
    const { updates, feed, installed, order } = await open()
    await updates.check({ byPerson: false })
    expect(messages()).toEqual([`Sluice ${NEXT} is available`])
    expect(feed.asked).not.toContain(NEXT_NAME)
    expect(readFileSync(installed, 'utf8')).toBe('version N')
    expect(order).toEqual([])
  })

  it('waits for the end of a run before it asks or checks', async () => {
    const { updates, feed, say } = await open()
    say('running')
    const checked = updates.check({ byPerson: false })
    await updates.check({ byPerson: true })
    expect(messages()).toEqual(['Sluice looks for updates when no run is in progress'])
    expect(feed.asked).toEqual([])
    say('ended')
    await checked
    expect(messages().at(-1)).toBe(`Sluice ${NEXT} is available`)
  })

  it('stops its download when a run begins, and downloads again when the run has ended', async () => {
    let isHeld = true
    const { updates, feed, say, logged, installed } = await open({ hold: () => isHeld })
    electron.dialog.pressed = 1
    const checked = updates.check({ byPerson: false })
    await waitFor(() => expect(feed.asked).toContain(NEXT_NAME))
    say('running')
    await waitFor(() => expect(logged).toContain('update waits for a run'))
    expect(feed.asked.filter((path) => path === NEXT_NAME)).toHaveLength(1)
    isHeld = false
    say('ended')
    await checked
    expect(readFileSync(installed, 'utf8')).toMatch(/^#!/)
  })

  it("is refused if the file differs from the feed's hash, and says so", async () => {
    const { updates, installed, folder } = await open({ bytes: 'something else' })
    electron.dialog.pressed = 1
    await updates.check({ byPerson: false })
    expect(messages()).toEqual([`Sluice ${NEXT} is available`, 'The update failed'])
    expect(electron.dialog.messages[1]?.['detail']).toMatch(/sha512|checksum|size/i)
    expect(readFileSync(installed, 'utf8')).toBe('version N')
    expect(existsSync(join(folder, 'started'))).toBe(false)
  })

  it('is not offered if the installed version is the newest, which a person who asked is told', async () => {
    const { updates } = await open({ version: APP_VERSION })
    await updates.check({ byPerson: false })
    expect(messages()).toEqual([])
    await updates.check({ byPerson: true })
    expect(messages()).toEqual([`Sluice ${APP_VERSION} is the newest version`])
  })

  it('interrupts nobody when the machine is offline, but tells a person who asked why it cannot check', async () => {
    onlyInLongForm()
    const { updates, logged } = await open({}, 'http://127.0.0.1:9')
    await updates.check({ byPerson: false })
    expect(messages()).toEqual([])
    expect(logged).toEqual(['update failed'])
    await updates.check({ byPerson: true })
    expect(messages()).toEqual(['Cannot look for updates'])
  })

  it('is checked for daily unless the person has turned that off, which is remembered', async () => {
    const { updates } = await open()
    expect(updates.isAutomatic()).toBe(true)
    updates.setAutomatic(false)
    expect(updates.isAutomatic()).toBe(false)
    updates.setAutomatic(true)
    expect(updates.isAutomatic()).toBe(true)
  })

  it('is not checked for daily if the file that may have turned it off is damaged', async () => {
    const { updates, folder } = await open()
    writeFileSync(join(folder, 'updates.json'), 'not json')
    expect(updates.isAutomatic()).toBe(false)
  })
})
