import { readFileSync } from 'node:fs'
import { expect, inject, it } from 'vitest'
import { holdAnswers } from '../helpers/e2e/held-messages.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import { sendRuns } from '../helpers/e2e/send-rows.ts'
import { seeScreen } from '../helpers/e2e/walk.ts'

const TEXTS = [
  'write to me at jo.miller@example.com or call +44 20 7946 0958',
  'buy followers now, free crypto at https://win.example.com/now',
  'i hate you, you are stupid and worthless',
  'thank you for the quick answer',
  'guten Morgen, wie geht es Ihnen heute, danke der Nachfrage',
]
const LONG_NAME = 'a_field_whose_name_is_much_longer_than_the_column_that_it_has_in_the_details.of_the_row'

/** An ended run of tasks whose answers name languages, models, scores and matches in the texts. */
async function sendRows(workspace: string, count = 60): Promise<string> {
  const rows = Array.from(
    { length: count },
    (_, i) => `"${TEXTS[i % TEXTS.length]}",user-${i},v${i % 2},value ${i}`,
  )
  const text = `text_data,user_id,content_variant,${LONG_NAME}\n${rows.join('\n')}\n`
  const [runId = ''] = await sendRuns(workspace, [{ name: 'posts.csv', text }])
  return runId
}

it('filters rows by their answers, sorts and saves the view, shows more columns, and exports just these rows', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, workspace, inspect } = await openApp({ width: 1440, height: 900 })
  const runId = await sendRows(workspace)
  await page.evaluate(`window.location.hash = '#/run/${runId}/results'`)
  await seeScreen(page, 'Results')
  const scores = page.getByRole('group', { name: 'Score of bullying' })
  await scores.waitFor()
  await inspect('results-scores')

  await scores.getByRole('button', { name: /^bullying at least 2: 12 rows/ }).click()
  await page.getByText('12 rows match').waitFor()
  await page.getByRole('button', { name: /^EN/ }).click()
  await page.getByLabel('Sort by').selectOption({ label: 'Last row first' })
  await page.getByRole('row', { name: /^59 / }).waitFor()

  await page.getByRole('button', { name: 'Save this filter…' }).click()
  await page.getByLabel('Name of the filter').fill('Hateful English')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const saved = page.getByRole('button', { name: 'Hateful English', exact: true })
  await saved.waitFor()
  await page.getByRole('button', { name: 'Show all rows' }).click()
  await page.getByText('60 rows', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Actions for Hateful English' }).click()
  const removing = page.getByRole('menuitem', { name: 'Remove' })
  await removing.waitFor()
  // Keys judge nothing while a menu is open.
  await page.keyboard.press('a')
  await removing.click()
  await page.getByRole('button', { name: 'Undo' }).click()
  await saved.waitFor()
  expect(
    await page
      .getByRole('grid')
      .getByText(/^agree/)
      .count(),
  ).toBe(0)
  await saved.click()
  await page.getByText('12 rows match').waitFor()

  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByLabel('Search the columns').fill('language')
  // A chosen column moves to the shown ones, so this box disappears before it can be seen checked.
  await page.getByRole('checkbox', { name: 'Language' }).first().click()
  await inspect('results-columns')
  await page.keyboard.press('Escape')
  await page.getByRole('columnheader', { name: 'Language' }).waitFor()
  await page.reload()
  await page.getByRole('columnheader', { name: 'Language' }).waitFor()
  await saved.click()
  await page.getByText('12 rows match').waitFor()

  await page.getByRole('button', { name: 'Export these rows' }).click()
  const coming = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Write the file' }).click()
  const lines = readFileSync(await (await coming).path(), 'utf8')
    .trim()
    .split('\r\n')
  expect(lines).toHaveLength(13)
  expect(lines.slice(1).every((line) => line.includes('i hate you'))).toBe(true)
})

