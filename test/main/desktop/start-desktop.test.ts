import { once } from 'node:events'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { IPC_CHANNELS } from '../../../src/main/desktop/ipc-channels.ts'
import { DESKTOP_API_NAME, OPEN_BRIDGE_MESSAGE } from '../../../src/shared/bridge/desktop-api.ts'
import { waitFor } from '../../helpers/wait-for.ts'

type Electron = typeof import('./electron-stand-in.ts')

let electron: Electron
let startDesktop: typeof import('../../../src/main/desktop/start-desktop.ts').startDesktop
let served: MessagePort[]
let closed: number

// Electron's modules exist once per process, and so does the stand-in: each test gets a fresh one.
beforeEach(async () => {
  vi.resetModules()
  electron = await import('./electron-stand-in.ts')
  vi.doMock('electron', () => electron)
  startDesktop = (await import('../../../src/main/desktop/start-desktop.ts')).startDesktop
  served = []
  closed = 0
})

afterEach(() => vi.unstubAllGlobals())

const toOptions = (appUrl = 'app://sluice/') => ({
  appUrl,
  rendererFolder: '/nowhere/renderer',
  preloadFile: '/nowhere/preload.cjs',
  args: ['/app/sluice'],
  onUncaught: () => {},
  releasesUrl: null,
  createUpdater: async () => null,
  openBridge: async () => ({
    files: {
      addSource: async (...paths: string[]) => ({
        sourceId: `handle of ${paths.join(' and ')}`,
        name: 'a name',
        sizeBytes: 1,
      }),
      addExportFile: (path: string) => ({ targetId: `handle of ${path}` }),
      openPlan: (path: string) => ({ planId: `handle of ${path}`, question: null }),
    },
    serve: (port: unknown) => {
      const real = port as MessagePort
      served.push(real)
      real.on('message', (text) => real.postMessage(`answer to ${text}`))
    },
    runs: { snapshots: () => [], onChange: () => () => {} },
    media: { answer: async () => null },
    crashes: { note: () => {}, onCrash: () => {} },
    listRuns: async () => [],
    attach: () => {},
    close: async () => {
      closed += 1
    },
  }),
})

async function start(appUrl?: string) {
  await startDesktop(toOptions(appUrl) as unknown as Parameters<typeof startDesktop>[0])
  const window = electron.BrowserWindow.windows[0]
  if (window === undefined) throw new Error('no window was opened')
  electron.sender.contents = window.webContents
  return window
}

/** Runs the preload script in a page of its own and returns a function that posts to that page. */
async function runPreload() {
  const page = new EventTarget()
  vi.stubGlobal('window', page)
  await import('../../../src/main/desktop/preload.ts')
  return (data: unknown, ports: unknown[], source: unknown = page) =>
    page.dispatchEvent(Object.assign(new Event('message'), { data, ports, source }))
}

