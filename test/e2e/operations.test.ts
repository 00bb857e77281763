import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, inject, it } from 'vitest'
import { openApp } from '../helpers/e2e/open-app.ts'
import {
  chooseFile,
  openStep,
  readShownCounts,
  seeRunEnded,
  seeScreen,
  switchTo,
} from '../helpers/e2e/walk.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg==',
  'base64',
)

/** Goes to the first step of a run from any screen. */
async function chooseOperation(page: Page, title: string): Promise<void> {
  await openStep(page, 'Operation')
  await page.getByRole('radio', { name: title, exact: true }).check()
}

/** An item id that no index has. */
const NO_ITEM = '11111111-2222-4333-8444-555555555555'

/** Goes from the source to the end of the run. */
async function sendAll(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Review [\d,]+ row/ }).click()
  await page.getByRole('button', { name: /^Send [\d,]+ rows?$/ }).click()
  await seeRunEnded(page)
}

it('adds terms to a watchlist, warns that notes are overwritten, and shows the outcome of each', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp()
  await page.getByRole('button', { name: 'Choose what to do first' }).click()
  await page.getByRole('radio', { name: 'Update terms' }).check()
  await inspect('operation-update-terms')
  await page.getByRole('radio', { name: 'Add terms' }).check()
  const proceed = page.getByRole('button', { name: 'Continue' })
  await expect.poll(() => proceed.isDisabled()).toBe(true)
  await page.getByText('Notes of existing terms are overwritten').waitFor()
  await page.getByRole('button', { name: 'sandbox_terms' }).click()
  await page.getByLabel('Terms in one request, at most').fill('2')
  await proceed.click()
  await page.getByText('A word or phrase of at most 1024 characters').waitFor()
  await inspect('source-empty-terms')
  await chooseFile(page, {
    name: 'words.csv',
    text: 'term,notes\nGift Card,new notes\nfree crypto,\nact now,urgency\ngift card,a second time\n',
  })
  await page.getByRole('button', { name: 'Continue' }).click()
  await seeScreen(page, 'Check')
  await page.getByText('Duplicate value').waitFor()
  await page.getByRole('link', { name: 'Mapping' }).click()
  await seeScreen(page, 'Mapping')
  await inspect('mapping-terms')
  await page.getByRole('button', { name: 'Check all rows' }).click()
  await page.getByRole('button', { name: 'Review 3 rows' }).click()
  await page.getByText('Notes of existing terms are overwritten').waitFor()
  await page.getByText('up to 2 rows in each').waitFor()
  await page.reload()
  await page.getByText('up to 2 rows in each').waitFor()
  await page.getByText('"term": "hidden (9 characters)"').waitFor()
  await switchTo(page.getByLabel('Show content'), true)
  await page.getByText('"Gift Card"').waitFor()
  await inspect('review-terms')
  await page.getByRole('button', { name: 'Send 3 rows' }).click()
  await seeRunEnded(page)
  expect(await readShownCounts(page)).toEqual({ succeeded: 3, invalid: 1 })
  await inspect('run-terms')
  await page.getByRole('button', { name: 'pre-existing' }).click()
  await seeScreen(page, 'Results')
  await page.getByText('1 row', { exact: true }).waitFor()
  await page.getByRole('row', { name: /^2 / }).getByText('pre-existing').waitFor()
  await inspect('results-terms')
})

