import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, inject, it } from 'vitest'
import { holdAnswers, holdCalls } from '../helpers/e2e/held-messages.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import { checkSample, chooseFile, seeRunEnded, seeScreen, sendEverything } from '../helpers/e2e/walk.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

const pressed = (page: Page, name: RegExp) => page.getByRole('button', { name, pressed: true })

it('judges rows by keyboard and by mouse, undoes verdicts, and filters the rows by them', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp()
  await checkSample(page)
  await sendEverything(page)
  await seeRunEnded(page)
  await page.getByRole('link', { name: 'Results' }).click()
  await seeScreen(page, 'Results')
  const grid = page.getByRole('grid')
  await grid.getByRole('row', { name: /^5 / }).waitFor()
  const marks = (words: string) => grid.getByText(new RegExp(`^${words}`))
  await page.keyboard.press('a')
  await marks('agree').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('s')
  const asked = page.getByRole('dialog', { name: /^Rule that row 3 should trigger/ })
  await asked.getByRole('button').nth(1).waitFor()
  await inspect('verdict-rule')
  await page.keyboard.press('1')
  await asked.waitFor({ state: 'detached' })
  await marks('should trigger').waitFor()
  await page.keyboard.press('Control+z')
  await marks('should trigger').waitFor({ state: 'detached' })
  await page.keyboard.press('Control+Shift+Z')
  await marks('should trigger').waitFor()
  await page.keyboard.press('n')
  await page.getByRole('textbox', { name: 'Note' }).fill('quotes an advert')
  await page.keyboard.press('Control+Enter')
  await marks('note').waitFor()

  // Keys judge nothing while a field has the focus.
  await page.keyboard.press('j')
  await page.keyboard.press('/')
  await page.keyboard.type('aux')
  await page.getByText(/rows? match/).waitFor()
  await page.getByRole('button', { name: 'Clear the search' }).click()
  await marks('agree').waitFor()
  expect(await marks('agree').count()).toBe(1)

  await grid.getByRole('row', { name: /^4 / }).click()
  const drawer = page.getByRole('complementary', { name: 'Row 4' })
  await drawer.getByRole('button', { name: 'Unsure' }).click()
  await drawer.getByRole('list', { name: 'Verdicts on this row' }).getByText('unsure').waitFor()
  await inspect('results-verdicts')
  await drawer.getByRole('button', { name: 'Remove: unsure' }).click()
  await drawer.getByRole('list', { name: 'Verdicts on this row' }).waitFor({ state: 'detached' })
  await drawer.getByRole('button', { name: 'Undo' }).click()
  await pressed(page, /^Unsure/).waitFor()
  await page.keyboard.press('Escape')

  const facets = page.getByRole('region', { name: 'Your verdict' })
  await facets.getByRole('button', { name: 'unsure 1' }).click()
  await page.getByText('1 row', { exact: true }).waitFor()
  await grid.getByRole('row', { name: /^4 / }).waitFor()
  // A row whose verdict is undone stays if it was in that list; one that never was does not appear.
  await page.keyboard.press('Control+z')
  await page.getByText('1 judged row no longer matches').waitFor()
  await page.keyboard.press('Control+z')
  await page.keyboard.press('Control+z')
  await page.getByText('Row 2: agree').waitFor()
  expect(await page.getByText(/judged rows? no longer/).textContent()).toMatch(/^1 judged row /)
})

