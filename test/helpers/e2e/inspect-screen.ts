import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const SCHEMES = ['light', 'dark'] as const

/** The smallest window, and a usual one. */
const SIZES = [
  { width: 1024, height: 700 },
  { width: 1920, height: 1080 },
] as const

/** Looks at the page with axe-core in light and dark. Returns a line for each violation, with the screen's name. */
export async function inspectScreen(page: Page, screen: string): Promise<string[]> {
  const isDark = (await page.locator('html').getAttribute('data-mantine-color-scheme')) === 'dark'
  const found: string[] = []
  // The scheme that is on comes first, so that each screen costs one change.
  for (const [index, scheme] of (isDark ? SCHEMES.toReversed() : SCHEMES).entries()) {
    if (index > 0) await setScheme(page, scheme)
    const violations = await findViolations(page, index === 0 ? 'all' : 'colours')
    found.push(...violations.map((violation) => `${screen}, ${scheme}: ${violation}`))
  }
  return found
}

async function setScheme(page: Page, scheme: (typeof SCHEMES)[number]): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
  const other = scheme === 'light' ? 'dark' : 'light'
  await page.locator(`html:not([data-mantine-color-scheme=${other}])`).waitFor()
}

/** Writes pictures `NAME-SCHEME-WIDTH.png` of the page into a folder, then gives it back its size. */
export async function takePictures(page: Page, name: string, folder: string): Promise<void> {
  const before = page.viewportSize()
  for (const size of SIZES) {
    await page.setViewportSize(size)
    for (const scheme of SCHEMES) {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
      // Charts and tables take the new size and colours in the frames that follow.
      await page.evaluate(
        'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(drawn))))',
      )
      await page.screenshot({ path: join(folder, `${name}-${scheme}-${size.width}.png`) })
    }
  }
  if (before !== null) await page.setViewportSize(before)
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