describe('the desktop window', () => {
  it('runs the page in a sandbox, apart from Node and from the preload script', async () => {
    const window = await start()
    expect(window.url).toBe('app://sluice/')
    expect(window.options.webPreferences).toEqual({
      preload: '/nowhere/preload.cjs',
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webviewTag: false,
      webSecurity: true,
      allowRunningInsecureContent: false,
      experimentalFeatures: false,
      navigateOnDragDrop: false,
      spellcheck: false,
    })
    expect(electron.app.calls).toContain('enableSandbox')
  })

  it('is shown once it has content', async () => {
    const window = await start()
    expect(window.calls).toEqual([])
    window.events.emit('ready-to-show')
    expect(window.calls).toEqual(['show'])
  })

  it('is served by a scheme that was made secure before the app was ready', async () => {
    await start()
    expect(electron.protocol.schemes[0]).toMatchObject({
      scheme: 'app',
      privileges: { standard: true, secure: true },
    })
    expect(electron.app.calls.indexOf('registerSchemesAsPrivileged')).toBeLessThan(
      electron.app.calls.indexOf('ready'),
    )
    expect([...electron.protocol.handlers.keys()]).toEqual(['app'])
  })

  it.each(['will-navigate', 'will-frame-navigate', 'will-redirect'])(
    'stays on its page at %s',
    async (name) => {
      const { webContents } = await start()
      const go = (url: string) => {
        const details = { url, preventDefault: vi.fn() }
        webContents.emit(name, details)
        return details.preventDefault.mock.calls.length > 0
      }
      expect(go('https://example.com/')).toBe(true)
      expect(go('file:///etc/passwd')).toBe(true)
      expect(go('app://elsewhere/')).toBe(true)
      expect(go('app://user@sluice/')).toBe(true)
      expect(go('app://sluice/runs/1')).toBe(false)
    },
  )

  it('opens no other window, and only https links, each after a click and a dialog with the full address', async () => {
    const { webContents } = await start()
    const open = (url: string) => webContents.openHandler?.({ url })
    const click = () => webContents.emit('input-event', {}, { type: 'mouseUp' })
    const settle = () => new Promise((resolve) => setImmediate(resolve))
    // Without a click, or if the person declines, nothing opens.
    open('https://example.com/unasked')
    webContents.emit('input-event', {}, { type: 'mouseMove' })
    open('https://example.com/unasked')
    expect(electron.dialog.messages).toEqual([])
    click()
    open('https://example.com/declined')
    await settle()
    expect(electron.dialog.messages).toMatchObject([{ detail: 'https://example.com/declined', defaultId: 0 }])
    expect(electron.shell.opened).toEqual([])
    electron.dialog.pressed = 1
    // One click opens one link only.
    open('https://example.com/again')
    await settle()
    expect(electron.shell.opened).toEqual([])
    for (const url of [
      'https://example.com/help',
      'http://example.com/',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'smb://host/share',
      'https://user:pass@example.com/',
      `https://example.com/${'x'.repeat(3_000)}`,
      'app://sluice/',
      'no url',
    ]) {
      click()
      expect(open(url)).toEqual({ action: 'deny' })
      await settle()
    }
    expect(electron.shell.opened).toEqual(['https://example.com/help'])
  })

  it('has no webview, no device access, and no permission but writing text to the clipboard', async () => {
    const { webContents } = await start()
    const event = { preventDefault: vi.fn() }
    webContents.emit('will-attach-webview', event)
    expect(event.preventDefault).toHaveBeenCalledOnce()

    const { onRequest, onCheck, onDevice } = electron.session.defaultSession
    const ask = (permission: string, requestingUrl: string) => {
      const answer = vi.fn()
      onRequest?.(webContents, permission, answer, { requestingUrl })
      return answer.mock.calls[0]?.[0]
    }
    for (const permission of [
      'media',
      'geolocation',
      'notifications',
      'clipboard-read',
      'openExternal',
      'hid',
    ]) {
      expect(ask(permission, 'app://sluice/')).toBe(false)
      expect(onCheck?.(webContents, permission, 'app://sluice')).toBe(false)
    }
    expect(ask('clipboard-sanitized-write', 'app://sluice/')).toBe(true)
    expect(ask('clipboard-sanitized-write', 'https://example.com/')).toBe(false)
    expect(onCheck?.(webContents, 'clipboard-sanitized-write', 'https://example.com')).toBe(false)
    expect(onDevice?.()).toBe(false)
  })

  it('offers reload and developer tools only if the app is not installed', async () => {
    await start()
    expect(JSON.stringify(electron.Menu.installed)).not.toMatch(/reload|toggleDevTools/)
    electron.app.isPackaged = false
    await start()
    expect(JSON.stringify(electron.Menu.installed)).toMatch(/reload.*toggleDevTools/)
  })
})

