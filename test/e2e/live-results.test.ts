import type { Page } from 'playwright-core'
import { expect, inject, it } from 'vitest'
import { openApp } from '../helpers/e2e/open-app.ts'
import { chooseFile, seeScreen } from '../helpers/e2e/walk.ts'
import { type HeldAnswers, startHeldAnswers } from '../helpers/held-answers.ts'

const ROWS = 400

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at)

/** A run with all rows in flight, and its results screen. */
async function openLiveResults(page: Page): Promise<HeldAnswers> {
  const service = await startHeldAnswers()
  const lines = range(1, ROWS).map((row) => `user-${row},hello number ${row}`)
  await chooseFile(page, { name: 'posts.csv', text: `user_id,text_data\n${lines.join('\n')}\n` })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByRole('radio', { name: 'A service' }).check()
  await page.getByLabel('Base URL').fill(service.baseUrl)
  await page.getByLabel('API key', { exact: true }).fill('live-results-key')
  await page.getByLabel('In flight').fill(String(ROWS))
  await page.getByRole('button', { name: /^Send [\d,]+ rows/ }).click()
  await service.arrivals(ROWS)
  await page.getByRole('link', { name: 'Results' }).click()
  await seeScreen(page, /^Results/)
  return service
}

it('gives a verdict to the row in view, however many rows are inserted before it while the run goes on', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp({ width: 1440, height: 900 })
  const service = await openLiveResults(page)
  // A spreadsheet counts the header too: the text of row 204 has the number 203.
  const selected = page.getByRole('row', { selected: true })
  const said = (words: string) => page.getByText(words, { exact: true }).waitFor()
  service.release(range(200, 249))
  await page.getByRole('button', { name: /^succeeded/ }).click()
  await page.getByText('50 rows match').waitFor()
  await expect.poll(() => selected.textContent()).toMatch(/^201/)
  for (const _ of range(1, 3)) await page.keyboard.press('j')
  await expect.poll(() => selected.textContent()).toMatch(/^204/)

  service.release(range(1, 10))
  await page.getByText('60 rows match').waitFor()
  expect(await selected.textContent()).toMatch(/^204/)
  await page.keyboard.press('a')
  await said('Row 204: agree')
  await page.keyboard.press('j')
  await expect.poll(() => selected.textContent()).toMatch(/^205/)
  await page.keyboard.press('k')

  await page.keyboard.press('Enter')
  const drawer = page.getByRole('complementary', { name: 'Row 204' })
  await drawer.getByRole('button', { name: 'Unsure' }).waitFor()
  service.release(range(11, 20))
  await page.getByText('70 rows match').waitFor()
  await drawer.getByRole('button', { name: 'Unsure' }).click()
  await said('Row 204: unsure')

  // So many rows come that this row may move to another page. Then its position is requested, and the first
  // key press only shows it.
  await page.keyboard.press('Escape')
  service.release(range(21, 190))
  await page.getByText('240 rows match').waitFor()
  await page.keyboard.press('x')
  await expect.poll(() => selected.textContent()).toMatch(/^204/)
  await page.keyboard.press('x')
  await said('Row 204: verdict removed')
  await inspect('results-live')

  // When scrolled, the row stays at the same height in the view.
  const top = async () => Math.round((await selected.boundingBox())?.y ?? -1)
  const before = await top()
  service.release([191, 192])
  await page.getByText('242 rows match').waitFor()
  expect(await selected.textContent()).toMatch(/^204/)
  expect(await top()).toBe(before)
})

it('judges no row without a decision and none in place of one that left the list, and keeps the focus in the search', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp({ width: 1440, height: 900 })
  const service = await openLiveResults(page)
  const selected = page.getByRole('row', { selected: true })
  const said = (words: string) => page.getByText(words, { exact: true }).waitFor()
  await page.getByRole('button', { name: /^sending/ }).click()
  await page.getByText('400 rows match').waitFor()
  await expect.poll(() => selected.textContent()).toMatch(/^2/)
  // Without a decision there is nothing to agree with: the key opens the row, which says that it has none.
  await page.keyboard.press('j')
  await page.keyboard.press('a')
  const undecided = page.getByRole('complementary', { name: 'Row 3' })
  await undecided.getByText('The service has not decided on this row').waitFor()
  expect(await undecided.getByRole('button', { name: 'Agree' }).count()).toBe(0)
  await inspect('results-undecided')
  await page.keyboard.press('Escape')
  await page.keyboard.press('n')
  const note = page.getByRole('dialog', { name: 'Note on row 3' })
  await note.getByLabel('Note').fill('takes long')
  await note.getByRole('button', { name: 'Save' }).click()
  await said('Row 3: unsure')
  service.release([2])
  await page.getByText('399 rows match').waitFor()
  await expect.poll(() => selected.count()).toBe(0)
  await page.keyboard.press('n')
  await page.keyboard.press('j')
  await expect.poll(() => selected.textContent()).toMatch(/^4/)
  await said('Row 3: unsure')

  await page.keyboard.press('Enter')
  const drawer = page.getByRole('complementary', { name: 'Row 4' })
  await drawer.getByRole('button', { name: 'Note' }).waitFor()
  service.release([3])
  await page.getByText('398 rows match').waitFor()
  await drawer.getByText('succeeded').first().waitFor()
  await page.keyboard.press('u')
  await said('Row 4: unsure')

  // Another list opens another row, and the keys that follow remain text.
  await page.keyboard.press('/')
  await page.keyboard.type('number 39')
  await page.getByRole('complementary', { name: 'Row 40' }).waitFor()
  await page.keyboard.type('xa')
  await page.getByText('0 rows match').waitFor()
  await expect.poll(() => page.getByRole('button', { name: 'Export these rows' }).isDisabled()).toBe(true)
  await expect.poll(() => page.getByRole('complementary', { name: /^Row/ }).count()).toBe(0)
  await said('Row 4: unsure')
})

it('shows how the opened row ends, even after so many rows were inserted before it that its page is out of view', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp({ width: 1440, height: 900 })
  const service = await openLiveResults(page)
  const selected = page.getByRole('row', { selected: true })
  await page.getByLabel('Sort by').selectOption({ label: 'Fastest first' })
  const drawer = page.getByRole('complementary', { name: 'Row 2' })
  await expect.poll(() => selected.textContent()).toMatch(/^2/)
  await selected.click()
  await drawer.getByText('sending').first().waitFor()
  service.release(range(2, 300))
  await expect.poll(() => selected.count()).toBe(0)
  service.release([1])
  await drawer.getByText('succeeded').first().waitFor()
})
