import process from 'node:process'
import type { Page } from 'playwright-core'
import { addConnection, changeConnections } from '../../src/main/engine/workspace/connections.ts'
import { WORKER_URLS } from '../../src/main/program-files.ts'
import { startSandboxThread } from '../../src/main/sandbox/start-sandbox-thread.ts'
import { storedConnectionSchema } from '../../src/shared/plan/stored-connection.ts'
import type { OpenedApp } from '../../test/helpers/e2e/open-app.ts'
import { chooseFile, seeScreen } from '../../test/helpers/e2e/walk.ts'
import { type Camera, createCamera } from './camera.ts'

/** Stored connections, production among them, and another key for a run that has paused. */
export async function walkConnections(page: Page, take: Camera, app: OpenedApp): Promise<void> {
  const service = await startSandboxThread(WORKER_URLS.sandbox, { apiKeys: ['screenshot-key'] })
  process.env['SCREENSHOT_OLD_KEY'] = 'not-any-more'
  process.env['SCREENSHOT_NEW_KEY'] = 'screenshot-key'
  try {
    const stored = [
      { name: 'eu-production', baseUrl: service.baseUrl, isProduction: true },
      { name: 'staging', baseUrl: 'https://staging.example.com', isProduction: false },
    ].map((one) =>
      storedConnectionSchema.parse({
        ...one,
        keys: [
          { label: 'primary', env: 'SCREENSHOT_OLD_KEY' },
          { label: 'spare', env: 'SCREENSHOT_NEW_KEY' },
          { label: 'old', env: 'SCREENSHOT_UNSET_KEY' },
        ],
        activeKey: 'primary',
      }),
    )
    for (const one of stored) changeConnections(app.workspace, (known) => addConnection(known, one))
    await page.reload()
    await page.getByRole('link', { name: 'Operation' }).click()
    await seeScreen(page, 'Operation')
    await page.getByRole('radio', { name: 'eu-production' }).check()
    await take('70-operation-production')
    const lines = Array.from({ length: 60 }, (_, index) => `hello ${index},u${index}`)
    await chooseFile(page, { name: 'posts.csv', text: `text_data,user_id\n${lines.join('\n')}\n` })
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: /^Review/ }).click()
    await page.getByRole('button', { name: 'Send 60 rows' }).click()
    const consent = await app.openConsent()
    await consent.getByText('It submits content').waitFor()
    await createCamera(consent, 'screenshots')('71-production-question')
    await consent.getByRole('button', { name: 'Send to production' }).click()
    await consent.close()
    await page.getByRole('button', { name: 'Use another key…' }).waitFor()
    await take('72-run-wrong-key')
    await page.getByRole('button', { name: 'Use another key…' }).click()
    await page.getByRole('radio', { name: /^spare/ }).check()
    await take('73-key-dialog')
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Runs' }).click()
    await take('74-home-connections')
  } finally {
    await service.close()
  }
}