describe('the way from the page to the bridge', () => {
  it('carries a port through the preload script in both directions', async () => {
    await start()
    const post = await runPreload()
    const { port1, port2 } = new MessageChannel()
    post(OPEN_BRIDGE_MESSAGE, [port2])
    expect(served).toHaveLength(1)
    port1.postMessage('a question')
    expect(await once(port1, 'message')).toEqual(['answer to a question'])
    port1.close()
  })

  it('carries no other message, none from another window, and none without a port', async () => {
    await start()
    const post = await runPreload()
    const { port1, port2 } = new MessageChannel()
    post('something else', [port2])
    post(OPEN_BRIDGE_MESSAGE, [port2], new EventTarget())
    post(OPEN_BRIDGE_MESSAGE, [])
    expect(served).toEqual([])
    port1.close()
  })

  it.each([
    ['another origin', { url: 'https://example.com/', parent: null }],
    ['another host of the scheme', { url: 'app://elsewhere/', parent: null }],
    ['a frame inside the page', { url: 'app://sluice/', parent: {} }],
    ['a frame that is gone', null],
  ])('closes the port of %s without serving it', async (_name, frame) => {
    await start()
    const post = await runPreload()
    electron.sender.frame = frame
    const { port1, port2 } = new MessageChannel()
    const gone = once(port1, 'close')
    post(OPEN_BRIDGE_MESSAGE, [port2])
    await gone
    expect(served).toEqual([])
  })

  it('accepts a development server as the page only if it was started with it', async () => {
    await start('http://localhost:5173/')
    const post = await runPreload()
    const { port1, port2 } = new MessageChannel()
    electron.sender.frame = { url: 'http://localhost:5173/index.html', parent: null }
    post(OPEN_BRIDGE_MESSAGE, [port2])
    expect(served).toHaveLength(1)
    port1.close()
  })
})

describe('window.sluice', () => {
  it('is all that the preload script exposes, and holds only eight functions', async () => {
    await start()
    await runPreload()
    expect([...electron.contextBridge.exposed.keys()]).toEqual([DESKTOP_API_NAME])
    const api = electron.contextBridge.exposed.get(DESKTOP_API_NAME) ?? {}
    expect(Object.keys(api).toSorted()).toEqual([
      'chooseExportFile',
      'chooseFile',
      'chooseFolder',
      'chooseSource',
      'onOpened',
      'showExportFile',
      'takeFile',
      'takeOpened',
    ])
  })

  it('makes a source of a file from the system only, never of one that a page made itself', async () => {
    await start()
    await runPreload()
    const api = electron.contextBridge.exposed.get(DESKTOP_API_NAME) ?? {}
    const dropped = new File(['a'], 'dropped.csv')
    electron.filesOnDisk.set(dropped, '/data/dropped.csv')
    expect(await api['takeFile']?.(dropped)).toMatchObject({ sourceId: 'handle of /data/dropped.csv' })
    expect(await api['takeFile']?.(new File(['a'], '/etc/passwd'))).toBeNull()
    for (const made of ['/etc/passwd', { path: '/etc/passwd' }, null]) {
      await expect(api['takeFile']?.(made)).rejects.toThrow()
    }
  })

  it("asks for files with the system's dialogs, over the window that asks", async () => {
    const window = await start()
    await runPreload()
    const api = electron.contextBridge.exposed.get(DESKTOP_API_NAME) ?? {}
    expect(await api['chooseSource']?.()).toMatchObject({ sourceId: 'handle of /data/rows.csv' })
    expect(await api['chooseExportFile']?.('../../etc/pass\u202ewd.csv')).toEqual({
      targetId: 'handle of /data/results.csv',
    })
    await api['showExportFile']?.({ targetId: 'handle of /etc/passwd' })
    expect(electron.shell.folders).toEqual([])
    await api['showExportFile']?.({ targetId: 'handle of /data/results.csv' })
    expect(electron.shell.folders).toEqual(['/data/results.csv'])
    expect(electron.dialog.shown[0]).toMatchObject({
      window,
      options: { properties: ['openFile', 'multiSelections'] },
    })
    expect(electron.dialog.shown[1]?.options['defaultPath']).toBe('-..-etc-pass-wd.csv')
    electron.dialog.answer = { canceled: false, filePaths: ['/data/media'], filePath: '' }
    expect(await api['chooseFolder']?.()).toMatchObject({ sourceId: 'handle of /data/media' })
    expect(electron.dialog.shown[2]).toMatchObject({ window, options: { properties: ['openDirectory'] } })
    electron.dialog.answer = { canceled: true, filePaths: [], filePath: '' }
    expect(await api['chooseSource']?.()).toBeNull()
    expect(await api['chooseExportFile']?.(undefined)).toBeNull()
    expect(electron.dialog.shown[4]?.options['defaultPath']).toBe('results.csv')
  })

  it('makes one source of several files that are chosen at once, in the order of their names', async () => {
    await start()
    await runPreload()
    const api = electron.contextBridge.exposed.get(DESKTOP_API_NAME) ?? {}
    const filePaths = ['/data/week-2.csv', '/data/week-1.xlsx']
    electron.dialog.answer = { canceled: false, filePaths, filePath: '' }
    expect(await api['chooseSource']?.()).toMatchObject({
      sourceId: 'handle of /data/week-1.xlsx and /data/week-2.csv',
    })
    electron.dialog.answer = { canceled: false, filePaths: ['/data/labels.csv'], filePath: '' }
    expect(await api['chooseFile']?.()).toMatchObject({ sourceId: 'handle of /data/labels.csv' })
    expect(electron.dialog.shown[1]).toMatchObject({ options: { properties: ['openFile'] } })
  })

  it('answers no frame but the page, on every channel', async () => {
    await start()
    const channels = [...electron.ipcMain.handlers.keys(), ...electron.ipcMain.eventNames()].map(String)
    const { opened, ...incoming } = IPC_CHANNELS
    expect(channels.toSorted()).toEqual(Object.values(incoming).toSorted())
    for (const frame of [
      { url: 'https://example.com/', parent: null },
      { url: 'app://sluice/', parent: {} },
      null,
    ]) {
      const event = { senderFrame: frame, sender: electron.sender.contents, ports: [] }
      for (const handler of electron.ipcMain.handlers.values()) {
        await expect((async () => handler(event, '/etc/passwd'))()).rejects.toThrow('refused')
      }
    }
  })

  it('hands the page no event of Electron', async () => {
    await start()
    await runPreload()
    const heard: unknown[][] = []
    electron.contextBridge.exposed
      .get(DESKTOP_API_NAME)
      ?.['onOpened']?.((...values: unknown[]) => heard.push(values))
    electron.ipcRenderer.emit(IPC_CHANNELS.opened, { sender: 'Electron' })
    expect(heard).toEqual([[]])
  })

  it('answers nobody but the page', async () => {
    await start()
    await runPreload()
    const api = electron.contextBridge.exposed.get(DESKTOP_API_NAME) ?? {}
    electron.sender.frame = { url: 'https://example.com/', parent: null }
    await expect(api['chooseSource']?.()).rejects.toThrow('refused')
    await expect(api['chooseFolder']?.()).rejects.toThrow('refused')
    await expect(api['chooseExportFile']?.('a.csv')).rejects.toThrow('refused')
    await expect(api['showExportFile']?.({ targetId: 'handle' })).rejects.toThrow('refused')
    const dropped = new File(['a'], 'dropped.csv')
    electron.filesOnDisk.set(dropped, '/data/dropped.csv')
    await expect(api['takeFile']?.(dropped)).rejects.toThrow('refused')
    expect(electron.dialog.shown).toEqual([])
  })
})

