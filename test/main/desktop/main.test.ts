import { MessageChannel } from 'node:worker_threads'
import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/message-port'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { BridgeClient } from '../../../src/shared/bridge/contract.ts'
import { OPEN_BRIDGE_MESSAGE } from '../../../src/shared/desktop-api.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'

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
  expect(await bridge.runs.list()).toEqual([])
  port1.close()

  electron.app.quit()
  await vi.waitFor(() => expect(electron.app.calls).toContain('gone'))
})
