import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { WORKER_URLS } from '../../src/main/program-files.ts'
import { startSandboxThread } from '../../src/main/sandbox/start-sandbox-thread.ts'
import { chooseFile } from '../../test/helpers/e2e/walk.ts'
import { type Figure, toFigure, toFrameFigures } from './window-figures.ts'
import { WindowPage } from './window-page.ts'
import type { WindowServer } from './window-server.ts'

const KEY = 'bench-key'
const IN_FLIGHT = 64

/** The screen of a run that is sent to a sandbox at full speed: frames, and messages from the server. */
export async function measureLiveRun(
  browser: Browser,
  serve: (workspace: string) => Promise<WindowServer>,
  rows: number,
): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-live-'))
  const service = await startSandboxThread(WORKER_URLS.sandbox, { apiKeys: [KEY] })
  const server = await serve(join(folder, 'workspace'))
  try {
    const window = await WindowPage.open(browser, server)
    const { page } = window
    const source = join(folder, 'source.csv')
    const lines = Array.from({ length: rows }, (_, row) => `user-${row % 9973},where is my order ${row}`)
    writeFileSync(source, `user_id,text_data\n${lines.join('\n')}\n`)
    await chooseFile(page, source)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: /^Review/ }).click({ timeout: 120_000 })
    await page.getByRole('radio', { name: 'A service' }).check()
    await page.getByLabel('Base URL').fill(service.baseUrl)
    await page.getByLabel('API key', { exact: true }).fill(KEY)
    await page.getByLabel('In flight').fill(String(IN_FLIGHT))
    const send = page.locator('button:enabled', { hasText: /^Send [\d,]+ rows/ })
    await send.waitFor()
    const begunMs = performance.now()
    let messages = 0
    const frames = await window.measureFrames(async () => {
      messages = await window.countMessages(async () => {
        await send.click()
        await page
          .locator('main header')
          .getByText('completed', { exact: true })
          .waitFor({ timeout: 300_000 })
      })
    })
    const seconds = (performance.now() - begunMs) / 1000
    await window.close()
    return [
      ...toFrameFigures('run at full speed', frames),
      toFigure('run at full speed, rows', rows / seconds, '/s'),
      toFigure('run at full speed, messages to the page', messages / seconds, '/s'),
    ]
  } finally {
    await server.close()
    await service.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
