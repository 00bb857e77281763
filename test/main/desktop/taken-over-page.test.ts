import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/message-port'
import { afterEach, beforeEach, expect, inject, it, vi } from 'vitest'
import type { BridgeClient } from '../../../src/shared/bridge/contract.ts'
import { DESKTOP_API_NAME, OPEN_BRIDGE_MESSAGE } from '../../../src/shared/bridge/desktop-api.ts'
import { followRun } from '../../../src/shared/bridge/follow.ts'
import { exportTargetSchema } from '../../../src/shared/bridge/results.ts'
import { chosenSourceSchema } from '../../../src/shared/bridge/source.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { drawCalls } from '../../helpers/taken-over-page/draw-calls.ts'
import { makeCalls } from '../../helpers/taken-over-page/make-calls.ts'
import { createWorld, VARIABLES, type World } from '../../helpers/taken-over-page/world.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { waitFor } from '../../helpers/wait-for.ts'

const SEED = 20_261_122
const CALLS = inject('isLong') ? 2_000 : 60

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

/** Starts the real desktop app and opens its bridge as the page does. */
async function openDesktop(world: World) {
  vi.stubEnv('SLUICE_WORKSPACE', world.workspace)
  const page = new EventTarget()
  vi.stubGlobal('window', page)
  await import('../../../src/main/desktop/main.ts')
  await import('../../../src/main/desktop/preload.ts')
  await waitFor(() => expect(electron.BrowserWindow.windows).toHaveLength(1))
  electron.sender.contents = electron.BrowserWindow.windows[0]?.webContents
  const { port1, port2 } = new MessageChannel()
  const said: string[] = []
  port1.on('message', (message) => said.push(String(message)))
  page.dispatchEvent(
    Object.assign(new Event('message'), { data: OPEN_BRIDGE_MESSAGE, ports: [port2], source: page }),
  )
  const client: BridgeClient = createORPCClient(new RPCLink({ port: port1 }))
  port1.start()
  const api = electron.contextBridge.exposed.get(DESKTOP_API_NAME)
  const close = async () => {
    port1.close()
    electron.app.quit()
    await waitFor(() => expect(electron.app.calls).toContain('gone'), { timeout: 30_000 })
  }
  return { client, said, api, close }
}

it('reaches no secret, file, listener or production that no person named, whatever the page calls', {
  timeout: 240_000,
}, async () => {
  onlyInLongForm()
  const world = await createWorld()
  const { client, said, api, close } = await openDesktop(world)
  const results = join(createTemporaryFolder(), 'results.csv')
  electron.dialog.answer = { canceled: false, filePaths: [world.source], filePath: results }
  const { sourceId } = chosenSourceSchema.parse(await api?.['chooseSource']?.())
  const { targetId } = exportTargetSchema.parse(await api?.['chooseExportFile']?.('results.csv'))
  electron.dialog.answer = { canceled: true, filePaths: [], filePath: '' }

  // Without handles of its own, the page tries those from the preload script.
  for (const made of [
    ...world.unnamed,
    ...world.unnamed.map((path) => ({ path, name: path })),
    null,
    [],
    7,
  ]) {
    await expect(api?.['takeFile']?.(made)).rejects.toThrow()
  }
  const held = { sourceId, targetId }
  const { answered, refused, runIds } = await makeCalls(client, drawCalls(CALLS, SEED, world, held))
  expect(answered + refused).toBe(CALLS)
  expect(world.findHarm(said)).toEqual([])
  expect(electron.dialog.messages.length).toBeGreaterThan(0)

  // The page does work: it starts runs, and a stored connection's key goes to its own address.
  expect(runIds.length).toBeGreaterThan(5)
  // The page may have marked a connection of its own as production at this very address.
  const { pressed } = electron.dialog
  electron.dialog.pressed = 1
  await sendOne(client, sourceId, 'staging')
  electron.dialog.pressed = pressed
  expect(world.staging.requests.join('\n')).toContain(VARIABLES.STAGING_KEY)
  expect(world.findHarm(said)).toEqual([])
  // Rows go to production only with a person's consent.
  await expect(sendOne(client, sourceId, 'live')).rejects.toThrow('not confirmed')
  expect(world.production.requests).toEqual([])
  electron.dialog.pressed = 1
  await sendOne(client, sourceId, 'live')
  expect(world.production.requests).toHaveLength(2)
  expect(existsSync(results) || refused > 0).toBe(true)
  await close()
})

async function sendOne(client: BridgeClient, sourceId: string, name: string): Promise<void> {
  const destination = { kind: 'stored', name } as const
  const request = { destination, source: { sourceId }, operation: { kind: 'task' } } as const
  const { runId } = await client.runs.start({ request })
  await client.runs.awaitReady({ runId })
  await client.runs.begin({ runId })
  for await (const _snapshot of followRun(client, runId));
}
