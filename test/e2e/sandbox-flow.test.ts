import { expect, inject, it, onTestFinished } from 'vitest'
import { createEngine } from '../../src/main/engine/engine.ts'
import { holdAnswers } from '../helpers/e2e/held-messages.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import {
  checkSample,
  chooseFile,
  openStep,
  readShownCounts,
  seeRunEnded,
  seeScreen,
  sendEverything,
  sendFaster,
} from '../helpers/e2e/walk.ts'

it("sends a trial of ten rows, then the others, shows the journal's counts, and exports every row", {
  skip: !inject('walksAll'),
}, async () => {
  const app = await openApp()
  const { page, inspect } = app
  await inspect('runs-empty')
  await openStep(page, 'Source')
  await seeScreen(page, 'Source')
  await inspect('source-empty')
  await page.getByRole('link', { name: 'Runs' }).click()
  await page.getByRole('button', { name: 'Try it with the sandbox' }).click()
  await page.getByText('rows parsed').waitFor()
  await inspect('source')
  await page.getByRole('link', { name: 'Mapping' }).click()
  await seeScreen(page, 'Mapping')
  await inspect('mapping')
  await page.getByLabel('user_id becomes').selectOption('')
  await page.getByText('user_id is required').first().waitFor()
  await inspect('mapping-blocked')
  await page.getByRole('link', { name: 'Runs' }).click()
  await checkSample(page)
  await page.getByRole('button', { name: /^Review 364/ }).waitFor()
  await inspect('check')
  await page.getByRole('button', { name: /^Review 364/ }).click()
  await page.getByText('"user_id"').waitFor()
  await inspect('review')
  await page.getByRole('button', { name: 'Send the first 10' }).click()
  await page.getByRole('heading', { name: 'The first rows, as the service answered' }).waitFor()
  await page.getByRole('button', { name: 'Send the other 354 rows' }).waitFor()
  await inspect('review-first-rows')
  await page.getByLabel('In flight').fill('64')
  await page.getByRole('button', { name: 'Send the other 354 rows' }).click()
  await seeRunEnded(page)
  await page.reload()
  await seeRunEnded(page)
  await inspect('run')
  const shown = await readShownCounts(page)
  const runId = new URL(page.url()).hash.replace('#/run/', '')

  await page.getByRole('button', { name: 'View results' }).click()
  const row = page.getByRole('row', { name: /^5 / })
  await row.hover()
  await row.getByText('hidden (').first().waitFor()
  await inspect('results')
  await page.getByRole('grid').focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('Enter')
  await page.getByRole('complementary').getByRole('heading', { name: 'Tries' }).waitFor()
  await inspect('results-row')
  await page.keyboard.press('Escape')
  await page.getByLabel('Search the cells').fill('in none of the rows')
  await page.getByText('No row matches').waitFor()
  await inspect('results-none')
  await page.getByRole('button', { name: 'Show all rows' }).click()
  await page.getByRole('button', { name: 'Export' }).click()
  const coming = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Write the file' }).click()
  expect((await coming).suggestedFilename()).toMatch(/\.csv$/)
  await page.getByText('372 rows written').waitFor()
  await inspect('export')
  await page.getByRole('button', { name: 'Shortcuts' }).click()
  await page.getByRole('dialog').waitFor()
  await inspect('shortcuts')
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Runs' }).click()
  await page.getByRole('button', { name: /^Actions for/ }).click()
  await page.getByRole('menuitem', { name: 'Delete…' }).click()
  await page.getByRole('dialog').waitFor()
  await inspect('runs-delete')

  await app.close()
  const engine = createEngine({ workspace: app.workspace })
  onTestFinished(() => engine.close())
  const { rows } = await engine.runs.summarizeRun(runId)
  expect(rows.succeeded).toBe(364)
  expect(shown).toEqual({ succeeded: rows.succeeded, invalid: rows.invalid })
})

it('takes a new user to the first triggered rules in four clicks; the run is stopped and resumed', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp()
  await page.getByRole('button', { name: 'Try it with the sandbox' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByRole('button', { name: 'Send 364 rows' }).click()
  await page.getByRole('button', { name: 'Likely spam' }).waitFor()

  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  await page.getByRole('region', { name: 'Errors' }).getByText('8 rows').waitFor()
  // All figures of a paused run cover the same answers.
  const answers = page.getByRole('row', { name: 'http_req_duration' }).getByRole('cell').last()
  const counts = async () => [(await readShownCounts(page))['succeeded'], Number(await answers.textContent())]
  await expect.poll(async () => new Set(await counts()).size).toBe(1)
  await inspect('run-paused')
  await page.getByRole('button', { name: 'Stop' }).click()
  await seeRunEnded(page, 'interrupted')
  await page.getByRole('link', { name: 'Runs' }).click()
  await seeScreen(page, 'Runs')
  await page.getByText('was interrupted').waitFor()
  await inspect('runs-interrupted')
  await page.getByRole('button', { name: 'Review and resume' }).click()
  await page.getByRole('button', { name: 'Resume…' }).click()
  await page.getByRole('dialog').waitFor()
  await inspect('run-resume')
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Resume \d+ rows/ })
    .click()
  // The end is announced wherever the person is; the run must not end before.
  await page.getByRole('link', { name: 'Connections' }).click()
  await page.getByText('364 of 372 rows succeeded').waitFor()
  await inspect('toast')
  await page.getByRole('button', { name: 'View run' }).click()
  await seeRunEnded(page)
  expect(await readShownCounts(page)).toEqual({ succeeded: 364, invalid: 8 })
})