it('waits for callbacks, counts them, and shows each as it came', { skip: !inject('walksAll') }, async () => {
  const { page, inspect } = await openApp()
  await chooseOperation(page, 'Submit content')
  await page.getByRole('radio', { name: 'Later, by callback (async)' }).check()
  await page.getByLabel('Version').selectOption('v2')
  await page.getByRole('radio', { name: 'A service' }).check()
  await page.getByLabel('Base URL').fill('https://api.example.com')
  await page.getByText('The service cannot reach this machine').waitFor()
  await inspect('operation-async')
  await page.getByRole('radio', { name: 'The sandbox' }).check()
  await page.getByLabel('Version').selectOption('v1')
  await page.getByText(/127\.0\.0\.1:\d+\/callback/).waitFor()
  await page.getByRole('button', { name: 'Test the address' }).click()
  await page.getByText('A callback to this address came back').waitFor()
  await chooseFile(page, {
    name: 'later.csv',
    // The window has no field for such a column: results come to this app.
    text: 'user_id,text_data,callback_url\nu1,you idiot,http://a.example\nu2,hello,\nu3,hello again,\n',
  })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Check all rows' }).click()
  await page.getByRole('button', { name: 'Review 3 rows' }).click()
  await page.getByText(/"callback_url": "http:..127\.0\.0\.1/).waitFor()
  // Callbacks are held until the test has seen that the run waits for them.
  await page.getByRole('link', { name: 'Sandbox' }).click()
  const parts = page.getByRole('radiogroup', { name: 'Parts of the sandbox' })
  await parts.getByText('Latency and faults').click()
  await page.getByLabel('When and how callbacks are posted').fill('delay=3600s')
  await page.getByRole('region', { name: 'Callbacks' }).getByRole('button', { name: 'Apply' }).click()
  await openStep(page, 'Review')
  await page.getByRole('button', { name: 'Send 3 rows' }).click()
  await page.locator('main header').getByText('awaiting', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Stop waiting' }).waitFor()
  await page.getByRole('link', { name: 'Sandbox' }).click()
  await page.getByRole('button', { name: 'Send the pending ones now' }).click()
  await page.goBack()
  await seeRunEnded(page)
  expect(await readShownCounts(page)).toEqual({ succeeded: 3 })
  const callbacks = page.getByRole('region', { name: 'Callbacks' })
  await callbacks.getByText('none awaited').waitFor()
  expect(await callbacks.locator('dd').allInnerTexts()).toEqual(['3', '3'])
  await inspect('run-async')
  await page.getByRole('row', { name: /^callback_latency/ }).waitFor()

  await page.getByRole('button', { name: 'View results' }).click()
  await page.getByRole('row', { name: /^2 / }).waitFor()
  await page.getByRole('grid').focus()
  await page.keyboard.press(' ')
  await page.keyboard.press('Enter')
  const drawer = page.getByRole('complementary')
  await drawer.getByRole('heading', { name: 'Callback, settled' }).waitFor()
  await drawer.getByRole('heading', { name: 'Acknowledgement' }).waitFor()
  await drawer.getByLabel('Callback, settled').getByText('"triggered_rules"').waitFor()
  await inspect('results-callback')
})

it('completes a run whose waiting was stopped once all its callbacks have come', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp()
  await page.getByRole('link', { name: 'Sandbox' }).click()
  await page.getByRole('button', { name: 'Start the sandbox' }).click()
  await page.getByRole('radiogroup', { name: 'Parts of the sandbox' }).getByText('Latency and faults').click()
  await page.getByLabel('When and how callbacks are posted').fill('delay=3600s')
  await page.getByRole('region', { name: 'Callbacks' }).getByRole('button', { name: 'Apply' }).click()
  await chooseOperation(page, 'Submit content')
  await page.getByRole('radio', { name: 'Later, by callback (async)' }).check()
  await chooseFile(page, { name: 'later.csv', text: 'user_id,text_data\nu1,hello\nu2,hello again\n' })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Review 2 rows' }).click()
  await page.getByRole('button', { name: 'Send 2 rows' }).click()
  await page.locator('main header').getByText('awaiting', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Stop waiting' }).click()
  await seeRunEnded(page, 'interrupted')
  await page.locator('main header').getByText('all rows sent to').waitFor()
  await inspect('run-stopped-waiting')
  // Callbacks that come after the run has ended are shown with the run.
  const other = await page.context().newPage()
  await other.goto(page.url())
  await other.getByRole('link', { name: 'Sandbox' }).click()
  await other.getByRole('button', { name: 'Send the pending ones now' }).click()
  await page.getByText('2 of 2 rows, 100 %').waitFor()
  await seeRunEnded(page)
  expect(await page.getByRole('button', { name: 'Resume…' }).count()).toBe(0)
  expect(await readShownCounts(page)).toEqual({ succeeded: 2 })
})

it('adds the lines of a JSONL file to an index, and removes them again with the export as it is', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp()
  await chooseOperation(page, 'Add to index')
  await inspect('operation-index')
  await page.getByRole('button', { name: 'sandbox-index' }).click()
  const lines = [1, 2, 3].map((n) => JSON.stringify({ url: `https://cdn.example.com/${n}.png`, n }))
  await chooseFile(page, { name: 'items.jsonl', text: `${lines.join('\n')}\n` })
  expect(await page.getByLabel('Delimiter').count()).toBe(0)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByLabel('n becomes').selectOption('metadata.n')
  await page.getByRole('button', { name: 'Check all rows' }).click()
  await page.getByRole('button', { name: 'Review 3 rows' }).waitFor()
  await sendAll(page)
  await page.getByText('Added to the index').waitFor()
  await inspect('run-index')
  await page.getByRole('button', { name: 'Export the ids' }).click()
  const coming = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Write the file' }).click()
  const text = readFileSync(await (await coming).path(), 'utf8')
  const [, firstItem = ''] = text.split('\n')
  const unknownItem = firstItem.replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, NO_ITEM)

  await chooseOperation(page, 'Remove from index')
  await page.getByText('3 rows written').waitFor({ state: 'detached' })
  await chooseFile(page, { name: 'export.csv', text: `${text.trimEnd()}\n${unknownItem}\n` })
  await page.getByRole('button', { name: 'Continue' }).click()
  await seeScreen(page, 'Mapping')
  await page.getByRole('button', { name: 'Check all rows' }).click()
  await sendAll(page)
  expect(await readShownCounts(page)).toEqual({ succeeded: 3, rejected: 1 })
  await page.getByText('Removed from the index').waitFor()
  const failed = page.getByRole('region', { name: 'Failed items' }).first()
  await failed.getByRole('row', { name: new RegExp(`^5 ${NO_ITEM} rejected .+`) }).waitFor()
  await inspect('run-index-failed')
  await failed.getByRole('button', { name: 'View in the results' }).click()
  await seeScreen(page, 'Results')
})

