import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { DESKTOP_API_NAME } from '../../../src/shared/bridge/desktop-api.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'

type Electron = typeof import('./electron-stand-in.ts')

let electron: Electron

// Electron's modules are one per process, and so is the stand-in: a fresh one for each test.
beforeEach(async () => {
  vi.resetModules()
  electron = await import('./electron-stand-in.ts')
  vi.doMock('electron', () => electron)
  return () => vi.unstubAllGlobals()
})

/** The part of a snapshot that the shell looks at. */
function toRun(phase: string, settled = 0, elapsedMs = 0, runId = '20261122-120000-1') {
  const rows = { read: 110, invalid: 10, succeeded: settled, rejected: 0, failed: 0, unknown: 0, overdue: 0 }
  return { runId, phase, rows, elapsedMs, load: null }
}

/** Starts the app over an engine that is only its runs, as the test says they are. */
async function start({ args = [] as string[], home = createTemporaryFolder() } = {}) {
  electron.app.home = home
  // Electron has made it by the time the app is ready.
  mkdirSync(join(home, 'userData'), { recursive: true })
  const runs = { now: [] as ReturnType<typeof toRun>[], listeners: new Set<() => void>() }
  const say = (...now: ReturnType<typeof toRun>[]) => {
    runs.now = now
    for (const listener of [...runs.listeners]) listener()
  }
  const { startDesktop } = await import('../../../src/main/desktop/start-desktop.ts')
  let closed = 0
  let fail = (_error: unknown) => {}
  const options = {
    appUrl: 'app://sluice/',
    rendererFolder: '/nowhere/renderer',
    preloadFile: '/nowhere/preload.cjs',
    args: ['/app/sluice', ...args],
    onUncaught: (listener: typeof fail) => {
      fail = listener
    },
    createUpdater: async () => null,
    openBridge: async () => ({
      files: {
        addSource: async (path: string) => ({ sourceId: `handle of ${path}`, name: 'a name', sizeBytes: 1 }),
        addExportFile: () => ({ targetId: '' }),
      },
      runs: {
        snapshots: () => runs.now,
        onChange(listener: () => void) {
          runs.listeners.add(listener)
          return () => runs.listeners.delete(listener)
        },
      },
      media: { answer: async () => null },
      listRuns: async () => [
        {
          run_id: '20261122-120000-1',
          state: 'completed',
          name: 'hidden',
          source: 'hidden',
          base_url: 'https://hidden',
        },
      ],
      serve: () => {},
      close: async () => {
        closed += 1
      },
    }),
  }
  await startDesktop(options as unknown as Parameters<typeof startDesktop>[0])
  const window = electron.BrowserWindow.windows.at(-1)
  if (window === undefined) throw new Error('no window was opened')
  electron.sender.contents = window.webContents
  return { window, say, home, countClosed: () => closed, fail: (error: unknown) => fail(error) }
}

