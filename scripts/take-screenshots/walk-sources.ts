import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { findSmsFile } from '../../test/helpers/e2e/find-sms-file.ts'
import { createHostileCsv } from '../../test/helpers/e2e/hostile-csv.ts'
import { chooseFile, seeRunEnded, seeScreen, sendEverything } from '../../test/helpers/e2e/walk.ts'
import type { Camera } from './camera.ts'

/** Files that are not as one would wish: without a header, hostile, hardly a table. */
export async function walkSources(page: Page, take: Camera): Promise<void> {
  const sms = findSmsFile()
  if (sms !== null) {
    await chooseFile(page, { name: 'sms-spam.csv', text: readFileSync(sms) })
    await page.getByLabel('Header row').uncheck({ force: true })
    await page.getByRole('columnheader', { name: 'Column 2' }).waitFor()
    await take('20-source-no-header')
    await page.getByRole('button', { name: 'Continue' }).click()
    await seeScreen(page, 'Mapping')
    await take('21-mapping-blocked')
    await page.getByLabel('Column 2 becomes').selectOption('text_data')
    await page.getByLabel('user_id for all rows').fill('sms-import')
    await page.getByRole('button', { name: 'Check all rows' }).click()
    await page.getByRole('button', { name: /^Review/ }).waitFor()
    await take('22-check-warnings')
    await sendEverything(page)
    await seeRunEnded(page)
    await take('23-run-sms')
  }
  await chooseFile(page, {
    name: 'hostile <img src=x onerror=alert(1)> \u202Etxt.csv',
    text: createHostileCsv(),
  })
  await take('24-source-hostile')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Check all rows' }).click()
  await page.getByRole('button', { name: /^Review/ }).waitFor()
  await sendEverything(page)
  await seeRunEnded(page)
  await page.getByRole('button', { name: 'View results' }).click()
  await page.getByLabel('Show content').check({ force: true })
  await page.getByText('HYPERLINK').first().waitFor()
  await take('25-results-hostile')
  await page.getByRole('grid').focus()
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page
    .getByRole('button', { name: /Show all/ })
    .first()
    .waitFor()
  await take('26-results-huge-cell')
}
