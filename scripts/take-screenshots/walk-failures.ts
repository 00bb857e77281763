import type { Page } from 'playwright-core'
import { WORKER_URLS } from '../../src/main/program-files.ts'
import { startSandboxThread } from '../../src/main/sandbox/start-sandbox-thread.ts'
import { checkSample, chooseFile, seeRunEnded, seeScreen } from '../../test/helpers/e2e/walk.ts'
import type { Camera } from './camera.ts'

const KEY = 'screenshot-key'

/** What goes wrong: a service that fails now and then, a wrong key, a run that was stopped. */
export async function walkFailures(page: Page, take: Camera): Promise<void> {
  const service = await startSandboxThread(WORKER_URLS.sandbox, {
    latency: '60ms±40ms',
    faults: ['503=4%', '429=3%,retry-after=1', 'reset-after=2%', '413=2%'],
    apiKeys: [KEY],
  })
  try {
    await runAgainst(page, service.baseUrl, KEY, 2)
    await take('30-run-failing-live')
    await seeRunEnded(page)
    await take('31-run-failing-done')
    await page.getByRole('button', { name: 'Retry what did not succeed' }).click()
    await page.getByRole('dialog').waitFor()
    await take('32-retry-dialog')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'View results' }).click()
    await page.getByRole('button', { name: /^rejected/ }).click()
    await page.getByRole('grid').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('complementary').getByRole('heading', { name: 'Tries' }).waitFor()
    await take('33-results-rejected')

    await runAgainst(page, service.baseUrl, 'wrong-key', 0)
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    await page.getByText('INVALID_API_KEY').first().waitFor()
    await page.waitForTimeout(1_500)
    await take('34-run-wrong-key')
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Runs' }).click()
    await page.getByText('was interrupted').waitFor()
    await take('35-home-interrupted')
    await page
      .getByRole('button', { name: /^Actions for/ })
      .first()
      .click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    await page.getByRole('dialog').waitFor()
    await take('36-delete-dialog')
    await page.keyboard.press('Escape')
    await chooseFile(page, {
      name: 'broken.csv',
      text: 'user_id;text\r\n1;"never closed\r\n2;fine\r\n3;a;b\r\n',
    })
    await take('37-source-broken')
  } finally {
    await service.close()
  }
}

async function runAgainst(page: Page, baseUrl: string, key: string, retries: number): Promise<void> {
  await page.getByRole('link', { name: 'Runs' }).click()
  await seeScreen(page, 'Runs')
  await checkSample(page)
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByRole('radio', { name: 'A service' }).check()
  await page.getByLabel('Base URL').fill(baseUrl)
  await page.getByLabel('API key', { exact: true }).fill(key)
  await page.getByRole('textbox', { name: 'Retries' }).fill(String(retries))
  await page.getByRole('button', { name: /^Send 3\d\d rows/ }).click()
  await page.getByRole('heading', { name: 'Triggered rules' }).waitFor()
}
