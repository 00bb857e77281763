import { expect, inject, it, onTestFinished } from 'vitest'
import { WORKER_URLS } from '../../src/main/program-files.ts'
import { startSandboxThread } from '../../src/main/sandbox/start-sandbox-thread.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import {
  checkAndSend,
  checkSample,
  chooseFile,
  readShownCounts,
  seeRunEnded,
  seeScreen,
} from '../helpers/e2e/walk.ts'
import { startRefusingService } from '../helpers/refusing-service.ts'

const KEY = 'failures-key'

it('says what to do about refused rows, and resends them as a child run with the typed key', {
  skip: !inject('walksAll'),
}, async () => {
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
  await page.locator('main header').getByText('The address must begin with https:// or http://').waitFor()
  await page.getByText('The request is shown once the connection is complete.').waitFor()
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
  const echoes = page.getByRole('region', { name: 'Whose answers they are' })
  await echoes.getByText(`Verified${364 - refused}`).waitFor()
  await echoes.getByText('Mismatched0').waitFor()
  await inspect('run-failing')

  const downloads: string[] = []
  page.on('download', (download) => downloads.push(download.suggestedFilename()))
  await page.getByRole('button', { name: 'Success and error files' }).click()
  await page
    .getByText(`${364 - refused} rows in the success file, ${refused + 8} in the error file`)
    .waitFor()
  await expect.poll(() => downloads.map((name) => name.split('-')[0])).toEqual(['success', 'errors'])
  await inspect('run-outcome-files')
  await page.getByRole('link', { name: 'Plan' }).click()
  await page.getByRole('heading', { name: 'Pace and retries' }).waitFor()
  await inspect('plan')
  await page.getByRole('button', { name: 'Save as a plan file' }).click()
  await page.getByText('Plan written').waitFor()
  await inspect('plan-saved')
  await page.getByRole('link', { name: 'Overview' }).click()

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
  await page.getByRole('button', { name: 'Retry what did not succeed…' }).click()
  const dialog = page.getByRole('dialog')
  const key = dialog.getByLabel('API key', { exact: true })
  await dialog.getByText('The one you typed that the run was sent with.').waitFor()
  expect(await key.inputValue()).toBe(KEY)
  await key.fill('')
  await expect
    .poll(() => dialog.getByRole('button', { name: `Retry ${refused} rows` }).isDisabled())
    .toBe(true)
  await key.fill(KEY)
  await inspect('results-retry')
  await dialog.getByRole('button', { name: `Retry ${refused} rows` }).click()
  await dialog.waitFor({ state: 'detached' })
  // The retry continues in the run itself.
  const { rejected: _refused, ...others } = first
  await expect.poll(() => readShownCounts(page)).toEqual({ ...others, succeeded: 364 })
  await seeRunEnded(page)
  await page.getByText(`: ${refused} rows, ${refused} of ${refused} requests succeeded`).waitFor()
  await inspect('run-retried')
  await page.getByRole('link', { name: 'Evaluate' }).click()
  await seeScreen(page, 'Evaluate')
  await page.getByRole('button', { name: 'Run again…' }).click()
  await page.getByRole('dialog', { name: 'Run again' }).getByLabel('Legacy answer, with scores').check()
  await inspect('run-again')
  expect(await page.content()).not.toContain(KEY)
})

it("asks before a retry with another key than the run's, and sends nothing until that is answered", {
  skip: !inject('walksAll'),
}, async () => {
  const server = await startRefusingService()
  const { page, inspect } = await openApp()
  await chooseFile(page, { name: 'posts.csv', text: 'user_id,text_data\nana,hello\nben,refuse this\n' })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByRole('radio', { name: 'A service' }).check()
  await page.getByLabel('Base URL').fill(server.baseUrl)
  await page.getByLabel('API key', { exact: true }).fill(KEY)
  await page.getByRole('button', { name: /^Send 2 rows/ }).click()
  await seeRunEnded(page)
  expect(server.requests).toHaveLength(2)

  await page.getByRole('button', { name: 'Retry what did not succeed…' }).click()
  const dialog = page.getByRole('dialog')
  const key = dialog.getByLabel('API key', { exact: true })
  const asked = dialog.getByText('The run was sent with another key')
  await key.fill('key-of-another-project')
  await dialog.getByRole('button', { name: 'Retry 1 row', exact: true }).click()
  await asked.waitFor()
  await inspect('results-retry-other-key')
  // The question covers this key only.
  await key.fill('a-third-key')
  await asked.waitFor({ state: 'detached' })
  await key.fill('key-of-another-project')
  await asked.waitFor()
  expect(server.requests).toHaveLength(2)
  await dialog.getByRole('button', { name: 'Retry 1 row with this key' }).click()
  await page.getByText('1 row, 0 of 1 request succeeded').waitFor()
  expect(server.requests.map(({ headers }) => headers['authorization'])).toEqual([
    `token ${KEY}`,
    `token ${KEY}`,
    'token key-of-another-project',
  ])
})

it('leads from a run whose model the service refuses back to the operation, with its rows and mapping', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp()
  await chooseFile(page, { name: 'posts.csv', text: 'author,text_data\nana,hello\nben,sandbox:spam:3\n' })
  await page.getByRole('link', { name: 'Operation' }).click()
  await page.getByLabel('Version').selectOption({ label: 'v2: several models, custom indexes' })
  await page.getByRole('combobox', { name: 'Models' }).fill('no-such-model')
  await page.getByRole('combobox', { name: 'Models' }).press('Enter')
  await page.getByRole('button', { name: 'Continue' }).click()
  await checkAndSend(page)
  await page.getByText('The service rejected all 2 rows for the same reason').waitFor()
  await inspect('run-refused-model')
  await page.getByRole('button', { name: 'Correct and retry…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Check 2 rows' }).waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()

  await page.getByRole('button', { name: 'Change the operation' }).click()
  await seeScreen(page, 'Operation')
  await page.getByText('no-such-model').waitFor()
  await page.getByRole('combobox', { name: 'Models' }).press('Backspace')
  await page.getByRole('button', { name: 'Continue' }).click()
  await seeScreen(page, 'Source')
  await page.getByText('posts.csv').first().waitFor()
  await checkAndSend(page)
  expect(await readShownCounts(page)).toMatchObject({ succeeded: 2 })
})

it('says next to the chosen model that a column of models takes precedence', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp()
  await chooseFile(page, { name: 'posts.csv', text: 'user_id,text_data,models\nana,hello,text\n' })
  await page.getByRole('link', { name: 'Operation' }).click()
  await page.getByText('Used for rows without a model in the “models” column.').waitFor()
  await inspect('operation-models-column')
})
