import { MessageChannel } from 'node:worker_threads'
import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/message-port'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { addConnection, changeConnections } from '../../../src/main/engine/workspace/connections.ts'
import type { BridgeClient } from '../../../src/shared/bridge/contract.ts'
import { DESKTOP_API_NAME, OPEN_BRIDGE_MESSAGE } from '../../../src/shared/bridge/desktop-api.ts'
import { chosenSourceSchema } from '../../../src/shared/bridge/source.ts'
import { storedConnectionSchema } from '../../../src/shared/plan/stored-connection.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'

import { writeRows } from '../bridge/plans.ts'

let electron: typeof import('./electron-stand-in.ts')

// Electron's modules are one per process, and so is the stand-in: a fresh one, whichever test came before.
beforeEach(async () => {
  vi.resetModules()
  electron = await import('./electron-stand-in.ts')
  vi.doMock('electron', () => electron)
})

afterEach(() => {
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
})

it('serves the page, through the preload script and a port, with the engine of the chosen workspace', async () => {
  const workspace = createTemporaryFolder()
  vi.stubEnv('SLUICE_WORKSPACE', workspace)
  const page = new EventTarget()
  vi.stubGlobal('window', page)
  await import('../../../src/main/desktop/main.ts')
  await import('../../../src/main/desktop/preload.ts')
  await vi.waitFor(() => expect(electron.BrowserWindow.windows).toHaveLength(1))
  expect(electron.BrowserWindow.windows[0]?.url).toBe('app://sluice/')

  const { port1, port2 } = new MessageChannel()
  page.dispatchEvent(
    Object.assign(new Event('message'), { data: OPEN_BRIDGE_MESSAGE, ports: [port2], source: page }),
  )
  const bridge: BridgeClient = createORPCClient(new RPCLink({ port: port1 }))
  port1.start()
  expect(await bridge.app.describe()).toMatchObject({ platform: 'desktop', workspace })
  expect((await bridge.runs.list()).entries).toEqual([])

  // What the page may have read is what the system's dialog named, and nothing by its path.
  electron.sender.contents = electron.BrowserWindow.windows[0]?.webContents
  const path = writeRows(1)
  electron.dialog.answer = { canceled: false, filePaths: [path], filePath: '' }
  const api = electron.contextBridge.exposed.get(DESKTOP_API_NAME)
  const chosen = await api?.['chooseSource']?.()
  const { sourceId } = chosenSourceSchema.parse(chosen)
  expect((await bridge.source.preview({ source: { sourceId } })).columns).toContain('text_data')
  await expect(bridge.source.preview({ source: { sourceId: path } })).rejects.toThrow('unknown')

  // The question before production is one of the system's dialogs, whose default is no.
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
  port1.close()

  electron.app.quit()
  await vi.waitFor(() => expect(electron.app.calls).toContain('gone'))
})