it('exports only the rows that triggered a rule, and says how many cells it guarded as formulas', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, workspace, inspect } = await openApp({ width: 1440, height: 900 })
  const texts = ['=1+1 sandbox:spam:3', 'fine; -ok', '-5 sandbox:bullying:3', '@someone hello']
  const text = `text_data,user_id\n${texts.map((one, index) => `${one},user-${index}`).join('\n')}\n`
  const [runId = ''] = await sendRuns(workspace, [{ name: 'formulas.csv', text }])
  await page.evaluate(`window.location.hash = '#/run/${runId}/export'`)
  await seeScreen(page, 'Export')
  await page.getByLabel('Only rows that triggered a rule: 2').click()
  await page.getByText('Writes 2 of 4 rows: what triggered a rule.').waitFor()
  const coming = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Write the file' }).click()
  const lines = readFileSync(await (await coming).path(), 'utf8')
    .trim()
    .split('\r\n')
  expect(lines.slice(1).map((line) => line.split(',')[0])).toEqual([
    "'=1+1 sandbox:spam:3",
    "'-5 sandbox:bullying:3",
  ])
  await page.getByText('2 of 4 rows written: what triggered a rule').waitFor()
  const told = '2 cells have an apostrophe in front, since a spreadsheet would run them as formulas'
  await page.getByText(`${told}; “Lossless” on Export writes them unchanged.`).waitFor()
  await inspect('export-flagged')
})

it('marks what the answer found in the revealed text, and keeps long field names beside their values', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, workspace, inspect } = await openApp({ width: 1440, height: 900 })
  const runId = await sendRows(workspace)
  await page.evaluate(`window.location.hash = '#/run/${runId}/results'`)
  await page.getByRole('row', { name: /^2 / }).click()
  const drawer = page.getByRole('complementary')
  await drawer.getByRole('heading', { name: 'Found in the content' }).waitFor()
  expect(await drawer.getByText('jo.miller@example.com').count()).toBe(0)
  await drawer.getByRole('button', { name: 'Reveal' }).click()
  const mark = drawer.locator('mark', { hasText: 'jo.miller@example.com' })
  await mark.waitFor()
  expect(await mark.getAttribute('title')).toBe('personal data: EMAIL_ADDRESS')
  const name = await drawer
    .getByRole('rowheader', { name: /^a_field_whose_name/ })
    .locator('bdi')
    .boundingBox()
  const value = await drawer.getByRole('cell', { name: 'value 0' }).boundingBox()
  expect((name?.x ?? 0) + (name?.width ?? 0)).toBeLessThanOrEqual(value?.x ?? 0)
  await inspect('results-row-found')
})

it('draws the rows in view first and those of a jump once, with placeholders only if they are late', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, workspace } = await openApp({ width: 1440, height: 900 })
  const runId = await sendRows(workspace, 400)
  const answers = await holdAnswers(page)
  await page.clock.install()
  await page.reload()
  await page.clock.pauseAt(Date.now() + 60_000)
  await page.evaluate(`window.location.hash = '#/run/${runId}/results'`)
  const rows = page.getByRole('grid').getByRole('row')
  const drawSome = async () => {
    await page.clock.runFor(10)
    return rows.count()
  }
  await expect.poll(drawSome).toBeGreaterThan(20)
  const inView = await rows.count()
  await page.clock.runFor(100)
  await expect.poll(() => rows.count()).toBe(inView + 7)
  const waiting = page.getByRole('gridcell', { name: 'Loading' })
  await page.getByRole('grid').focus()

  answers.hold()
  await page.keyboard.press('End')
  await answers.arrived()
  expect(await waiting.count()).toBe(0)
  answers.release()
  await page.getByRole('row', { name: /^401 / }).waitFor()

  answers.hold()
  await page.getByRole('grid').evaluate((grid) => {
    grid.scrollTop = grid.scrollHeight / 2
  })
  await answers.arrived()
  expect(await waiting.count()).toBe(0)
  const waitSome = async () => {
    await page.clock.runFor(10)
    return waiting.count()
  }
  await expect.poll(waitSome).toBeGreaterThan(20)
  answers.release()
  await page.getByRole('row', { name: /^201 / }).waitFor()
  await expect.poll(() => waiting.count()).toBe(0)
})