it('labels a sample row by row, leaves, comes back to the same row, and estimates at the end', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp()
  await checkSample(page)
  await sendEverything(page)
  await seeRunEnded(page)
  await page.getByRole('link', { name: 'Labelling' }).click()
  await seeScreen(page, 'Labelling')
  await page.getByText(/^from [\d,]+ answered rows$/).waitFor()
  await inspect('labelling-draw')
  await page.getByLabel('Rows to draw').fill('5')
  await page.getByLabel('Group by').selectOption('Triggered rules')
  await page.getByText('Equal numbers').click()
  await page.getByRole('button', { name: 'Draw and begin' }).click()
  const row = page.getByRole('region', { name: 'The row', exact: true })
  // A key only counts for a row that is shown, not for one that is still loading.
  const seePlace = async (place: number) => {
    await page.getByText(`${place} of 5`).waitFor()
    await row.waitFor()
  }
  await seePlace(1)
  await row
    .getByText(/^hidden \(/)
    .first()
    .waitFor()
  await page.keyboard.press(' ')
  await row.getByText(/^hidden \(/).waitFor({ state: 'detached' })
  await page.keyboard.press('1')
  await pressed(page, /^1/).waitFor()
  await inspect('labelling')
  await page.keyboard.press('Enter')
  await seePlace(2)
  expect(await pressed(page, /^1/).count()).toBe(0)
  await page.keyboard.press('ArrowLeft')
  await page.getByText('You have labelled this row.').waitFor()
  await pressed(page, /^1/).waitFor()
  // Rules that are chosen anew are kept without Enter.
  await page.keyboard.press('2')
  await page.keyboard.press('ArrowRight')
  await seePlace(2)
  await page.keyboard.press('ArrowLeft')
  await seePlace(1)
  await pressed(page, /^2/).waitFor()
  // Rules that are cleared are not kept as they were, even while the content is hidden.
  for (const key of ['1', '2', 'ArrowRight']) await page.keyboard.press(key)
  await seePlace(2)
  await page.keyboard.press('ArrowLeft')
  await seePlace(1)
  await page.getByText('You have labelled this row.').waitFor()
  expect(await pressed(page, /^[12]/).count()).toBe(0)
  for (const key of ['1', '2', 'ArrowRight']) await page.keyboard.press(key)
  await seePlace(2)
  await page.getByRole('button', { name: /^Unsure/ }).click()
  await seePlace(3)
  await page.keyboard.press('s')
  await seePlace(4)
  await page.getByText('2 labelled, 1 skipped').waitFor()

  await page.getByRole('link', { name: 'Results' }).click()
  await seeScreen(page, 'Results')
  await page.getByRole('link', { name: 'Labelling' }).click()
  await seePlace(4)
  const question = page.getByRole('heading', { name: 'Which rules should it trigger?' })
  await question.waitFor()
  // The screen does not reveal that a row triggers nothing before its content is seen.
  const hidden = row.getByText(/^hidden \(/)
  await hidden.first().waitFor()
  await page.getByRole('button', { name: /^Show the content/ }).waitFor()
  await page.keyboard.press('Enter')
  await hidden.first().waitFor({ state: 'detached' })
  await seePlace(4)
  await page.getByText('2 labelled, 1 skipped').waitFor()
  await page.keyboard.press('Enter')
  await seePlace(5)
  await page.keyboard.press('Control+z')
  await seePlace(4)
  await question.waitFor()
  for (const place of [4, 5]) {
    await seePlace(place)
    await page.getByRole('button', { name: /^Show the content/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: /^Triggers nothing/ }).waitFor()
    await page.keyboard.press('Enter')
  }
  await page.getByRole('heading', { name: 'All rows of the sample are seen' }).waitFor()
  await page.getByRole('rowheader', { name: 'Any of these rules' }).waitFor()
  await page.getByText(/^estimated for [\d,]+ of 364 rows from 3 labelled rows$/).waitFor()
  await page.getByText('Groups without a labelled row are left out.').waitFor()
  await inspect('labelling-end')
  await page.getByRole('button', { name: 'Go through the 1 skipped row' }).click()
  await seePlace(3)
  await question.waitFor()
  await page.keyboard.press('s')
  await page.getByRole('button', { name: 'Evaluate in detail' }).click()
  await seeScreen(page, 'Evaluate')
})

it('judges before earlier verdicts are read, and filters by verdicts that are still being stored', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  const calls = await holdCalls(page, '/verdicts/')
  await page.reload()
  await checkSample(page)
  await sendEverything(page)
  await seeRunEnded(page)
  calls.hold()
  await page.getByRole('link', { name: 'Results' }).click()
  const grid = page.getByRole('grid')
  await grid.getByRole('row', { name: /^3 / }).waitFor()
  await calls.arrived()
  for (const key of ['a', 'j', 'u']) await page.keyboard.press(key)
  calls.release()
  await grid.getByRole('row', { name: /^2 / }).getByText('agree').waitFor()
  await grid.getByRole('row', { name: /^3 / }).getByText('unsure').waitFor()

  // Filtering by a verdict includes verdicts that are still being stored.
  const unsure = page.getByRole('region', { name: 'Your verdict' }).getByRole('button', { name: 'unsure 1' })
  await unsure.waitFor()
  calls.hold()
  await page.keyboard.press('j')
  await page.keyboard.press('u')
  await calls.arrived()
  await unsure.click()
  await pressed(page, /^unsure/).waitFor()
  calls.release()
  await page.getByText('2 rows', { exact: true }).waitFor()
})

it('applies keys that are pressed at a row before it is drawn', { skip: !inject('walksAll') }, async () => {
  const { page } = await openApp()
  const calls = await holdCalls(page, '/results/row')
  await drawRows(page, 4)
  const row = page.getByRole('region', { name: 'The row', exact: true })
  await page.getByText('1 of 4').waitFor()
  await row.waitFor()
  calls.hold()
  for (const place of [2, 3]) {
    await page.keyboard.press('1')
    await page.keyboard.press('Enter')
    await page.getByText(`${place} of 4 · ${place - 1} labelled`).waitFor()
    if (place === 2) await row.waitFor()
  }
  await row.waitFor({ state: 'detached' })
  for (const key of ['1', '2', '1', 'Enter']) await page.keyboard.press(key)
  calls.release()
  await page.getByText('4 of 4 · 3 labelled').waitFor()
  await page.keyboard.press('ArrowLeft')
  await page.getByText('3 of 4').waitFor()
  const rules = page.getByRole('region', { name: 'Rules that the row should trigger' })
  await rules.getByRole('button', { pressed: true }).waitFor()
  expect(await rules.getByRole('button', { pressed: true }).textContent()).toMatch(/^2/)
})

it('stays at a row which could not be read, and ignores a key that was pressed there', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  // The step to the third row is lost with the connection as well.
  const calls = await holdCalls(page, /\/results\/row|"at":2,/)
  await drawRows(page, 4)
  const row = page.getByRole('region', { name: 'The row', exact: true })
  await page.getByText('1 of 4').waitFor()
  await row.waitFor()
  calls.hold()
  await page.keyboard.press('s')
  await page.getByText('2 of 4 · 0 labelled, 1 skipped').waitFor()
  await row.waitFor()
  await page.keyboard.press('s')
  await page.getByText('3 of 4 · 0 labelled, 2 skipped').waitFor()
  await row.waitFor({ state: 'detached' })
  for (const key of ['1', 'Enter']) await page.keyboard.press(key)
  calls.lose()
  await row.waitFor()
  await page.keyboard.press('2')
  await pressed(page, /^2/).waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('4 of 4 · 1 labelled, 2 skipped').waitFor()
  await page.keyboard.press('ArrowLeft')
  await page.getByText('3 of 4').waitFor()
  const rules = page.getByRole('region', { name: 'Rules that the row should trigger' })
  await rules.getByRole('button', { pressed: true }).waitFor()
  expect(await rules.getByRole('button', { pressed: true }).textContent()).toMatch(/^2/)
})