describe('the app', () => {
  it('hands over to the first instance, which comes to the front', async () => {
    const window = await start()
    electron.app.emit('second-instance', {}, ['/app/sluice'], '/')
    expect(window.calls).toEqual(['restore', 'show', 'focus'])

    electron.app.hasLock = false
    electron.BrowserWindow.windows = []
    await startDesktop(toOptions() as unknown as Parameters<typeof startDesktop>[0])
    expect(electron.BrowserWindow.windows).toEqual([])
    expect(electron.app.calls).toContain('quit')
  })

  it('closes the bridge once before it quits', async () => {
    await start()
    electron.app.quit()
    electron.app.quit()
    expect(electron.app.calls).not.toContain('gone')
    await waitFor(() => expect(electron.app.calls).toContain('gone'))
    expect(closed).toBe(1)
  })

  it('says why there is no window and what to do, and quits', async () => {
    const { SluiceError } = await import('../../../src/shared/messages/errors.ts')
    const openBridge = async () => {
      throw new SluiceError({ id: 'workspace_not_made', workspace: '/data', reason: 'no space' })
    }
    await startDesktop({ ...toOptions(), openBridge })
    expect(electron.dialog.errors).toEqual([
      'Sluice cannot start: cannot create the workspace /data: no space\n\nChoose a folder that you can write to.',
    ])
    expect(electron.app.calls).toContain('exit 2')
    expect(electron.BrowserWindow.windows).toEqual([])
  })
})
