import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { openWebShell, type WebShell } from '../../../src/main/web/web-shell.ts'
import { CHROMIUM_ARGUMENTS, findChromium } from './find-chromium.ts'

/** The screens in a browser, over an engine and a workspace of their own. */
export interface OpenedApp {
  page: Page
  workspace: string
  /** What the console said that it should not have: errors, warnings, uncaught exceptions, refused requests. */
  complaints: string[]
  /** Opens the page of the next question before production, as the shell has the system do. */
  openConsent(): Promise<Page>
  close(): Promise<void>
}

/** How the window looks. */
export interface AppLook {
  colorScheme?: 'light' | 'dark'
  width?: number
  height?: number
}

/** Addresses of questions, each taken once, in order. */
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

/** Starts the Chromium that is on this machine, or says that there is none. */
export function launchChromium(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === null) throw new Error('no Chromium on the PATH; install one or set SLUICE_CHROMIUM')
  return chromium.launch({ executablePath, args: CHROMIUM_ARGUMENTS })
}

/** Opens the browser shell over a new workspace in `folder` and shows its first screen. */
export async function openApp(options: {
  browser: Browser
  rendererFolder: string
  folder: string
  look?: AppLook
}): Promise<OpenedApp> {
  const workspace = join(options.folder, 'workspace')
  const { browser, rendererFolder, look = {} } = options
  const consents = new ConsentQueue()
  const shell: WebShell = await openWebShell({
    workspace,
    rendererFolder,
    port: 0,
    showConsent: async ({ url }) => consents.put(url),
  })
  const context = await browser.newContext({
    viewport: { width: look.width ?? 1280, height: look.height ?? 800 },
    colorScheme: look.colorScheme ?? 'light',
    reducedMotion: 'reduce',
    acceptDownloads: true,
  })
  const page = await context.newPage()
  const complaints: string[] = []
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
  return {
    page,
    workspace,
    complaints,
    async openConsent() {
      const consent = await context.newPage()
      await consent.goto(await consents.take())
      return consent
    },
    async close() {
      await context.close()
      await shell.close()
    },
  }
}

const AXE_FILE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Rules that look at colours; all others find the same in every colour scheme. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

/**
 * Every violation of WCAG 2.2 AA that axe-core finds on the page as it stands, a line each; `colours` looks at them
 * alone, where the same page was looked at whole in another colour scheme.
 */
export async function findViolations(page: Page, what: 'all' | 'colours' = 'all'): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(readFileSync(AXE_FILE, 'utf8'))
  return page.evaluate(
    async (runOnly) => {
      const { axe } = globalThis as unknown as {
        axe: {
          run(options: unknown): Promise<{
            violations: {
              id: string
              help: string
              nodes: { target: unknown[]; failureSummary?: string }[]
            }[]
          }>
        }
      }
      const { violations } = await axe.run({ runOnly, resultTypes: ['violations'] })
      return violations.flatMap((violation) =>
        violation.nodes.map(
          (node) =>
            `${violation.id}: ${violation.help} at ${node.target.join(' ')}\n${node.failureSummary ?? ''}`,
        ),
      )
    },
    what === 'all' ? TAGS : COLOUR_RULES,
  )
}
