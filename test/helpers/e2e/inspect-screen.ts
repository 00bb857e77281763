import type { Page } from 'playwright-core'
import { findViolations } from './open-app.ts'

/** Adds what axe finds in light and in dark, each named after its screen; the page stays dark. */
export async function inspectScreen(page: Page, screen: string, found: string[]): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor()
    const violations = await findViolations(page, colorScheme === 'light' ? 'all' : 'colours')
    for (const violation of violations) found.push(`${screen}, ${colorScheme}: ${violation}`)
  }
}