it('keeps a label that is given while the sample and its labels are read again', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  const answers = await holdAnswers(page, /\/labelling\/read|\/verdicts\/list/)
  await drawRows(page, 4)
  await page.getByText('1 of 4').waitFor()
  await page.getByRole('region', { name: 'The row', exact: true }).waitFor()
  answers.lose()
  answers.hold()
  await answers.arrived()
  await page.keyboard.press('1')
  await page.keyboard.press('Enter')
  await page.getByText('2 of 4 · 1 labelled, 0 skipped').waitFor()
  answers.release()
  await page.keyboard.press('s')
  await page.getByText('3 of 4 · 1 labelled, 1 skipped').waitFor()
})

it('estimates with the verdict on the last row, even if it is still being stored', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  const calls = await holdCalls(page, '/verdicts/set')
  await drawRows(page, 2)
  const row = page.getByRole('region', { name: 'The row', exact: true })
  for (const place of [1, 2]) {
    await page.getByText(`${place} of 2`).waitFor()
    await row.waitFor()
    if (place === 2) calls.hold()
    await page.keyboard.press('1')
    await page.keyboard.press('Enter')
  }
  await page.getByRole('heading', { name: 'All rows of the sample are seen' }).waitFor()
  await page.evaluate('new Promise(requestAnimationFrame)')
  expect(calls.sent.filter((call) => call.includes('/labelling/estimate'))).toEqual([])
  await page.getByText('Estimating from the labelled rows').waitFor()
  calls.release()
  await page.getByText(/ 2 labelled rows$/).waitFor()
})