it('keeps a trial of the first rows as completed, and sends the others from there', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp()
  await page.getByRole('button', { name: 'Try it with the sandbox' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByRole('button', { name: 'Send the first 10' }).click()
  const first = page.getByRole('region', { name: 'The first rows, as the service answered', exact: true })
  const answered = first.locator('tbody tr').filter({ hasNotText: /not sent|sending/ })
  await page.getByRole('heading', { name: 'The first rows, as the service answered' }).waitFor()
  await expect.poll(() => answered.count()).toBe(10)
  await page.getByRole('button', { name: 'Start over' }).click()
  await page.getByRole('link', { name: 'Runs' }).click()
  await seeScreen(page, 'Runs')
  await page.getByText('trial of the first 10 rows').waitFor()
  expect(await page.getByText('was interrupted').count()).toBe(0)
  await inspect('runs-trial')
  await page.locator('tr[data-run] th button').first().click()
  await seeRunEnded(page)
  await inspect('run-trial')
  await page.getByRole('button', { name: 'Send the other 354 rows…' }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Resume 354 rows/ })
    .click()
  await page.getByText('trial of the first').waitFor({ state: 'detached' })
  await seeRunEnded(page)
  expect((await readShownCounts(page))['succeeded']).toBeGreaterThan(10)
})

it('restores a draft when Start over is undone, until another source is opened', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  await chooseFile(page, { name: 'posts.csv', text: 'body,note\nhello,\n' })
  await page.getByRole('button', { name: 'Continue' }).click()
  await seeScreen(page, 'Mapping')
  const note = page.getByLabel('note becomes')
  await note.selectOption('text_data')
  await page.getByRole('button', { name: 'Start over' }).click()
  await seeScreen(page, 'Operation')
  const undo = page.getByRole('button', { name: 'Undo' })
  await undo.click()
  await seeScreen(page, 'Mapping')
  expect(await note.inputValue()).toBe('text_data')
  await page.getByRole('button', { name: 'Start over' }).click()
  await undo.waitFor()
  await chooseFile(page, { name: 'others.csv', text: 'text_data\nhello\n' })
  expect(await undo.count()).toBe(0)
})

it('sends the rest after the first ten rows, even if asked while those were being sent', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  await checkSample(page)
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByLabel('In flight').fill('1')
  await page.getByRole('button', { name: 'Send the first 10' }).click()
  await page.getByRole('button', { name: 'Send the other 354 rows' }).click()
  await sendFaster(page)
  await seeRunEnded(page)
  expect(await readShownCounts(page)).toEqual({ succeeded: 364, invalid: 8 })
})

it('keeps a run whose trial had all of its rows, and leads to it', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  await chooseFile(page, { name: 'two.csv', text: 'text_data,user_id,post_id\nhello,u1,p1\nthere,u2,p2\n' })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Review 2 rows' }).click()
  await page.getByRole('button', { name: 'Send the first 10' }).click()
  await page.getByRole('button', { name: 'Open the run' }).waitFor()
  await page.getByRole('button', { name: 'Start over' }).click()
  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  await page.locator('tr[data-run] th button').first().click()
  await seeRunEnded(page)
  expect(await readShownCounts(page)).toEqual({ succeeded: 2 })
})

it('leads to the run if the answer to sending all rows does not come', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  const answers = await holdAnswers(page, /\/runs\/begin/)
  await page.reload()
  await checkSample(page)
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByLabel('In flight').fill('200')
  answers.hold()
  await page.getByRole('button', { name: /^Send [\d,]+ row/ }).click()
  await answers.arrived()
  await page.getByText('Sent to').waitFor()
  await page.getByRole('button', { name: 'Open the run' }).click()
  await seeRunEnded(page)
  expect(await readShownCounts(page)).toEqual({ succeeded: 364, invalid: 8 })
})

it('stays with another file that was opened before the answer to sending came', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  const answers = await holdAnswers(page, /\/runs\/begin/)
  await page.reload()
  await checkSample(page)
  await page.getByRole('button', { name: /^Review/ }).click()
  answers.hold()
  await page.getByRole('button', { name: /^Send [\d,]+ row/ }).click()
  await answers.arrived()
  await chooseFile(page, { name: 'two.csv', text: 'text_data,user_id,post_id\nhello,u1,p1\nthere,u2,p2\n' })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Review 2 rows' }).click()
  await page.getByText('2 rows ready to send').waitFor()
  answers.release()
  await page.getByRole('button', { name: 'Send the first 10' }).click()
  await page.getByRole('button', { name: 'Open the run' }).click()
  await seeRunEnded(page)
  expect(await readShownCounts(page)).toEqual({ succeeded: 2 })
})

it('says that rows may have been sent if the answer to sending a run again is lost', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  const answers = await holdAnswers(page, /\/runs\/begin/)
  await page.reload()
  await chooseFile(page, { name: 'two.csv', text: 'text_data,user_id\nhello,u1\nthere,u2\n' })
  await page.getByRole('button', { name: 'Continue' }).click()
  await sendEverything(page)
  await seeRunEnded(page)
  await page.getByRole('button', { name: 'Run again' }).click()
  await page.getByRole('button', { name: 'Read and check the source' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Nothing has been sent yet').waitFor()
  answers.hold()
  await dialog.getByRole('button', { name: 'Send 2 rows' }).click()
  await answers.arrived()
  answers.lose()
  await dialog.getByText('The rows may have been sent').waitFor()
  expect(await dialog.getByText(/Nothing has been sent|Do not send/).count()).toBe(0)
  await dialog.getByRole('button', { name: 'Open the run' }).click()
  await seeRunEnded(page)
  expect(await readShownCounts(page)).toEqual({ succeeded: 2 })
})
