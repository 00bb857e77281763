import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { expect, inject, it } from 'vitest'
import { openApp } from '../helpers/e2e/open-app.ts'
import { sendRuns } from '../helpers/e2e/send-rows.ts'
import { chooseFile, seeRunEnded, seeScreen, sendEverything, switchTo } from '../helpers/e2e/walk.ts'

const HATEFUL = 'i hate you, you are stupid and worthless'

/** Rows of which every fifth triggers rules. */
function createRows(count: number): string {
  const texts = Array.from({ length: count }, (_, i) => (i % 5 === 0 ? HATEFUL : `a kind word number ${i}`))
  return `text_data,user_id\n${texts.map((text, i) => `"${text}",user-${i}`).join('\n')}\n`
}

/** Opens a run from the list, as a person does when switching runs. */
async function openRun(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  await page.getByRole('button', { name, exact: true }).click()
  await seeScreen(page, new RegExp(`of ${name}$`))
}

async function countWritten(page: Page): Promise<number> {
  const coming = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Write the file' }).click()
  const lines = readFileSync(await (await coming).path(), 'utf8')
    .trim()
    .split('\r\n')
  return lines.length - 1
}

it('filters one run without filtering the results and export of another', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, workspace } = await openApp({ width: 1440, height: 900 })
  await sendRuns(workspace, [
    { name: 'monday.csv', text: createRows(60) },
    { name: 'tuesday.csv', text: createRows(40) },
  ])
  await page.reload()
  await openRun(page, 'monday.csv')
  await page.getByRole('link', { name: 'Results' }).click()
  await page.getByRole('button', { name: /^bullying at least 2: 12 rows/ }).click()
  await page.getByText('12 rows match').waitFor()
  await page.getByRole('button', { name: 'Export these rows' }).click()
  expect(await countWritten(page)).toBe(12)

  await openRun(page, 'tuesday.csv')
  await page.getByRole('link', { name: 'Results' }).click()
  await page.getByText('40 rows', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Export' }).click()
  expect(await countWritten(page)).toBe(40)

  // The filter of the previous visit is forgotten.
  await openRun(page, 'monday.csv')
  await page.getByRole('link', { name: 'Export' }).click()
  expect(await countWritten(page)).toBe(60)
})

it('says how many of all rows a file gets and by which filter, wherever the export is opened from', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, workspace, inspect } = await openApp({ width: 900, height: 600 })
  const [runId = ''] = await sendRuns(workspace, [{ name: 'monday.csv', text: createRows(60) }])
  await page.evaluate(`window.location.hash = '#/run/${runId}/results'`)
  await page.getByRole('button', { name: /^bullying at least 2: 12 rows/ }).click()
  await page.getByText('12 rows match').waitFor()
  await page.getByRole('button', { name: 'Export these rows' }).click()
  await page.getByText('Writes 12 of 60 rows: bullying at least 2').waitFor()
  await inspect('export-narrowed')
  expect(await countWritten(page)).toBe(12)
  await page.getByText('12 of 60 rows written: bullying at least 2').waitFor()
  await page.getByRole('link', { name: 'Results' }).click()
  await page.getByText('12 rows match').waitFor()

  // Opened by the tab, it writes all rows unless a person chooses otherwise.
  await page.getByRole('link', { name: 'Export' }).click()
  await page.getByText('Writes all 60 rows').waitFor()
  await page.getByRole('radio', { name: 'The rows of the results as they are filtered: 12' }).check()
  await page.getByText('Writes 12 of 60 rows').waitFor()
  await page.getByRole('radio', { name: 'Only rows in one state' }).check()
  await page.getByText('Writes 60 of 60 rows: succeeded').waitFor()
  await page.getByRole('link', { name: 'Results' }).click()
  await page.getByText('12 rows match').waitFor()
  await page.getByRole('button', { name: 'Show all rows' }).click()
  await page.getByRole('link', { name: 'Export' }).click()
  await page.getByText('Writes all 60 rows').waitFor()
  expect(await page.getByRole('radio', { name: /as they are filtered/ }).count()).toBe(0)
})

