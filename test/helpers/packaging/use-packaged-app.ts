// node use-packaged-app.ts FOLDER, in its own process: starts the app whose archive was unpacked into FOLDER,
// with the stand-in for electron, and uses it like the window. Prints what it saw as one line of JSON.
import { createRequire, registerHooks } from 'node:module'
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { MessageChannel } from 'node:worker_threads'
import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/message-port'
import type { BridgeClient } from '../../../src/shared/bridge/contract.ts'
import { OPEN_BRIDGE_MESSAGE } from '../../../src/shared/bridge/desktop-api.ts'
import { followRun } from '../../../src/shared/bridge/follow.ts'

/** What was seen of an app. */
export interface SeenApp {
  page: { status: number; hasPolicy: boolean; missing: string[]; assets: number }
  platform: string
  succeeded: number
  columns: string[]
}

const [folder = ''] = process.argv.slice(2)
const standIn = new URL('../../main/desktop/electron-stand-in.ts', import.meta.url).href
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron' ? { url: standIn, shortCircuit: true } : next(specifier, context),
})
const electron: typeof import('../../main/desktop/electron-stand-in.ts') = await import(standIn)
const window = new EventTarget()
Object.assign(globalThis, { window })

async function openBridge(): Promise<{ bridge: BridgeClient; close(): void }> {
  await import(pathToFileURL(join(folder, 'out/main/main.js')).href)
  createRequire(import.meta.url)(join(folder, 'out/preload/preload.cjs'))
  while (electron.BrowserWindow.windows.length === 0) await new Promise((settle) => setImmediate(settle))
  const { port1, port2 } = new MessageChannel()
  const message = { data: OPEN_BRIDGE_MESSAGE, ports: [port2], source: window }
  window.dispatchEvent(Object.assign(new Event('message'), message))
  port1.start()
  return { bridge: createORPCClient(new RPCLink({ port: port1 })), close: () => port1.close() }
}

/** Loads the page and everything that it references, like Chromium. */
async function loadPage(): Promise<SeenApp['page']> {
  const load = async (path: string) =>
    (await electron.protocol.handlers.get('app')?.(new Request(`app://sluice/${path}`))) ?? new Response()
  const page = await load('')
  const text = await page.text()
  const missing: string[] = []
  const assets = [...text.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, path = '']) => path)
  for (const path of assets) if (!(await load(path)).ok) missing.push(path)
  const hasPolicy = page.headers.get('content-security-policy')?.includes("default-src 'none'") ?? false
  return { status: page.status, hasPolicy, missing, assets: assets.length }
}

/** Sends the sample to the sandbox: starts threads for the sandbox, run and queries, all from the archive. */
async function sendSample(bridge: BridgeClient): Promise<Pick<SeenApp, 'succeeded' | 'columns'>> {
  const { sample } = await bridge.sandbox.start()
  const request = {
    destination: { kind: 'sandbox' },
    source: { sourceId: sample.sourceId },
    operation: { kind: 'task' },
  } as const
  const { runId } = await bridge.runs.start({ request })
  await bridge.runs.awaitReady({ runId })
  await bridge.runs.begin({ runId })
  for await (const _snapshot of followRun(bridge, runId));
  const { rows } = await bridge.runs.summarize({ runId })
  return { succeeded: rows.succeeded, columns: await bridge.results.columns({ runId }) }
}

const { bridge, close } = await openBridge()
const { platform } = await bridge.app.describe()
const page = await loadPage()
const seen: SeenApp = { page, platform, ...(await sendSample(bridge)) }
process.stdout.write(`${JSON.stringify(seen)}\n`)
close()
electron.app.quit()
