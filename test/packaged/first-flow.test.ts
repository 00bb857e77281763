import { join } from 'node:path'
import process from 'node:process'
import { expect, it } from 'vitest'
import { startPackagedApp } from '../helpers/e2e/start-packaged.ts'
import { checkSample, readShownCounts, seeRunEnded, seeScreen } from '../helpers/e2e/walk.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

const program = process.env['SLUICE_PACKAGED_APP'] ?? ''

it('takes a new user to the first triggered rules, and after a crash resumes without losing a row', async () => {
  const folder = createTemporaryFolder()
  const folders = { userData: join(folder, 'user-data'), workspace: join(folder, 'workspace') }
  const { page, kill } = await startPackagedApp(program, folders)
  expect(page.url()).toMatch(/^app:\/\/sluice\//)
  await checkSample(page)
  await page.getByRole('button', { name: /^Review 364/ }).click()
  await page.getByLabel('In flight').fill('1')
  await page.getByRole('button', { name: /^Send 364 rows/ }).click()
  await page.getByRole('button', { name: 'Likely spam' }).waitFor()
  await kill()

  const { page: later } = await startPackagedApp(program, folders)
  await later.getByText('was interrupted').waitFor()
  await later.getByRole('button', { name: 'Review and resume' }).click()
  await later.getByRole('button', { name: 'Resume…' }).click()
  await later
    .getByRole('dialog')
    .getByRole('button', { name: /^Resume \d+ rows/ })
    .click()
  await later.getByLabel('In flight at most').fill('64')
  await later.getByLabel('In flight at most').press('Enter')
  await seeRunEnded(later)
  const counts = await readShownCounts(later)
  expect(counts).toMatchObject({ invalid: 8, pending: 0 })
  expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(372)
  await later.getByRole('link', { name: 'Runs' }).click()
  await seeScreen(later, 'Runs')
})