it('reads the status of appeals without a key', { skip: !inject('walksAll') }, async () => {
  const { page, inspect } = await openApp()
  await chooseOperation(page, 'Appeal status')
  await chooseFile(page, {
    name: 'appeals.csv',
    text: 'appeal_id\nappeal-1\nappeal-2\nappeal-3\nnobody-knows-it\n',
  })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Review 4 rows' }).click()
  await page.getByText('/api/v1/appeals/status/appeal-1').waitFor()
  expect(await page.getByText('authorization').count()).toBe(0)
  await page.getByRole('button', { name: 'Send 4 rows' }).click()
  await seeRunEnded(page)
  await page.getByText('The service does not know an appeal with this id. Check the id.').waitFor()
  await page.getByRole('button', { name: 'overturned' }).click()
  await page.getByText('1 row', { exact: true }).waitFor()
  await inspect('results-appeals')
})

it('takes a folder as it is, serves its media files, and sends whole requests', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp()
  const folder = createTemporaryFolder()
  mkdirSync(join(folder, 'sub'))
  writeFileSync(join(folder, 'hello.txt'), 'hello there')
  writeFileSync(join(folder, 'sub', 'whole.json'), JSON.stringify({ text_data: 'whole', user_id: 'w1' }))
  writeFileSync(join(folder, 'sub', 'pixel one.png'), PIXEL)
  await page.getByTestId('folder').setInputFiles(folder)
  await page.getByText('3 rows parsed, the whole').waitFor()
  await page.getByRole('radio', { name: /^here: Sluice serves them/ }).waitFor()
  await inspect('source-folder')
  await page.getByRole('button', { name: 'Continue' }).click()
  await seeScreen(page, 'Mapping')
  await page.getByText('url, the address of the file').waitFor()
  await page.getByLabel('user_id for all rows').fill('folder')
  await page.getByRole('button', { name: 'Check all rows' }).click()
  await page.getByRole('button', { name: 'Review 3 rows' }).waitFor()
  await sendAll(page)
  expect(await readShownCounts(page)).toEqual({ succeeded: 3 })
})
