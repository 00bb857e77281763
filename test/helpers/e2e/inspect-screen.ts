import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const SCHEMES = ['light', 'dark'] as const

type Scheme = (typeof SCHEMES)[number]

/** Heights of windows for pictures, by width: a common one at a zoom of 200 %, the smallest, and others. */
const HEIGHTS: Readonly<Record<number, number>> = { 720: 450, 900: 700, 1440: 900, 2560: 1440 }

/** Widths for pictures: those of `SLUICE_PICTURE_WIDTHS`, separated by commas, or the default. */
function readPictureWidths(text = process.env['SLUICE_PICTURE_WIDTHS'] ?? '1440'): number[] {
  const widths = text.split(',').map(Number)
  const unknown = widths.find((width) => HEIGHTS[width] === undefined)
  if (unknown === undefined) return widths
  throw new Error(`SLUICE_PICTURE_WIDTHS must name widths of ${Object.keys(HEIGHTS).join(', ')}: ${text}`)
}

/** Figures and pages that are dimmed until new ones arrive. */
const OUTDATED = '[data-old], [aria-busy=true]:not([role=row])'

/**
 * Checks the page with axe-core and switches its colour scheme, so that a walk alternates between light and
 * dark; `inBoth` also checks this screen in the other scheme. Waits for dimmed parts. Only regions of a
 * screen may scroll, never the document. Returns a line for each violation, with the screen's name.
 */
export async function inspectScreen(page: Page, screen: string, inBoth: boolean): Promise<string[]> {
  await page.locator(OUTDATED).first().waitFor({ state: 'detached' })
  const isDark = (await page.locator('html').getAttribute('data-mantine-color-scheme')) === 'dark'
  const present: Scheme = isDark ? 'dark' : 'light'
  const other: Scheme = isDark ? 'light' : 'dark'
  const look = async (scheme: Scheme, what: 'all' | 'colours') =>
    (await findViolations(page, what)).map((violation) => `${screen}, ${scheme}: ${violation}`)
  const found = [
    ...(await look(present, 'all')),
    ...(await findScrolledDocument(page)).map((scrolled) => `${screen}: ${scrolled}`),
    ...(await findCutTexts(page)).map((cut) => `${screen}: ${cut}`),
  ]
  await setScheme(page, other)
  return inBoth ? [...found, ...(await look(other, 'colours'))] : found
}

/** A line if the document is larger than the window, so that header and rail could scroll out of it. */
async function findScrolledDocument(page: Page): Promise<string[]> {
  const [width, height, windowWidth, windowHeight] = await page.evaluate<[number, number, number, number]>(
    '[document.documentElement.scrollWidth, document.documentElement.scrollHeight, innerWidth, innerHeight]',
  )
  if (width <= windowWidth && height <= windowHeight) return []
  return [`the document has ${width} × ${height} px, the window ${windowWidth} × ${windowHeight} px`]
}

/**
 * A line for each text that is cut with an ellipsis and cannot be read in full: it has no title, and is not
 * in a cell of a grid, whose row opens in a drawer.
 */
async function findCutTexts(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`[...document.querySelectorAll('body *')].flatMap((element) => {
    if (getComputedStyle(element).textOverflow !== 'ellipsis') return []
    if (element.scrollWidth <= element.clientWidth + 1 || element.clientWidth === 0) return []
    if (element.closest('[title], [role=gridcell], .visually-hidden, input') !== null) return []
    if (element.querySelector('[title]') !== null) return []
    return [\`"\${element.textContent}" is cut and has no title\`]
  })`)
}

async function setScheme(page: Page, scheme: Scheme): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
  const other = scheme === 'light' ? 'dark' : 'light'
  await page.locator(`html:not([data-mantine-color-scheme=${other}])`).waitFor()
}

/** Writes pictures `NAME-SCHEME-WIDTH.png` of the page into a folder, then restores its size. */
export async function takePictures(page: Page, name: string, folder: string): Promise<void> {
  const before = page.viewportSize()
  for (const width of readPictureWidths()) {
    await page.setViewportSize({ width, height: HEIGHTS[width] ?? width })
    for (const scheme of SCHEMES) {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
      // Charts and tables adopt the new size and colours in the following frames.
      await page.evaluate(
        'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(drawn))))',
      )
      await page.screenshot({ path: join(folder, `${name}-${scheme}-${width}.png`) })
    }
  }
  if (before !== null) await page.setViewportSize(before)
}

const AXE_FILE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Rules about colours; all other rules give the same result in every colour scheme. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

/**
 * Every violation of WCAG 2.2 AA that axe-core finds on the current page, a line each; `colours` only checks
 * colours, if the same page was fully checked in another colour scheme.
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
