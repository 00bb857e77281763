import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { findViolations } from '../helpers/e2e/open-app.ts'
import { checkSample, seeRunEnded, seeScreen } from '../helpers/e2e/walk.ts'
import { createAppOpener } from '../helpers/e2e/with-app.ts'

const openApp = createAppOpener()

/** What axe finds in light and in dark, each named after its screen. */
async function inspect(page: Page, screen: string, found: string[]): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor()
    for (const violation of await findViolations(page)) found.push(`${screen}, ${colorScheme}: ${violation}`)
  }
}

it('has no violations of WCAG 2.2 AA on any screen, light or dark', async () => {
  const { page } = await openApp({ width: 1024, height: 700 })
  const found: string[] = []
  await page.getByRole('button', { name: 'Try it with the sandbox' }).waitFor()
  await inspect(page, 'home, empty', found)
  await page.getByRole('link', { name: 'Source' }).click()
  await seeScreen(page, 'Source')
  await inspect(page, 'source, empty', found)
  await page.getByRole('link', { name: 'Runs' }).click()
  await page.getByRole('button', { name: 'Try it with the sandbox' }).click()
  await page.getByText('rows parsed').waitFor()
  await inspect(page, 'source', found)
  await page.getByRole('link', { name: 'Mapping' }).click()
  await seeScreen(page, 'Mapping')
  await page.getByLabel('user_id becomes').selectOption('')
  await page.getByText('user_id is required').first().waitFor()
  await inspect(page, 'mapping, blocked', found)
  await page.getByRole('link', { name: 'Runs' }).click()
  await checkSample(page)
  await page.getByRole('button', { name: /^Review 364/ }).waitFor()
  await inspect(page, 'check', found)
  await page.getByRole('button', { name: /^Review 364/ }).click()
  await page.getByRole('radio', { name: 'A service' }).check()
  await page.getByLabel('Base URL').fill('nonsense')
  await page.getByLabel('Base URL').blur()
  await inspect(page, 'review, a service', found)
  await page.getByRole('radio', { name: 'The sandbox' }).check()
  await page.getByRole('button', { name: 'Send the first 10' }).click()
  await page.getByRole('heading', { name: 'The first rows, as the service answered' }).waitFor()
  await inspect(page, 'review, first rows', found)
  await page.getByLabel('In flight').fill('64')
  await page.getByRole('button', { name: 'Send the other 354 rows' }).click()
  await seeRunEnded(page)
  await inspect(page, 'run', found)
  await page.getByRole('button', { name: 'Look at the rows' }).click()
  await page.getByRole('row', { name: /^5 / }).waitFor()
  await inspect(page, 'results', found)
  await page.getByRole('grid').focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('Enter')
  await page.getByRole('complementary').getByRole('heading', { name: 'Tries' }).waitFor()
  await inspect(page, 'results, a row', found)
  await page.getByRole('link', { name: 'Export' }).click()
  await inspect(page, 'export', found)
  await page.getByRole('link', { name: 'Runs' }).click()
  await page.getByRole('button', { name: /^Actions for/ }).waitFor()
  await inspect(page, 'home', found)
  await page.getByRole('button', { name: /^Actions for/ }).click()
  await page.getByRole('menuitem', { name: 'Delete…' }).click()
  await page.getByRole('dialog').waitFor()
  await inspect(page, 'a dialog', found)
  expect(found).toEqual([])
})
