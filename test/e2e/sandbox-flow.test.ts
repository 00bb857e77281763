import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../src/main/engine/engine.ts'
import { WORKER_URLS } from '../../src/main/worker-urls.ts'
import { checkSample, readShownCounts, seeRunEnded, seeScreen, sendEverything } from '../helpers/e2e/walk.ts'
import { createAppOpener } from '../helpers/e2e/with-app.ts'

const openApp = createAppOpener()

it('takes a new user from the sandbox to triggered rules in four clicks, and counts as the journal does', async () => {
  const app = await openApp()
  const { page } = app
  await page.getByRole('button', { name: 'Try it with the sandbox' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByRole('button', { name: /^Send 3\d\d rows/ }).click()
  await page.getByRole('button', { name: 'Likely spam' }).waitFor()
  await seeRunEnded(page)
  const runId = new URL(page.url()).hash.replace('#/run/', '')
  const shown = await readShownCounts(page)
  await app.close()

  const engine = createEngine({
    workspace: app.workspace,
    runWorkerUrl: WORKER_URLS.run,
    queryWorkerUrl: WORKER_URLS.query,
  })
  onTestFinished(() => engine.close())
  const { rows } = await engine.summarizeRun(runId)
  expect(rows.succeeded).toBeGreaterThan(300)
  expect(shown).toEqual({ succeeded: rows.succeeded, invalid: rows.invalid, pending: rows.not_sent })
})

it('sends the first ten to try, then the others, and exports them all', async () => {
  const { page } = await openApp()
  await checkSample(page)
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByRole('button', { name: 'Send the first 10' }).click()
  await page.getByRole('heading', { name: 'The first rows, as the service answered' }).waitFor()
  await page.getByLabel('In flight').fill('64')
  await page.getByRole('button', { name: 'Send the other 354 rows' }).click()
  await seeRunEnded(page)
  expect(await readShownCounts(page)).toEqual({ succeeded: 364, invalid: 8, pending: 0 })

  await page.getByRole('link', { name: 'Export' }).click()
  const coming = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Write the file' }).click()
  expect((await coming).suggestedFilename()).toMatch(/\.csv$/)
  await page.getByText('372 rows written').waitFor()
})

it('pauses and stops a run, and takes it up again from the home screen', async () => {
  const { page } = await openApp()
  await checkSample(page)
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByRole('button', { name: /^Send 3\d\d rows/ }).click()
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
  await seeRunEnded(page)
  expect(await readShownCounts(page)).toEqual({ succeeded: 364, invalid: 8, pending: 0 })
})

it('keeps what was looked at through a reload of the page', async () => {
  const { page } = await openApp()
  await checkSample(page)
  await sendEverything(page)
  await seeRunEnded(page)
  await page.reload()
  await seeRunEnded(page)
  expect(await readShownCounts(page)).toEqual({ succeeded: 364, invalid: 8, pending: 0 })
})