it('says above the row that another tab has judged the row before', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  await drawRows(page, 3)
  const tabs = [page, await page.context().newPage()]
  for (const [place, tab] of tabs.entries()) {
    if (place > 0) await tab.goto(page.url())
    await tab.getByText('1 of 3').waitFor()
    await tab.getByRole('region', { name: 'The row', exact: true }).waitFor()
  }
  for (const [place, tab] of tabs.entries()) {
    await tab.keyboard.press(String(place + 1))
    await tab.keyboard.press('Enter')
    await tab.getByText('2 of 3 · 1 labelled').waitFor()
  }
  const [, second = page] = tabs
  const refusal = second.getByRole('alert').filter({ hasText: 'was judged elsewhere meanwhile' })
  await refusal.waitFor()
  const row = await second.getByRole('region', { name: 'The row', exact: true }).boundingBox()
  const notice = await refusal.boundingBox()
  expect((notice?.y ?? 0) + (notice?.height ?? 0)).toBeLessThanOrEqual(row?.y ?? 0)
  expect(row?.width).toBeGreaterThan(500)
  await refusal.getByRole('button', { name: 'Dismiss' }).click()
  await refusal.waitFor({ state: 'detached' })
})

it('shows what another tab has judged once the window is looked at again', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  await checkSample(page)
  await sendEverything(page)
  await seeRunEnded(page)
  await page.getByRole('link', { name: 'Results' }).click()
  const second = await page.context().newPage()
  await second.goto(page.url())
  for (const tab of [page, second]) await tab.getByRole('grid').getByRole('row', { name: /^2 / }).waitFor()
  await second.keyboard.press('a')
  await second.getByText('Row 2: agree').waitFor()
  await second
    .getByRole('region', { name: 'Your verdict' })
    .getByRole('button', { name: 'agree 1' })
    .waitFor()
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")
  await page
    .getByRole('grid')
    .getByText(/^agree/)
    .waitFor()
  await page.getByRole('region', { name: 'Your verdict' }).getByRole('button', { name: 'agree 1' }).waitFor()
})

it('shows which rows a file of verdicts judges otherwise before it replaces any', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp()
  await checkSample(page)
  await sendEverything(page)
  await seeRunEnded(page)
  await page.getByRole('link', { name: 'Results' }).click()
  const grid = page.getByRole('grid')
  await grid.getByRole('row', { name: /^2 / }).waitFor()
  await page.keyboard.press('a')
  await grid.getByText(/^agree/).waitFor()
  await page.getByRole('link', { name: 'Export' }).click()
  const panel = page.getByRole('region', { name: 'Verdicts', exact: true })
  const coming = page.waitForEvent('download')
  await panel.getByRole('button', { name: 'Write the verdicts' }).click()
  await coming
  await panel.getByText(/1 verdict written/).waitFor()
  await panel.getByRole('button', { name: 'Dismiss' }).click()

  const choose = (lines = '2,should,Likely spam\n3,agree,\n') => {
    const buffer = Buffer.from(`row,sluice_verdict,sluice_rule\n${lines}`)
    return page
      .getByTestId('verdicts-file')
      .setInputFiles({ name: 'theirs.csv', mimeType: 'text/csv', buffer })
  }
  await choose('2,,\n')
  await panel.getByText('0 verdicts stored').waitFor()
  await choose()
  await panel.getByText('1 row has other verdicts here').waitFor()
  await panel.getByRole('row', { name: '2 agree should trigger Likely spam' }).waitFor()
  await inspect('export-differing-verdicts')
  await panel.getByRole('button', { name: 'Store nothing' }).click()
  await panel.getByText('1 row with verdicts.').waitFor()
  await choose()
  await panel.getByRole('button', { name: 'Replace its verdicts' }).click()
  await panel.getByText('2 verdicts stored').waitFor()
  await panel.getByText('2 rows with verdicts.').waitFor()
})

