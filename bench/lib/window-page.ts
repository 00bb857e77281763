import { readFileSync } from 'node:fs'
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'
import { CHROMIUM_ARGUMENTS, findChromium } from '../../test/helpers/e2e/find-chromium.ts'
import { type Frames, measureFrames } from './frames.ts'
import type { WindowServer } from './window-server.ts'

/**
 * The costs of a step: the time until each of its marks was drawn, and the processor time of page and server.
 */
export interface Taken {
  /** Milliseconds by mark. */
  ms: Record<string, number>
  pageCpuMs: number
  serverCpuMs: number
}

/** How long a step may take, milliseconds. */
const STEP_MAX_MS = 120_000

/** Chromium, found as in the tests of the screens. Throws if there is none. */
export function launchBrowser(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === null) throw new Error('no Chromium on the PATH; install one or set SLUICE_CHROMIUM')
  return chromium.launch({ executablePath, args: CHROMIUM_ARGUMENTS })
}

/** A window of 1,440 × 900 on a browser shell, with its measurements. */
export class WindowPage {
  readonly page: Page
  readonly #browser: Browser
  readonly #server: WindowServer
  readonly #devtools: CDPSession

  private constructor(browser: Browser, page: Page, devtools: CDPSession, server: WindowServer) {
    this.#browser = browser
    this.page = page
    this.#devtools = devtools
    this.#server = server
  }

  /** Opens the window and waits for its first screen. */
  static async open(browser: Browser, server: WindowServer): Promise<WindowPage> {
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      reducedMotion: 'reduce',
    })
    const page = await context.newPage()
    const devtools = await context.newCDPSession(page)
    await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
    await page.goto(server.url)
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
    return new WindowPage(browser, page, devtools, server)
  }

  /**
   * Performs an action and waits until each of the marks is drawn. `act` and marks are JavaScript for the
   * page; a mark is drawn once its expression is true.
   */
  async time(act: string, marks: Record<string, string>): Promise<Taken> {
    const [pageBefore, before] = [await this.#readPageCpuMs(), await this.#server.readCosts()]
    const tests = Object.entries(marks).map(([name, test]) => `${JSON.stringify(name)}: () => ${test}`)
    const ms = await this.page.evaluate<Record<string, number>>(`new Promise((resolve, reject) => {
      const tests = { ${tests.join(', ')} }
      const found = {}
      const open = new Set(Object.keys(tests))
      const begun = performance.now()
      const tooLate = setTimeout(() => reject(new Error('never drawn: ' + [...open].join(', '))), ${STEP_MAX_MS})
      const look = () => {
        for (const name of open) {
          if (!tests[name]()) continue
          open.delete(name)
          requestAnimationFrame(() => {
            found[name] = performance.now() - begun
            if (Object.keys(found).length < ${tests.length}) return
            clearTimeout(tooLate)
            observer.disconnect()
            resolve(found)
          })
        }
      }
      const observer = new MutationObserver(look)
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
      ${act}
      look()
    })`)
    const after = await this.#server.readCosts()
    return {
      ms,
      pageCpuMs: (await this.#readPageCpuMs()) - pageBefore,
      serverCpuMs: after.cpuMs - before.cpuMs,
    }
  }

  /** Waits until the page is idle, as while a person reads it. */
  async rest(): Promise<void> {
    await this.page.waitForLoadState('networkidle')
    await this.page.evaluate('new Promise((resolve) => requestIdleCallback(resolve))')
  }

  /** The frames drawn while `act` runs. */
  measureFrames(act: () => Promise<void>): Promise<Frames> {
    return measureFrames(this.#browser, this.page, act)
  }

  /** Turns the wheel over the middle of the window, 60 times per second. */
  async turnWheel(seconds: number, stepPx = 120): Promise<void> {
    await this.page.mouse.move(900, 500)
    const begunMs = performance.now()
    for (let turn = 0; turn < seconds * 60; turn += 1) {
      await this.page.mouse.wheel(0, stepPx)
      const waitMs = begunMs + ((turn + 1) * 1000) / 60 - performance.now()
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }

  /** Counts the server's messages to the page while `act` runs. */
  async countMessages(act: () => Promise<void>): Promise<number> {
    let messages = 0
    const count = () => {
      messages += 1
    }
    await this.#devtools.send('Network.enable')
    this.#devtools.on('Network.webSocketFrameReceived', count)
    await act()
    this.#devtools.off('Network.webSocketFrameReceived', count)
    await this.#devtools.send('Network.disable')
    return messages
  }

  /**
   * Memory after a garbage collection: the page's JavaScript heap; on Linux, its process's private memory.
   */
  async readMemory(): Promise<{ heapBytes: number; processBytes: number | null }> {
    await this.#devtools.send('HeapProfiler.collectGarbage')
    const { usedSize } = await this.#devtools.send('Runtime.getHeapUsage')
    return { heapBytes: usedSize, processBytes: await this.#readProcessBytes() }
  }

  async close(): Promise<void> {
    await this.page.context().close()
  }

  async #readPageCpuMs(): Promise<number> {
    const { metrics } = await this.#devtools.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1000
  }

  /** Memory of the browser's largest page; it has no other window. */
  async #readProcessBytes(): Promise<number | null> {
    if (process.platform !== 'linux') return null
    const devtools = await this.#browser.newBrowserCDPSession()
    const { processInfo } = await devtools.send('SystemInfo.getProcessInfo')
    await devtools.detach()
    const sizes = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => readPrivateBytes(id))
    return Math.max(...sizes)
  }
}

/** Memory that a process shares with no other. */
function readPrivateBytes(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const kib = [...text.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB$/gm)].map(([, size]) => Number(size))
  return kib.reduce((sum, size) => sum + size, 0) * 1024
}
