import { expect, inject, it, onTestFinished } from 'vitest'
import { WORKER_URLS } from '../../src/main/program-files.ts'
import { startSandboxThread } from '../../src/main/sandbox/start-sandbox-thread.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import { chooseFile, readShownCounts, seeRunEnded } from '../helpers/e2e/walk.ts'

const KEY = 'full-speed-key'
const ROWS = inject('isLong') ? 10_000 : 1_000

it('shows the last count of rows sent at full speed, and searches, sorts and scrolls through them', {
  skip: !inject('walksAll'),
}, async () => {
  const service = await startSandboxThread(WORKER_URLS.sandbox, { apiKeys: [KEY] })
  onTestFinished(() => service.close())
  const { page } = await openApp({ width: 1600, height: 900 })
  const lines = Array.from(
    { length: ROWS },
    (_, index) => `user-${index},${index % 5 < 2 ? 'Tickets' : 'Message'} ${index} you idiot`,
  )
  await chooseFile(page, { name: 'many.csv', text: `user_id,text_data\n${lines.join('\n')}\n` })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByRole('radio', { name: 'A service' }).check()
  await page.getByLabel('Base URL').fill(service.baseUrl)
  await page.getByLabel('API key', { exact: true }).fill(KEY)
  await page.getByLabel('In flight').fill('64')
  const send = page.getByRole('button', { name: /^Send [\d,]+ rows/ })
  await expect.poll(() => send.isEnabled()).toBe(true)
  await send.click()
  await page.getByRole('button', { name: 'Bullying' }).waitFor()
  await page.locator('main header').getByText('completed', { exact: true }).waitFor({ timeout: 240_000 })
  await seeRunEnded(page)
  expect(await readShownCounts(page)).toEqual({ succeeded: ROWS })

  await page.getByRole('button', { name: 'View results' }).click()
  await page.keyboard.press('/')
  await page.keyboard.type('tickets')
  const matches = ((ROWS * 2) / 5).toLocaleString('en-US')
  await page.getByText(`${matches} rows match`).waitFor()
  await page.getByRole('button', { name: `succeeded ${matches}` }).waitFor()
  await page.getByRole('grid').focus()
  await page.keyboard.press('End')
  // Of every five rows, the second is the last with the word; a spreadsheet counts the header too.
  const last = page.getByRole('row', { name: new RegExp(`^${ROWS - 2} `) })
  await last.waitFor()

  // Another column or order is another list and is read at the table's scroll position.
  const waiting = page.getByRole('gridcell', { name: 'Loading' })
  await page.keyboard.press('Home')
  await page.getByRole('row', { name: /^2 / }).waitFor()
  await page.getByRole('grid').evaluate((grid) => {
    grid.scrollTop = grid.scrollHeight
  })
  await last.waitFor()
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByLabel('Search the columns').fill('language')
  await page.getByRole('checkbox', { name: 'Language' }).first().click()
  await page.keyboard.press('Escape')
  await page.getByRole('columnheader', { name: 'Language' }).waitFor()
  await expect.poll(() => waiting.count()).toBe(0)
  await page.getByLabel('Sort by').selectOption({ label: 'Last row first' })
  await last.waitFor()
  await expect.poll(() => page.getByRole('grid').evaluate(({ scrollTop }) => scrollTop)).toBe(0)
  await expect.poll(() => waiting.count()).toBe(0)
})