it('evaluates the verdicts of the sample in detail, also if the run has a column of labels', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  const posts = Array.from(
    { length: 8 },
    (_, row) => `u1,win a free prize ${row},${row < 4 ? 'spam' : 'ham'}`,
  )
  await chooseFile(page, { name: 'posts.csv', text: `user_id,text_data,truth\n${posts.join('\n')}\n` })
  await page.getByRole('button', { name: 'Continue' }).click()
  await seeScreen(page, 'Mapping')
  await page.getByRole('button', { name: 'Check all rows' }).click()
  await sendEverything(page)
  await seeRunEnded(page)
  await page.getByRole('link', { name: 'Evaluate' }).click()
  await page.getByText('In the column truth (guessed)').waitFor()
  await page.getByRole('link', { name: 'Labelling' }).click()
  await page.getByLabel('Rows to draw').fill('2')
  await page.getByRole('button', { name: 'Draw and begin' }).click()
  for (const place of [1, 2]) {
    await page.getByText(`${place} of 2`).waitFor()
    await page.getByRole('region', { name: 'The row', exact: true }).waitFor()
    await page.keyboard.press('1')
    await page.keyboard.press('Enter')
  }
  await page.getByText('estimated for 8 rows from 2 labelled rows').waitFor()
  await page.getByRole('button', { name: 'Evaluate in detail' }).click()
  await page.getByText('Verdicts of people').waitFor()
  await page.getByText('2 of 8 rows evaluated').waitFor()
})

/** Sends the sample from the page as it is after a reload, and draws rows of it to label. */
async function drawRows(page: Page, rows: number): Promise<void> {
  await page.reload()
  await checkSample(page)
  await sendEverything(page)
  await seeRunEnded(page)
  await page.getByRole('link', { name: 'Labelling' }).click()
  await page.getByLabel('Rows to draw').fill(String(rows))
  await page.getByRole('button', { name: 'Draw and begin' }).click()
}

/** A 64 by 48 pixel bitmap file in two colours. */
function createPicture(): Buffer {
  const [width, height] = [64, 48]
  const pixels = Buffer.alloc(width * height * 3)
  for (let at = 0; at < width * height; at += 1) {
    const isDot = (at % width) % 16 < 8 === Math.floor(at / width) % 16 < 8
    pixels.set(isDot ? [40, 60, 220] : [60, 200, 250], at * 3)
  }
  const head = Buffer.alloc(54)
  head.write('BM', 0)
  head.writeUInt32LE(54 + pixels.length, 2)
  head.writeUInt32LE(54, 10)
  head.writeUInt32LE(40, 14)
  head.writeInt32LE(width, 18)
  head.writeInt32LE(height, 22)
  head.writeUInt16LE(1, 26)
  head.writeUInt16LE(24, 28)
  return Buffer.concat([head, pixels])
}

it('shows pictures blurred and in grey, and reveals them in steps', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp()
  const folder = createTemporaryFolder()
  mkdirSync(join(folder, 'sub'))
  writeFileSync(join(folder, 'a picture.bmp'), createPicture())
  writeFileSync(join(folder, 'sub', 'broken.png'), 'not a picture')
  await page.getByTestId('folder').setInputFiles(folder)
  await page.getByText('2 rows parsed, the whole').waitFor()
  await page.getByRole('button', { name: 'Continue' }).click()
  await seeScreen(page, 'Mapping')
  await page.getByLabel('user_id for all rows').fill('folder')
  await page.getByRole('button', { name: 'Check all rows' }).click()
  await page.getByRole('button', { name: 'Review 2 rows' }).click()
  await page.getByRole('button', { name: 'Send 2 rows' }).click()
  await seeRunEnded(page)
  await page.getByRole('link', { name: 'Results' }).click()
  await page.getByRole('row', { name: /^1 / }).click()
  const readFilter = () => page.evaluate("getComputedStyle(document.querySelector('figure img')).filter")
  await page.getByRole('img', { name: 'What the row shows' }).waitFor()
  await expect.poll(() => page.evaluate("document.querySelector('figure img').naturalWidth")).toBe(64)
  expect(await readFilter()).toMatch(/^grayscale\(1\) blur\(\d+px\)$/)
  await inspect('row-media')
  await page.keyboard.press('m')
  await page.getByText('Greyscale, blurred', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Sharp' }).click()
  await expect.poll(readFilter).toBe('grayscale(1)')
  await page.keyboard.press('m')
  await expect.poll(readFilter).toBe('none')
  await page.keyboard.press('Shift+M')
  await expect.poll(readFilter).toMatch(/blur/)
  await page.keyboard.press('j')
  await page.getByText('The file is not a picture, video or sound that can be shown here.').waitFor()
  await page.keyboard.press('k')
  await page.getByText('Greyscale, strongly blurred').waitFor()
})
