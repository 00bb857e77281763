import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { expect, inject, onTestFinished } from 'vitest'
import { openWebShell, type WebShell } from '../../../src/main/web/web-shell.ts'
import { CHROMIUM_ARGUMENTS, findChromium } from './find-chromium.ts'
import { inspectScreen, takePictures } from './inspect-screen.ts'
import { WALK_WAIT_MS } from './walk-wait.ts'

/** The screens in a browser, with their own engine and workspace. */
export interface OpenedApp {
  page: Page
  workspace: string
  /**
   * Checks the current screen; `npm run screenshots` takes its pictures here. Violations of WCAG 2.2 AA fail
   * the test at its end. `npm run screenshots` and the long form check both light and dark, `npm test` only
   * every second screen.
   */
  inspect(screen: string, shownOn?: Page): Promise<void>
  /**
   * Brings the screen into a state that only `npm run screenshots` checks, checks it and takes its pictures.
   */
  inspectPicture(screen: string, prepare: () => Promise<void>): Promise<void>
  /** Opens the page of the next production question, as the shell makes the system do. */
  openConsent(): Promise<Page>
  close(): Promise<void>
}

/** The size of the window. */
export interface AppLook {
  width?: number
  height?: number
}

/** Addresses of questions; each is used once, in order. */
class ConsentQueue {
  readonly #urls: string[] = []
  #wanted: ((url: string) => void) | null = null

  put(url: string): void {
    if (this.#wanted === null) this.#urls.push(url)
    else this.#wanted(url)
    this.#wanted = null
  }

  take(): Promise<string> {
    const url = this.#urls.shift()
    if (url !== undefined) return Promise.resolve(url)
    return new Promise((resolve) => {
      this.#wanted = resolve
    })
  }
}

let browser: Promise<Browser> | null = null

/** The Chromium of this process, shared by all test files; it ends with the process. */
export function openBrowser(): Promise<Browser> {
  browser ??= launchChromium()
  return browser
}

function launchChromium(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === null) throw new Error('no Chromium on the PATH; install one or set SLUICE_CHROMIUM')
  return chromium.launch({ executablePath, args: CHROMIUM_ARGUMENTS, timeout: WALK_WAIT_MS })
}

/** Prints what a failed walk saw, since the next run may not fail. */
async function tellShown(page: Page, walk: string): Promise<void> {
  const shown = await page.locator('body').innerText()
  console.error(`When “${walk}” failed, ${new URL(page.url()).hash} showed:\n${shown}`)
}

/**
 * Opens the browser shell with a new workspace and shows its first screen, for the current test, in the
 * smallest window. The test fails if the console has complaints, or a checked screen has violations.
 */
export async function openApp(look: AppLook = {}): Promise<OpenedApp> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-e2e-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const workspace = join(folder, 'workspace')
  const consents = new ConsentQueue()
  const shell: WebShell = await openWebShell({
    lastingKeys: { absence: 'tests keep keys for the session' },
    workspace,
    rendererFolder: inject('rendererFolder'),
    openCommand: 'sluice open',
    port: 0,
    showConsent: async ({ url }) => consents.put(url),
  })
  const context = await (await openBrowser()).newContext({
    viewport: { width: look.width ?? 1024, height: look.height ?? 700 },
    colorScheme: 'light',
    reducedMotion: 'reduce',
    acceptDownloads: true,
  })
  context.setDefaultTimeout(WALK_WAIT_MS)
  const page = await context.newPage()
  // Errors and warnings of the console, uncaught exceptions, and refused requests.
  const complaints: string[] = []
  const violations: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`))
  page.on('dialog', (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${new URL(response.url()).pathname}`)
  })
  await page.goto(shell.createEntryUrl())
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  let isOpen = true
  const close = async () => {
    if (!isOpen) return
    isOpen = false
    await context.close()
    await shell.close()
  }
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') await tellShown(page, task.name)
    await close()
    expect(complaints).toEqual([])
    expect(violations).toEqual([])
  })
  const pictures = inject('pictureFolder')
  const inBoth = inject('isLong') || pictures !== null
  let inspected = 0
  const inspect = async (screen: string, shownOn = page) => {
    inspected += 1
    if (!inject('walksAll') && inspected % 2 === 0) return
    violations.push(...(await inspectScreen(shownOn, screen, inBoth)))
    if (pictures !== null) await takePictures(shownOn, screen, pictures)
  }
  return {
    page,
    workspace,
    inspect,
    async inspectPicture(screen, prepare) {
      if (pictures === null) return
      await prepare()
      await inspect(screen)
    },
    async openConsent() {
      const consent = await context.newPage()
      await consent.goto(await consents.take())
      return consent
    },
    close,
  }
}