it("hides a run's content again at the next visit and in every other run", {
  skip: !inject('walksAll'),
}, async () => {
  const { page, workspace } = await openApp({ width: 1440, height: 900 })
  await sendRuns(workspace, [
    { name: 'monday.csv', text: createRows(10) },
    { name: 'tuesday.csv', text: createRows(10) },
  ])
  await page.reload()
  const shown = page.getByRole('gridcell', { name: HATEFUL }).first()
  const hidden = page.getByRole('gridcell', { name: /^hidden \(/ }).first()
  const openResults = async (name: string) => {
    await openRun(page, name)
    await page.getByRole('link', { name: 'Results' }).click()
  }
  await openResults('monday.csv')
  await hidden.waitFor()
  await switchTo(page.getByLabel('Show content'), true)
  await shown.waitFor()
  // Still the same visit.
  await page.getByRole('link', { name: 'Export' }).click()
  await page.getByRole('link', { name: 'Results' }).click()
  await shown.waitFor()

  await openResults('tuesday.csv')
  await hidden.waitFor()
  await expect.poll(() => page.getByLabel('Show content').isChecked()).toBe(false)
  expect(await shown.count()).toBe(0)
  await openResults('monday.csv')
  await hidden.waitFor()
  expect(await shown.count()).toBe(0)
})

it('undoes a verdict in its own run, even after another run was judged', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, workspace } = await openApp({ width: 1440, height: 900 })
  await sendRuns(workspace, [
    { name: 'monday.csv', text: createRows(10) },
    { name: 'tuesday.csv', text: createRows(10) },
  ])
  await page.reload()
  const agreed = page.getByRole('region', { name: 'Your verdict' }).getByRole('button', { name: 'agree 1' })
  const openResults = async (name: string) => {
    await openRun(page, name)
    await page.getByRole('link', { name: 'Results' }).click()
    await page
      .getByRole('gridcell', { name: /^hidden \(/ })
      .first()
      .waitFor()
  }
  for (const name of ['monday.csv', 'tuesday.csv']) {
    await openResults(name)
    await page.keyboard.press('j')
    await page.keyboard.press('a')
    await agreed.waitFor()
  }
  await openResults('monday.csv')
  await agreed.waitFor()
  await page.keyboard.press('Control+z')
  await agreed.waitFor({ state: 'detached' })
  await openResults('tuesday.csv')
  await agreed.waitFor()
})

it('treats a file that is chosen twice as one source, in the trend and for its baseline', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp({ width: 1440, height: 900 })
  for (const isFirst of [true, false]) {
    await chooseFile(page, { name: 'posts.csv', text: createRows(3) })
    await page.getByRole('button', { name: 'Continue' }).click()
    await seeScreen(page, 'Check')
    await sendEverything(page)
    await seeRunEnded(page)
    await page.getByRole('button', { name: 'Compare' }).click()
    if (isFirst) await page.getByRole('menuitem', { name: 'Make it the baseline of its source' }).click()
    else await page.getByRole('menuitem', { name: 'With the baseline default' }).waitFor()
    await page.keyboard.press('Escape')
  }
  await page.getByRole('link', { name: 'Trend' }).click()
  await page.getByText('All runs of posts.csv').waitFor()
  const lines = page.getByRole('table', { name: 'Figures of each run, oldest first' }).getByRole('row')
  expect(await lines.count()).toBe(3)
  expect(await lines.getByText('submit content · the sandbox').count()).toBe(2)
})

it('says in one tab what another did to the run: changed its note, or deleted it', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, workspace, inspect } = await openApp()
  const [runId = ''] = await sendRuns(workspace, [{ name: 'monday.csv', text: createRows(20) }])
  const other = await page.context().newPage()
  await other.goto(page.url())
  await page.evaluate(`window.location.hash = '#/run/${runId}/sql'`)
  await seeScreen(page, /of monday.csv$/)
  await page.getByRole('button', { name: 'Edit name, tags and note' }).click()
  await page.getByRole('textbox', { name: 'Note' }).fill('second')

  await other.getByRole('button', { name: /^Edit name, tags and note of monday/ }).click()
  await other.getByRole('textbox', { name: 'Name' }).fill('Monday')
  await other.getByRole('textbox', { name: 'Note' }).fill('first')
  await other.keyboard.press('Control+Enter')
  await other.getByText('was changed').waitFor()
  await page.getByRole('heading', { name: 'Monday', level: 1, includeHidden: true }).waitFor()
  await page.keyboard.press('Control+Enter')
  await page.getByText('It is now: “first”').waitFor()
  await inspect('run-note-changed-meanwhile')
  // Whoever has read it can replace it.
  await page.keyboard.press('Control+Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await other.getByText('second').waitFor()

  await other.getByRole('button', { name: 'Actions for Monday' }).click()
  await other.getByRole('menuitem', { name: 'Delete…' }).click()
  await other
    .getByRole('dialog')
    .getByRole('button', { name: /^Delete/ })
    .click()
  await page.getByRole('heading', { name: 'This run cannot be read' }).waitFor()
  await page.getByText('Run the statement').waitFor({ state: 'detached' })
  await inspect('run-deleted-meanwhile')
})
