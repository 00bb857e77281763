import { expect, it, onTestFinished } from 'vitest'
import { WORKER_URLS } from '../../src/main/program-files.ts'
import { startSandboxThread } from '../../src/main/sandbox/start-sandbox-thread.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import { checkSample, readShownCounts, seeRunEnded, seeScreen } from '../helpers/e2e/walk.ts'

const KEY = 'failures-key'

it('says what to do about refused rows, and sends them again as a child run with the key that was typed', async () => {
  const service = await startSandboxThread(WORKER_URLS.sandbox, {
    apiKeys: [KEY],
    faults: ['413=10%,tries=1'],
  })
  onTestFinished(() => service.close())
  const { page, inspect } = await openApp()
  await checkSample(page)
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByRole('radio', { name: 'A service' }).check()
  await page.getByLabel('Base URL').fill('localhost:1')
  await page.getByLabel('Base URL').blur()
  await page.getByText('The address must begin with https:// or http://').waitFor()
  await inspect('review-service')
  await page.getByLabel('Base URL').fill(service.baseUrl)
  await page.getByLabel('API key', { exact: true }).fill(KEY)
  await page.getByRole('textbox', { name: 'Retries' }).fill('0')
  await page.getByRole('button', { name: /^Send 364 rows/ }).click()
  await seeRunEnded(page)
  await page.getByText('The content is too large for the service.').waitFor()
  const first = await readShownCounts(page)
  const refused = first['rejected'] ?? 0
  expect(refused).toBeGreaterThan(10)
  await inspect('run-failing')

  await page.getByRole('button', { name: '413 INJECTED_FAULT' }).click()
  await seeScreen(page, 'Results')
  await page.getByText(`${refused} rows`, { exact: true }).waitFor()
  await page
    .getByRole('button', { name: new RegExp(`^413 INJECTED_FAULT: .*${refused}`), pressed: true })
    .waitFor()
  await page.getByRole('grid').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('complementary').getByRole('heading', { name: 'Tries' }).waitFor()
  await inspect('results-rejected')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Show all rows' }).click()
  await page.getByRole('button', { name: /^all that did not succeed/ }).click()
  await page.getByText(`${refused + 8} rows`, { exact: true }).waitFor()
  await page.getByRole('button', { name: `Retry ${refused} rows…` }).click()
  const dialog = page.getByRole('dialog')
  const key = dialog.getByLabel('API key', { exact: true })
  await dialog.getByText('The one you typed for this address before.').waitFor()
  expect(await key.inputValue()).toBe(KEY)
  await key.fill('')
  expect(await dialog.getByRole('button', { name: `Retry ${refused} rows` }).isDisabled()).toBe(true)
  await key.fill(KEY)
  await inspect('results-retry')
  await dialog.getByRole('button', { name: `Retry ${refused} rows` }).click()
  await dialog.waitFor({ state: 'detached' })
  await seeRunEnded(page)
  expect(await readShownCounts(page)).toEqual({ succeeded: refused, pending: 0 })
  expect(await page.content()).not.toContain(KEY)
})
