import { join } from 'node:path'
import type { Page } from 'playwright-core'

/** Takes the screen as it stands, in every look. */
export type Camera = (name: string) => Promise<void>

const SIZES = [
  { width: 1024, height: 700 },
  { width: 1920, height: 1080 },
] as const

const SETTLE_MS = 250

/** A camera that writes `NAME-SCHEME-WIDTH.png` into a folder. */
export function createCamera(page: Page, folder: string): Camera {
  return async (name) => {
    for (const size of SIZES) {
      await page.setViewportSize(size)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        // Charts and tables fit themselves to a new size a moment later.
        await page.waitForTimeout(SETTLE_MS)
        await page.screenshot({ path: join(folder, `${name}-${colorScheme}-${size.width}.png`) })
      }
    }
  }
}
