import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, inject, onTestFinished } from 'vitest'
import { type AppLook, launchChromium, type OpenedApp, openApp } from './open-app.ts'

/**
 * One browser for all tests of a file; the function it gives opens the screens for one test, over a workspace of its
 * own. A test fails where the console complained, whatever else it looked at.
 */
export function createAppOpener(): (look?: AppLook) => Promise<OpenedApp> {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchChromium()
  })
  afterAll(() => browser.close())
  return async (look = {}) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-e2e-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    const app = await openApp({ browser, rendererFolder: inject('rendererFolder'), folder, look })
    onTestFinished(async () => {
      await app.close()
      expect(app.complaints).toEqual([])
    })
    return app
  }
}