async function openPage() {
  vi.stubGlobal('window', new EventTarget())
  await import('../../../src/main/desktop/preload.ts')
  const api = electron.contextBridge.exposed.get(DESKTOP_API_NAME) ?? {}
  let announced = 0
  api['onOpened']?.(() => {
    announced += 1
  })
  return { take: () => api['takeOpened']?.(), countAnnounced: () => announced }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('what a person opens from outside', () => {
  it('is the file that the app was started with, which waits for the page and is handed over once', async () => {
    const folder = createTemporaryFolder()
    writeFileSync(join(folder, 'rows.csv'), 'a\n1\n')
    await start({ args: ['--flag', join(folder, 'rows.csv')] })
    const page = await openPage()
    await vi.waitFor(async () =>
      expect(await page.take()).toMatchObject({
        kind: 'source',
        source: { sourceId: `handle of ${folder}/rows.csv` },
      }),
    )
    expect(await page.take()).toBeNull()
    expect(electron.app.recent).toEqual([join(folder, 'rows.csv')])
  })

  it('is what a second start names, relative to where that was, and brings the window to the front', async () => {
    const folder = createTemporaryFolder()
    mkdirSync(join(folder, 'media'))
    const { window } = await start()
    const page = await openPage()
    electron.app.emit('second-instance', {}, ['/app/sluice', 'media'], folder)
    await vi.waitFor(() => expect(page.countAnnounced()).toBe(1))
    expect(window.calls).toEqual(expect.arrayContaining(['restore', 'show', 'focus']))
    expect(await page.take()).toMatchObject({ source: { sourceId: `handle of ${folder}/media` } })
    electron.app.emit('second-instance', {}, ['/app/sluice', 'missing.csv'], folder)
    await settle()
    expect(await page.take()).toBeNull()
  })

  it('is a file by its address, as desktops on Linux pass it, and none of another machine', async () => {
    const file = join(createTemporaryFolder(), 'rows of may.csv')
    writeFileSync(file, 'a\n')
    await start()
    const page = await openPage()
    const open = (address: string) => electron.app.emit('second-instance', {}, ['/app/sluice', address], '/')
    for (const address of ['file://server/share/rows.csv', 'file:///a%2fb.csv', 'file://%']) open(address)
    open(pathToFileURL(file).href)
    await vi.waitFor(() => expect(page.countAnnounced()).toBe(1))
    expect(await page.take()).toMatchObject({ source: { sourceId: `handle of ${file}` } })
  })

  it('is what macOS says was dropped on the icon', async () => {
    const file = join(createTemporaryFolder(), 'rows.csv')
    writeFileSync(file, 'a\n')
    await start()
    const page = await openPage()
    const event = { preventDefault: vi.fn() }
    electron.app.emit('open-file', event, file)
    await vi.waitFor(() => expect(page.countAnnounced()).toBe(1))
    expect(event.preventDefault).toHaveBeenCalledOnce()
    expect(await page.take()).toMatchObject({ kind: 'source' })
  })

  it('is a link that shows a run, and nothing else that a link could say', async () => {
    await start()
    const page = await openPage()
    const open = async (link: string) => {
      electron.app.emit('open-url', { preventDefault: () => {} }, link)
      return page.take()
    }
    expect(await open('sluice://run/20261122-120000-1')).toEqual({ kind: 'run', runId: '20261122-120000-1' })
    for (const link of [
      'sluice://run/',
      'sluice://run/a/export',
      'sluice://run/..',
      'sluice://run/%2e%2e',
      'sluice://run/a?start=1',
      'sluice://run/a#/new/source',
      'sluice://user@run/a',
      'sluice://send/a',
      'https://run/a',
      'sluice:run/a',
      '',
    ]) {
      expect([link, await open(link)]).toEqual([link, null])
    }
    expect(electron.app.calls).toContain('links of sluice')
  })

  it('goes to no page but ours', async () => {
    await start()
    const page = await openPage()
    electron.sender.frame = { url: 'https://example.com/', parent: null }
    await expect(page.take()).rejects.toThrow('refused')
  })

  it('can be chosen in the menu', async () => {
    const file = join(createTemporaryFolder(), 'rows.csv')
    writeFileSync(file, 'a\n')
    await start()
    const page = await openPage()
    electron.dialog.answer = { canceled: false, filePaths: [file], filePath: '' }
    electron.Menu.click('Open…')
    await vi.waitFor(() => expect(page.countAnnounced()).toBe(1))
    expect(await page.take()).toMatchObject({ kind: 'source' })
  })
})

describe('a run under way', () => {
  it('shows its progress on dock and taskbar, until it has ended', async () => {
    const { window, say } = await start()
    say(toRun('intake'))
    say(toRun('running', 25), toRun('awaiting', 75, 0, '20261122-120000-2'))
    say(toRun('paused', 30))
    expect(window.progress).toEqual([-1, 0.5, -1])
  })

  it('keeps the machine awake while requests go out, and no longer', async () => {
    const { say } = await start()
    const isAwake = () => electron.powerSaveBlocker.on.size
    say(toRun('intake'))
    expect(isAwake()).toBe(0)
    say(toRun('running'))
    say(toRun('running', 1))
    expect(isAwake()).toBe(1)
    say(toRun('paused'))
    expect(isAwake()).toBe(0)
    say(toRun('draining'))
    expect(isAwake()).toBe(1)
    say(toRun('awaiting'))
    expect(isAwake()).toBe(0)
  })

  it('is announced when it ends after a while and the person is elsewhere, without its content', async () => {
    const { window, say } = await start()
    const page = await openPage()
    const shown = () => electron.Notification.shown
    say(toRun('running', 10, 5_000))
    say()
    expect(shown()).toEqual([])
    window.focused = true
    say(toRun('running', 10, 60_000))
    say()
    expect(shown()).toEqual([])
    window.focused = false
    say(toRun('running', 10, 60_000))
    say()
    expect(shown().map(({ options }) => options)).toEqual([
      { title: 'A run has ended', body: 'Open Sluice to see the results.' },
    ])
    shown()[0]?.emit('click')
    expect(await page.take()).toEqual({ kind: 'run', runId: '20261122-120000-1' })
  })
})

describe('quitting', () => {
  const CHOICES = { cancel: 0, stop: 1, finish: 2 }

  it('asks nothing while no run is under way', async () => {
    const { say, countClosed } = await start()
    say(toRun('ready'), toRun('paused', 5))
    electron.app.quit()
    await vi.waitFor(() => expect(electron.app.calls).toContain('gone'))
    expect(electron.dialog.messages).toEqual([])
    expect(countClosed()).toBe(1)
  })

  it('asks with a run under way, and leaves it alone unless told otherwise', async () => {
    const { say, countClosed } = await start()
    say(toRun('running', 5))
    electron.dialog.pressed = CHOICES.cancel
    electron.app.quit()
    electron.app.quit()
    await settle()
    expect(electron.dialog.messages).toMatchObject([
      {
        message: '1 run still in progress',
        buttons: ['Cancel', 'Stop and resume later', 'Finish first'],
        defaultId: 0,
      },
    ])
    expect(countClosed()).toBe(0)
    expect(electron.app.calls).not.toContain('gone')
  })

  it('stops the runs, which can be resumed', async () => {
    const { say, countClosed } = await start()
    say(toRun('running', 5))
    electron.dialog.pressed = CHOICES.stop
    electron.app.quit()
    await vi.waitFor(() => expect(electron.app.calls).toContain('gone'))
    expect(countClosed()).toBe(1)
  })

  it('waits until the last run has ended, and still stops when asked again', async () => {
    const { say, countClosed } = await start()
    say(toRun('running', 5))
    electron.dialog.pressed = CHOICES.finish
    electron.app.quit()
    await settle()
    say(toRun('awaiting', 90))
    expect(countClosed()).toBe(0)
    say()
    await vi.waitFor(() => expect(electron.app.calls).toContain('gone'))
    expect(countClosed()).toBe(1)
  })
})

describe('the window', () => {
  it('opens where it was closed, unless no screen shows that place any more', async () => {
    const { window, home } = await start()
    expect(window.options).toMatchObject({ width: 1440, height: 900 })
    window.events.emit('close')
    const { window: later } = await start({ home })
    expect(later.options).toMatchObject({ x: 20, y: 30, width: 1200, height: 800 })
    electron.screen.displays = [{ workArea: { x: 5_000, y: 0, width: 1920, height: 1080 } }]
    const { window: elsewhere } = await start({ home })
    expect(elsewhere.options).toMatchObject({ width: 1440, height: 900 })
    expect(elsewhere.options).not.toHaveProperty('x')
    writeFileSync(join(home, 'userData', 'window.json'), '{"x":1e99}')
    expect((await start({ home })).window.options).toMatchObject({ width: 1440 })
  })

  it('says that its page crashed, loads it again, and keeps the runs', async () => {
    const { window, countClosed, home } = await start()
    electron.dialog.pressed = 0
    window.webContents.emit('render-process-gone', {}, { reason: 'oom', exitCode: 5 })
    await vi.waitFor(() => expect(window.webContents.reloads).toBe(1))
    expect(electron.dialog.messages).toMatchObject([
      { message: 'The window has crashed', buttons: ['Reload', 'Quit'] },
    ])
    expect(countClosed()).toBe(0)
    expect(readFileSync(join(home, 'logs', 'sluice.log'), 'utf8')).toContain(
      '"event":"page gone","reason":"oom"',
    )
  })
})

describe('the menu', () => {
  it('has the roles of each system, and a way to the diagnostics', async () => {
    await start()
    const text = JSON.stringify(electron.Menu.installed)
    for (const role of ['editMenu', 'windowMenu', 'help', 'togglefullscreen'])
      expect(text).toContain(`"${role}"`)
    expect(electron.app.about).toMatchObject({ applicationName: 'Sluice' })
    const { createMenuTemplate } = await import('../../../src/main/desktop/menu.ts')
    const actions = { openFile: () => {}, openFolder: () => {}, collectDiagnostics: () => {}, updates: null }
    const mac = JSON.stringify(createMenuTemplate({ platform: 'darwin', development: false, ...actions }))
    for (const role of ['appMenu', 'close', 'recentDocuments', 'clearRecentDocuments']) {
      expect(mac).toContain(`"${role}"`)
    }
    const windows = JSON.stringify(createMenuTemplate({ platform: 'win32', development: false, ...actions }))
    expect(windows).toMatch(/"quit".*"about"/)
    expect(windows).not.toContain('appMenu')
  })
})

describe('diagnostics', () => {
  it('are a folder to look through: versions, counts and a log, without content, names, addresses or keys', async () => {
    const { home, say, fail } = await start()
    say(toRun('running', 5))
    say()
    fail(
      new Error(
        `no such file ${homedir()}/posts.csv at https://me:pw@host/a?key=1 with sk-0123456789abcdefghijklmn`,
      ),
    )
    electron.Menu.click('Collect Diagnostics')
    await vi.waitFor(() => expect(electron.shell.folders).toHaveLength(1))
    const [folder = ''] = electron.shell.folders
    expect(folder.startsWith(join(home, 'userData', 'diagnostics'))).toBe(true)
    expect(readdirSync(folder).toSorted()).toEqual(['README.txt', 'about.json', 'logs', 'runs.json'])
    const texts = ['about.json', 'runs.json', 'logs/sluice.log'].map((name) =>
      readFileSync(join(folder, name), 'utf8'),
    )
    const all = texts.join('\n')
    expect(all).toContain('20261122-120000-1')
    expect(all).toContain('"state": "completed"')
    expect(all).toContain('"phase":"closed"')
    expect(all).toContain('no such file ~/posts.csv at https://[redacted]@host/a?[redacted] with [redacted]')
    expect(all).not.toMatch(/hidden|me:pw|0123456789abc/)
  })

  it('keep three log files of a megabyte at most', async () => {
    const { openEventLog } = await import('../../../src/main/desktop/event-log.ts')
    const folder = join(createTemporaryFolder(), 'logs')
    const log = openEventLog(folder, () => new Date(0))
    const reason = 'word '.repeat(20_000)
    for (let index = 0; index < 45; index += 1) log.write(`line ${index}`, { reason })
    expect(readdirSync(folder).toSorted()).toEqual(['sluice.1.log', 'sluice.2.log', 'sluice.log'])
    expect(readFileSync(join(folder, 'sluice.log'), 'utf8')).toContain('line 44')
    expect(existsSync(join(folder, 'sluice.3.log'))).toBe(false)
    for (const name of readdirSync(folder))
      expect(readFileSync(join(folder, name)).length).toBeLessThanOrEqual(1_000_000)
  })
})
