import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { build, type InlineConfig } from 'vite'
import { CHROMIUM_ARGUMENTS, findChromium } from '../../test/helpers/e2e/find-chromium.ts'
import { type CallCounts, countNodeCalls, countPageCalls, type ScriptCoverage } from './call-counts.ts'
import { readCoverage, startCommand } from './sluice-process.ts'

// Close to the hundred rows of one fetch, so that fetches outnumber what the page does every second.
const LEAP_PX = 3_000

/** The calls in Node and in the page until a number of rows had been shown. */
export interface ShownRows {
  rows: number
  node: CallCounts
  page: CallCounts
}

/**
 * Builds a checkout's page with source maps where its shell looks for it; `restore` puts the old files back.
 */
export async function buildMappedPage(checkout: string): Promise<{ restore(): void }> {
  const folder = join(checkout, 'out/renderer')
  const kept = `${folder}-kept-${process.pid}`
  if (existsSync(folder)) renameSync(folder, kept)
  const restore = () => {
    rmSync(folder, { recursive: true, force: true })
    if (existsSync(kept)) renameSync(kept, folder)
  }
  try {
    const configFile = pathToFileURL(join(checkout, 'electron.vite.config.ts')).href
    const { renderer } = ((await import(configFile)) as { default: { renderer: InlineConfig } }).default
    await build({
      ...renderer,
      configFile: false,
      base: './',
      logLevel: 'error',
      build: { ...renderer.build, outDir: folder, emptyOutDir: true, minify: false, sourcemap: true },
    })
  } catch (error) {
    restore()
    throw error
  }
  return { restore }
}

/** Starts the installed Chromium. Throws if there is none. */
export function launchBrowser(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === null) throw new Error('no Chromium on the PATH; install one or set SLUICE_CHROMIUM')
  return chromium.launch({ executablePath, args: CHROMIUM_ARGUMENTS })
}

/**
 * Opens the results of a run in the browser shell, scrolls in the given number of leaps, and counts the
 * calls.
 */
export async function showRows(options: {
  browser: Browser
  checkout: string
  workspace: string
  runId: string
  leaps: number
  coverageFolder: string
}): Promise<ShownRows> {
  const { checkout, workspace, coverageFolder } = options
  const shell = await startCommand(
    ['open', '--no-browser', '--port', '0', '--workspace', workspace],
    { checkout, coverageFolder },
    (printed) => printed.includes('\n'),
  )
  try {
    const shown = await watchPage(options, shell.printed.trim())
    // Node writes its coverage on exit.
    await shell.stop()
    return { ...shown, node: countNodeCalls(readCoverage(coverageFolder)) }
  } finally {
    await shell.stop()
  }
}

async function watchPage(
  { browser, checkout, runId, leaps }: Parameters<typeof showRows>[0],
  address: string,
): Promise<Omit<ShownRows, 'node'>> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    // Conditions are polled as texts, because the page's policy forbids evaluating code.
    bypassCSP: true,
  })
  try {
    const page = await context.newPage()
    const session = await context.newCDPSession(page)
    await session.send('Profiler.enable')
    await session.send('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    await page.goto(address)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.evaluate(`location.hash = '#/run/${encodeURIComponent(runId)}/results'`)
    const rows = await scrollGrid(page, leaps)
    const { result } = await session.send('Profiler.takePreciseCoverage')
    const readBundle = (url: string) => {
      const file = join(checkout, 'out/renderer', new URL(url, 'file:').pathname)
      if (!existsSync(`${file}.map`)) return null
      return { text: readFileSync(file, 'utf8'), map: JSON.parse(readFileSync(`${file}.map`, 'utf8')) }
    }
    return { rows, page: countPageCalls(result as ScriptCoverage[], readBundle) }
  } finally {
    await context.close()
  }
}

/**
 * Scrolls the results grid in leaps, each once its rows have loaded; returns the number of the last drawn
 * row.
 */
async function scrollGrid(page: Page, leaps: number): Promise<number> {
  const grid = page.getByRole('grid')
  await grid.hover()
  const rows = "[...document.querySelectorAll('[role=grid] [role=row][aria-selected]')]"
  // A row that is still being fetched has one cell.
  const areFilled = `${rows}.length > 1 && ${rows}.every((row) => row.children.length > 1)`
  const lastRow = `Math.max(...${rows}.map((row) => Number(row.ariaRowIndex)))`
  await page.waitForFunction(areFilled)
  for (let count = 0; count < leaps; count += 1) {
    const before = Number(await page.evaluate(lastRow))
    await page.mouse.wheel(0, LEAP_PX)
    await page.waitForFunction(`${lastRow} > ${before} && ${areFilled}`)
  }
  return Number(await page.evaluate(lastRow))
}
