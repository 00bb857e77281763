import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MessageChannel, type Worker } from 'node:worker_threads'
import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/message-port'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { addConnection, changeConnections } from '../../../src/main/engine/workspace/connections.ts'
import type { BridgeClient } from '../../../src/shared/bridge/contract.ts'
import { DESKTOP_API_NAME, OPEN_BRIDGE_MESSAGE } from '../../../src/shared/bridge/desktop-api.ts'
import { followRuns } from '../../../src/shared/bridge/follow.ts'
import { chosenSourceSchema } from '../../../src/shared/bridge/source.ts'
import { sayError } from '../../../src/shared/messages/error-messages.ts'
import { storedConnectionSchema } from '../../../src/shared/plan/stored-connection.ts'
import { startThreadsAnew } from '../../helpers/build/kept-worker.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { waitFor } from '../../helpers/wait-for.ts'
import { writeRows } from '../bridge/plans.ts'

let electron: typeof import('./electron-stand-in.ts')

// Electron's modules exist once per process, and so does the stand-in: each test gets a fresh one.
beforeEach(async () => {
  vi.resetModules()
  electron = await import('./electron-stand-in.ts')
  vi.doMock('electron', () => electron)
})

afterEach(() => {
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
})

it('serves the page through the preload script and a port, with the engine of the chosen workspace', async () => {
  const workspace = createTemporaryFolder()
  vi.stubEnv('SLUICE_WORKSPACE', workspace)
  const page = new EventTarget()
  vi.stubGlobal('window', page)
  electron.app.home = createTemporaryFolder()
  mkdirSync(electron.app.getPath('userData'), { recursive: true })
  await import('../../../src/main/desktop/main.ts')
  await import('../../../src/main/desktop/preload.ts')
  await waitFor(() => expect(electron.BrowserWindow.windows).toHaveLength(1))
  expect(electron.BrowserWindow.windows[0]?.url).toBe('app://sluice/')

  const { port1, port2 } = new MessageChannel()
  page.dispatchEvent(
    Object.assign(new Event('message'), { data: OPEN_BRIDGE_MESSAGE, ports: [port2], source: page }),
  )
  const bridge: BridgeClient = createORPCClient(new RPCLink({ port: port1 }))
  port1.start()
  expect(await bridge.app.describe()).toMatchObject({ platform: 'desktop', workspace })
  expect((await bridge.runs.list()).entries).toEqual([])

  // The page may read only files that the system's dialog named, and nothing by path.
  electron.sender.contents = electron.BrowserWindow.windows[0]?.webContents
  const path = writeRows(1)
  electron.dialog.answer = { canceled: false, filePaths: [path], filePath: '' }
  const api = electron.contextBridge.exposed.get(DESKTOP_API_NAME)
  const chosen = await api?.['chooseSource']?.()
  const { sourceId } = chosenSourceSchema.parse(chosen)
  expect((await bridge.source.preview({ source: { sourceId } })).columns).toContain('text_data')
  await expect(bridge.source.preview({ source: { sourceId: path } })).rejects.toThrow('unknown')
  electron.dialog.answer = { canceled: false, filePaths: [path, writeRows(2, 'more.csv')], filePath: '' }
  const several = chosenSourceSchema.parse(await api?.['chooseSource']?.())
  const united = await bridge.source.preview({ source: { sourceId: several.sourceId } })
  expect(united.files?.map(({ name }) => name)).toEqual(['more.csv', 'posts.csv'])

  // The production question is a system dialog with the default no.
  const stored = storedConnectionSchema.parse({
    name: 'live',
    baseUrl: 'http://127.0.0.1:9',
    keys: [{ label: 'only', env: 'NOWHERE_KEY' }],
    activeKey: 'only',
    isProduction: true,
  })
  changeConnections(workspace, (known) => addConnection(known, stored))
  const destination = { kind: 'service', baseUrl: 'http://127.0.0.1:9' } as const
  const request = { destination, source: { sourceId }, operation: { kind: 'task' } } as const
  const { runId } = await bridge.runs.start({ request, apiKey: 'typed' })
  await bridge.runs.awaitReady({ runId })
  await expect(bridge.runs.begin({ runId })).rejects.toThrow('not confirmed')
  expect(electron.dialog.messages).toMatchObject([
    {
      message: 'Send to production connection live?',
      buttons: ['Cancel', 'Send to production'],
      defaultId: 0,
    },
  ])

  // A typed key is encrypted into the profile; its authorities are chosen in a dialog that names the
  // connection.
  expect(await bridge.connections.readStorage()).toEqual({ place: 'profile', reason: null })
  const settings = { baseUrl: 'http://127.0.0.1:9', taskBaseUrl: null, timeoutMs: null, isProduction: false }
  await bridge.connections.add({ name: 'mine', settings, label: 'default', apiKey: 'typed-key-4711' })
  expect((await bridge.connections.list())[1]?.keys).toEqual([
    { label: 'default', place: 'profile', state: 'ready' },
  ])
  // The proxy is the one in the system's settings for the address.
  const { proxies } = electron.session.defaultSession
  proxies.set('https://api.example.com', 'PROXY proxy.example.com:3128; DIRECT')
  proxies.set('https://socks.example.com', 'SOCKS5 proxy.example.com:1080')
  for (const name of ['api', 'socks']) {
    const service = { ...settings, baseUrl: `https://${name}.example.com` }
    await bridge.connections.add({ name, settings: service, label: 'default' })
  }
  const route = (name: string) => bridge.connections.findSystemRoute({ name })
  expect(await route('api')).toEqual({ kind: 'proxy', url: 'http://proxy.example.com:3128' })
  expect(await route('mine')).toEqual({ kind: 'direct' })
  await expect(route('socks')).rejects.toThrow('SOCKS5 proxy.example.com:1080 is neither')
  electron.dialog.answer = { canceled: true, filePaths: [], filePath: '' }
  await bridge.connections.chooseFile({ name: 'mine', file: 'authorities' })
  expect(electron.dialog.shown.at(-1)?.options).toMatchObject({ title: 'Certificate authorities of mine' })
  port1.close()

  electron.app.quit()
  await waitFor(() => expect(electron.app.calls).toContain('gone'))
})

