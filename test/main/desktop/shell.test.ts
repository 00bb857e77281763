import { EventEmitter } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { sayError } from '../../../src/shared/messages/error-messages.ts'
import { SluiceError } from '../../../src/shared/messages/errors.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { waitFor } from '../../helpers/wait-for.ts'
import { electron, openPage, settle, standInForElectron, start, toRun } from './start-shell.ts'

standInForElectron()

describe('what a person opens from outside', () => {
  it('is the file that the app was started with, which waits for the page and is handed over once', async () => {
    const folder = createTemporaryFolder()
    writeFileSync(join(folder, 'rows.csv'), 'a\n1\n')
    await start({ args: ['--flag', join(folder, 'rows.csv')] })
    const page = await openPage()
    await waitFor(async () =>
      expect(await page.take()).toMatchObject({
        kind: 'source',
        source: { sourceId: `handle of ${folder}/rows.csv` },
      }),
    )
    expect(await page.take()).toBeNull()
    expect(electron.app.recent).toEqual([join(folder, 'rows.csv')])
  })

  it('is a file that a second start names, relative to its folder, and brings the window to the front', async () => {
    const folder = createTemporaryFolder()
    mkdirSync(join(folder, 'media'))
    const { window } = await start()
    const page = await openPage()
    electron.app.emit('second-instance', {}, ['/app/sluice', 'media'], folder)
    await waitFor(() => expect(page.countAnnounced()).toBe(1))
    expect(window.calls).toEqual(expect.arrayContaining(['restore', 'show', 'focus']))
    expect(await page.take()).toMatchObject({ source: { sourceId: `handle of ${folder}/media` } })
    electron.app.emit('second-instance', {}, ['/app/sluice', 'missing.csv'], folder)
    await settle()
    expect(await page.take()).toBeNull()
  })

  it('is a file by its URL, as Linux desktops pass it, unless it is on another machine', async () => {
    const file = join(createTemporaryFolder(), 'rows of may.csv')
    writeFileSync(file, 'a\n')
    await start()
    const page = await openPage()
    const open = (address: string) => electron.app.emit('second-instance', {}, ['/app/sluice', address], '/')
    for (const address of ['file://server/share/rows.csv', 'file:///a%2fb.csv', 'file://%']) open(address)
    open(pathToFileURL(file).href)
    await waitFor(() => expect(page.countAnnounced()).toBe(1))
    expect(await page.take()).toMatchObject({ source: { sourceId: `handle of ${file}` } })
  })

  it('is a file that was dropped on the icon on macOS', async () => {
    const file = join(createTemporaryFolder(), 'rows.csv')
    writeFileSync(file, 'a\n')
    await start()
    const page = await openPage()
    const event = { preventDefault: vi.fn() }
    electron.app.emit('open-file', event, file)
    await waitFor(() => expect(page.countAnnounced()).toBe(1))
    expect(event.preventDefault).toHaveBeenCalledOnce()
    expect(await page.take()).toMatchObject({ kind: 'source' })
  })

  it('is a link to a run, and no other link', async () => {
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

  it('opens no page but ours', async () => {
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
    await waitFor(() => expect(page.countAnnounced()).toBe(1))
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

  it('keeps the machine awake only while requests go out', async () => {
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

  it('is announced without content when it ends after a while and the person is elsewhere', async () => {
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
    await waitFor(() => expect(electron.app.calls).toContain('gone'))
    expect(electron.dialog.messages).toEqual([])
    expect(countClosed()).toBe(1)
  })

  it('asks while a run is under way, and leaves it alone unless told otherwise', async () => {
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
    await waitFor(() => expect(electron.app.calls).toContain('gone'))
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
    await waitFor(() => expect(electron.app.calls).toContain('gone'))
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

  it('reports that its page crashed, reloads it, and keeps the runs', async () => {
    const { window, countClosed, home } = await start()
    electron.dialog.pressed = 0
    window.webContents.emit('render-process-gone', {}, { reason: 'oom', exitCode: 5 })
    await waitFor(() => expect(window.webContents.reloads).toBe(1))
    expect(electron.dialog.messages).toMatchObject([
      { message: 'The window has crashed', buttons: ['Reload', 'Quit'] },
    ])
    expect(countClosed()).toBe(0)
    expect(readFileSync(join(home, 'logs', 'sluice.log'), 'utf8')).toContain(
      '"event":"page gone","reason":"oom"',
    )
  })
})

describe('a crash of a thread or a helper process', () => {
  it('is in the log, and in the window if the window does not know of it yet', async () => {
    const { home, crashes } = await start()
    crashes.note(
      new SluiceError({ id: 'run_broke_off', runId: '20261122-120000-1', reason: 'out of memory' }),
    )
    const gone = (reason: string) =>
      electron.app.emit('child-process-gone', {}, { type: 'GPU', reason, exitCode: 9 })
    gone('clean-exit')
    gone('crashed')
    const said = crashes.list().map((crash) => sayError(crash.said, 'window'))
    expect(said.map(({ message }) => message)).toEqual([
      'run 20261122-120000-1 ended unexpectedly: out of memory',
      'a process of the window ended unexpectedly: GPU, crashed',
    ])
    expect(said[1]?.hint).toContain('nothing is lost')
    const log = readFileSync(join(home, 'logs', 'sluice.log'), 'utf8')
    expect(log.match(/"event":"crashed"/g)).toHaveLength(2)
    expect(log).toContain('run 20261122-120000-1 ended unexpectedly')
    expect(log).toContain('"event":"process gone","type":"GPU","reason":"crashed","exitCode":9')
  })
})

describe('what the settings of the page may ask of the desktop', () => {
  it('is to open a folder, to collect diagnostics, and nothing about updates without an updater', async () => {
    const { home, desktop } = await start()
    const parts = desktop()
    expect(parts).toMatchObject({ logFolder: join(home, 'logs'), updates: null })
    expect(await parts?.openFolder('/some/folder')).toBe('')
    await parts?.collectDiagnostics()
    expect(electron.shell.folders[0]).toBe('/some/folder')
    expect(electron.shell.folders[1]).toContain(parts?.diagnosticsFolder)
  })

  it('is to turn off automatic update checks, which the menu then shows', async () => {
    const updater = Object.assign(new EventEmitter(), { checkForUpdates: async () => null })
    const { desktop } = await start({ updater })
    const isChecked = () => JSON.stringify(electron.Menu.installed).includes('"checked":true')
    expect(isChecked()).toBe(true)
    desktop()?.updates?.setAutomatic(false)
    expect(isChecked()).toBe(false)
    expect(desktop()?.updates?.isAutomatic()).toBe(false)
  })
})

describe('diagnostics', () => {
  it('are a readable folder: versions, counts and a log, without content, names, addresses or keys', async () => {
    const { home, say, fail } = await start()
    say(toRun('running', 5))
    say()
    fail(
      new Error(
        `no such file ${homedir()}/posts.csv at https://me:pw@host/a?key=1 with sk-0123456789abcdefghijklmn`,
      ),
    )
    electron.Menu.click('Collect Diagnostics')
    await waitFor(() => expect(electron.shell.folders).toHaveLength(1))
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

  it('contain no key that Sluice has used, however short', async () => {
    const { home, fail } = await start()
    const { ApiKey, ProxyCredentials } = await import('../../../src/main/engine/secrets/bound-secret.ts')
    ApiKey.create('k-4711', { baseUrl: 'https://api.example.com' }, 'that was typed in')
    ProxyCredentials.create('me:pw42', 'http://proxy.example.com:3128', 'PROXY_LOGIN')
    fail(new Error(`refused k-4711 and ${Buffer.from('k-4711').toString('base64')} after pw42`))
    const log = readFileSync(join(home, 'logs', 'sluice.log'), 'utf8')
    expect(log).toContain('refused [redacted] and [redacted] after [redacted]')
  })

  it('keep at most three log files of a megabyte', async () => {
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
