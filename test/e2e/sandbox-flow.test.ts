import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../src/main/engine/engine.ts'
import { checkSample, readShownCounts, seeRunEnded, seeScreen } from '../helpers/e2e/walk.ts'
import { createAppOpener } from '../helpers/e2e/with-app.ts'

const openApp = createAppOpener()

it('sends ten rows to try, then the others, counts as the journal does, and exports every row', async () => {
  const app = await openApp()
  const { page } = app
  await checkSample(page)
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByRole('button', { name: 'Send the first 10' }).click()
  await page.getByRole('heading', { name: 'The first rows, as the service answered' }).waitFor()
  await page.getByLabel('In flight').fill('64')
  await page.getByRole('button', { name: 'Send the other 354 rows' }).click()
  await seeRunEnded(page)
  await page.reload()
  await seeRunEnded(page)
  const shown = await readShownCounts(page)
  const runId = new URL(page.url()).hash.replace('#/run/', '')

  await page.getByRole('button', { name: 'View results' }).click()
  const row = page.getByRole('row', { name: /^5 / })
  await row.hover()
  expect(await row.getByText('hidden,').count()).toBeGreaterThan(0)
  await page.getByRole('button', { name: 'Export' }).click()
  const coming = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Write the file' }).click()
  expect((await coming).suggestedFilename()).toMatch(/\.csv$/)
  await page.getByText('372 rows written').waitFor()

  await app.close()
  const engine = createEngine({ workspace: app.workspace })
  onTestFinished(() => engine.close())
  const { rows } = await engine.summarizeRun(runId)
  expect(rows.succeeded).toBe(364)
  expect(shown).toEqual({ succeeded: rows.succeeded, invalid: rows.invalid, pending: rows.not_sent })
})

it('takes a new user to the first triggered rules in four clicks; the run is stopped and resumed', async () => {
  const { page } = await openApp()
  await page.getByRole('button', { name: 'Try it with the sandbox' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByRole('button', { name: 'Send 364 rows' }).click()
  await page.getByRole('button', { name: 'Likely spam' }).waitFor()

  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await seeRunEnded(page, 'interrupted')
  await page.getByRole('link', { name: 'Runs' }).click()
  await seeScreen(page, 'Runs')
  await page.getByText('was interrupted').waitFor()
  await page.getByRole('button', { name: 'Review and resume' }).click()
  await page.getByRole('button', { name: 'Resume…' }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Resume \d+ rows/ })
    .click()
  await page.getByLabel('In flight at most').fill('64')
  await page.getByLabel('In flight at most').press('Enter')
  await seeRunEnded(page)
  expect(await readShownCounts(page)).toEqual({ succeeded: 364, invalid: 8, pending: 0 })
})