it('records a crashed thread in its log, and shows the page what is left', async () => {
  startThreadsAnew()
  vi.stubEnv('SLUICE_WORKSPACE', createTemporaryFolder())
  electron.app.home = createTemporaryFolder()
  mkdirSync(join(electron.app.home, 'userData'))
  const page = new EventTarget()
  vi.stubGlobal('window', page)
  const threads = new Map<string | null, Worker>()
  const keep = (thread: Worker) => void threads.set(thread.threadName, thread)
  process.on('worker', keep)
  onTestFinished(() => void process.off('worker', keep))
  await import('../../../src/main/desktop/main.ts')
  await import('../../../src/main/desktop/preload.ts')
  await waitFor(() => expect(electron.BrowserWindow.windows).toHaveLength(1))
  const { port1, port2 } = new MessageChannel()
  page.dispatchEvent(
    Object.assign(new Event('message'), { data: OPEN_BRIDGE_MESSAGE, ports: [port2], source: page }),
  )
  const bridge: BridgeClient = createORPCClient(new RPCLink({ port: port1 }))
  port1.start()
  await bridge.runs.list()
  await threads.get('queries')?.terminate()
  const seen = async () => {
    for await (const { crashes } of followRuns(bridge, new AbortController().signal)) {
      if (crashes.length > 0) return crashes.map(({ said }) => sayError(said, 'window'))
    }
    return []
  }
  expect(await seen()).toMatchObject([
    {
      message: 'a query was interrupted: its thread ended with code 1',
      hint: 'Try again. Nothing is lost; runs in progress continue.',
    },
  ])
  expect(readFileSync(join(electron.app.home, 'logs', 'sluice.log'), 'utf8')).toContain('"event":"crashed"')
  expect((await bridge.runs.list()).all).toBe(0)
  port1.close()
  electron.app.quit()
  await waitFor(() => expect(electron.app.calls).toContain('gone'))
})
