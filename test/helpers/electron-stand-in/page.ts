import { readFileSync } from 'node:fs'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { Page, Route } from 'playwright-core'
import { type createWebContents, ipcMain, protocol } from '../../main/desktop/electron-stand-in.ts'

/**
 * Replaces the scheme app:, which a plain Chromium does not know; never resolved, since all of it is routed.
 */
const ORIGIN = 'https://app.localhost'

const toWebUrl = (url: string) => url.replace(/^app:\/\/sluice/, ORIGIN)
const toAppUrl = (url: string) => url.replace(ORIGIN, 'app://sluice')

/** What a window provides for its page. */
interface PageParts {
  contents: ReturnType<typeof createWebContents>
  preloadFile: string
}

/**
 * Loads the app's page in a page of Chromium, with its preload script and the connection to the main process.
 */
export async function openPage(page: Page, url: string, { contents, preloadFile }: PageParts): Promise<void> {
  const ports = new Map<number, MessagePort>()
  const toEvent = (handed: MessagePort[] = []) => ({
    senderFrame: { url: toAppUrl(page.url()), parent: null },
    sender: contents,
    ports: handed,
  })
  await page.route(`${ORIGIN}/**`, answerByProtocol)
  await page.exposeFunction('standInInvoke', async (channel: string, values: unknown[]) => {
    const given = await Promise.all(values.map((value) => findPath(page, value)))
    if (given.includes('')) return null
    return ipcMain.handlers.get(channel)?.(toEvent(), ...given)
  })
  await page.exposeFunction('standInOpenPort', (channel: string, id: number) => {
    // A reloaded page starts again with its first port.
    if (id === 0) closePorts()
    const { port1, port2 } = new MessageChannel()
    ports.set(id, port2)
    port2.on('message', (text) => void run(`standIn.deliver(${id}, ${JSON.stringify(text)})`))
    ipcMain.emit(channel, toEvent([port1]))
  })
  await page.exposeFunction('standInPost', (id: number, text: string) => ports.get(id)?.postMessage(text))
  await page.addInitScript({ content: createPreloadHost(readFileSync(preloadFile, 'utf8')) })
  // A closed page needs no messages.
  const run = (script: string) => page.evaluate(script).catch(() => {})
  const closePorts = () => {
    for (const port of ports.values()) port.close()
    ports.clear()
  }
  page.on('close', closePorts)
  contents.send = (channel) => void run(`standIn.emit(${JSON.stringify(channel)})`)
  contents.reload = () => void page.reload()
  await page.goto(toWebUrl(url))
}

/** Answers a request of the page by the handler that the app registered for its scheme. */
async function answerByProtocol(route: Route): Promise<void> {
  const request = route.request()
  const handle = protocol.handlers.get('app')
  const answer = await handle?.(
    new Request(toAppUrl(request.url()), { method: request.method(), headers: request.headers() }),
  )
  if (answer === undefined) return route.abort()
  return route.fulfill({
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    body: Buffer.from(await answer.arrayBuffer()),
  })
}

const FILE = /^stand-in-file:(\d+)$/

/**
 * Only the browser knows the path of a page's file: the page passes the file's number, and gets an empty path
 * for a file that it created.
 */
async function findPath(page: Page, value: unknown): Promise<unknown> {
  const [, id] = (typeof value === 'string' && FILE.exec(value)) || []
  if (id === undefined) return value
  const session = await page.context().newCDPSession(page)
  const { result } = await session.send('Runtime.evaluate', { expression: `standIn.files[${id}]` })
  const { path } = await session.send('DOM.getFileInfo', { objectId: result.objectId ?? '' })
  await session.detach()
  return path
}

/** Runs the preload script in the page itself, with replacements for Electron's modules. */
const createPreloadHost = (preload: string) => `if (location.origin === '${ORIGIN}') {
  const ports = []
  const listeners = []
  globalThis.standIn = {
    files: [],
    deliver: (id, text) => ports[id].postMessage(text),
    emit: (emitted) => {
      for (const { channel, listener } of listeners) if (channel === emitted) listener({})
    },
  }
  const electron = {
    contextBridge: { exposeInMainWorld: (name, value) => Object.assign(globalThis, { [name]: value }) },
    ipcRenderer: {
      on: (channel, listener) => listeners.push({ channel, listener }),
      invoke: (channel, ...values) => standInInvoke(channel, values),
      postMessage: (channel, message, [port]) => {
        const id = ports.push(port) - 1
        standInOpenPort(channel, id)
        port.onmessage = ({ data }) => standInPost(id, data)
      },
    },
    webUtils: { getPathForFile: (file) => 'stand-in-file:' + (standIn.files.push(file) - 1) },
  }
  ;((require) => {
${preload}
  })(() => electron)
}`
