import { readFileSync } from 'node:fs'
import { describe, expect, inject, it } from 'vitest'
import { findSmsFile } from '../helpers/e2e/find-sms-file.ts'
import { holdCalls } from '../helpers/e2e/held-messages.ts'
import { createHostileCsv, HOSTILE_CELLS, HUGE_CELL } from '../helpers/e2e/hostile-csv.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import {
  chooseFile,
  dropFile,
  readShownCounts,
  seeRunEnded,
  seeScreen,
  sendEverything,
  switchTo,
} from '../helpers/e2e/walk.ts'
import { createWorkbook } from '../main/engine/source/workbook-files.ts'

const sms = findSmsFile()
const MESSAGES = inject('isLong') ? 5_572 : 1_000

describe('labelled messages without a header', () => {
  if (sms === null) {
    it.todo(
      'are dropped, read without a header, and column 2 is mapped (../shared/data/sms-spam.csv is absent)',
    )
    return
  }
  it('are dropped, read without a header, mapped by column 2, and trigger rules', async () => {
    const { page, inspect } = await openApp()
    const whole = readFileSync(sms, 'utf8')
    // One of the first messages has a line break.
    const text = inject('isLong') ? whole : whole.split('\r\n', MESSAGES + 1).join('\r\n')
    await dropFile(page, { name: 'sms-spam.csv', text })
    await switchTo(page.getByLabel('Header row'), false)
    await page.getByRole('columnheader', { name: 'Column 2' }).waitFor()
    await page.getByRole('button', { name: 'Continue' }).click()
    await seeScreen(page, 'Mapping')
    await expect.poll(() => page.getByRole('button', { name: 'Check all rows' }).isDisabled()).toBe(true)
    await page.getByText('text_data or url is required, but neither is mapped.').waitFor()
    await inspect('mapping-no-header')
    await page.getByLabel('Column 2 becomes').selectOption('text_data')
    await page.getByLabel('user_id for all rows').fill('sms-import')
    await page.getByRole('button', { name: 'Check all rows' }).click()
    await page.getByRole('button', { name: `Review ${MESSAGES.toLocaleString('en-US')} rows` }).waitFor()
    await inspect('check-warnings')
    await sendEverything(page)
    await page.getByRole('button', { name: 'Likely spam' }).waitFor()
    await seeRunEnded(page)
    expect(await readShownCounts(page)).toEqual({ succeeded: MESSAGES })
  })
})

describe('the preview', () => {
  it('is read again at once when header, delimiter or encoding change', {
    skip: !inject('walksAll'),
  }, async () => {
    const { page } = await openApp()
    const text = Buffer.from('user_id;text_data\r\nu1;Gr\xfc\xdfe, Welt\r\nu2;Zwei\r\n', 'latin1')
    await chooseFile(page, { name: 'german.csv', text })
    await page.getByLabel('Encoding').selectOption('windows-1252')
    await switchTo(page.getByLabel('Show content'), true)
    await page.getByText('Grüße, Welt').waitFor()
    await page.getByLabel('Delimiter').selectOption(',')
    await page.getByRole('columnheader', { name: 'user_id;text_data' }).waitFor()
    await page.getByLabel('Delimiter').selectOption(';')
    await page.getByRole('columnheader', { name: 'text_data', exact: true }).waitFor()
    await switchTo(page.getByLabel('Header row'), false)
    await page.getByRole('columnheader', { name: 'Column 1' }).waitFor()
    await page.getByText('3 rows parsed, the whole file').waitFor()
  })
})

describe('an encoding that is uncertain', () => {
  it('is reported where it occurs, and one click chooses the encoding in which the words read right', {
    skip: !inject('walksAll'),
  }, async () => {
    const { page, inspect } = await openApp()
    const text = Buffer.from('user_id,text_data\nu1,\xe6\xf8\xe5\n', 'latin1')
    await chooseFile(page, { name: 'danish.csv', text })
    await page.getByText('Windows 1255 (Hebrew), uncertain').waitFor({ state: 'attached' })
    const doubt = page.getByRole('status').filter({ hasText: 'The encoding is uncertain' })
    expect(await doubt.getByText('hidden (3 characters)').count()).toBe(4)
    await doubt.getByRole('button', { name: 'Show the words' }).click()
    await doubt.getByText('æøå').waitFor()
    await inspect('source-uncertain-encoding')
    await doubt.getByRole('button', { name: 'Use Windows 1252' }).click()
    await doubt.waitFor({ state: 'detached' })
    expect(await page.getByLabel('Encoding').inputValue()).toBe('windows-1252')
    await switchTo(page.getByLabel('Show content'), true)
    await page.getByRole('gridcell', { name: 'æøå' }).waitFor()
  })
})

describe('a workbook', () => {
  it('is read from the chosen sheet and row, with cells as they are displayed', {
    skip: !inject('walksAll'),
  }, async () => {
    const { page } = await openApp()
    const text = (value: string) => `<c t="inlineStr"><is><t xml:space="preserve">${value}</t></is></c>`
    const row = (...cells: string[]) => `<row>${cells.map(text).join('')}</row>`
    const book = await createWorkbook({
      sheets: [
        { name: 'Cover', rows: row('Messages of March') },
        { name: 'Messages', rows: row('made by hand') + row('user_id', 'text_data') + row('007', ' hi ') },
      ],
    })
    await chooseFile(page, { name: 'march.xlsx', text: book })
    expect(await page.getByLabel('Encoding').count()).toBe(0)
    await page.getByLabel('Sheet').selectOption('Messages')
    await page.getByRole('columnheader', { name: 'made by hand' }).waitFor()
    await page.getByLabel('Header in row').fill('2')
    await page.getByRole('columnheader', { name: 'text_data' }).waitFor()
    await page.getByText('1 row parsed, the whole').waitFor()
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Review 1 row' }).click()
    await page.getByText('"text_data": "hidden (4 characters)"').waitFor()
    await switchTo(page.getByLabel('Show content'), true)
    await page.getByText('"text_data": " hi "').waitFor()
    await page.getByText('"user_id": "007"').waitFor()
    await page.getByRole('button', { name: 'Send 1 row' }).click()
    await seeRunEnded(page)
    await page.getByRole('link', { name: 'Export' }).click()
    await page.getByRole('radio', { name: 'Excel workbook' }).check()
    const coming = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Write the file' }).click()
    const exported = readFileSync(await (await coming).path())
    await page.getByText('1 row written').waitFor()
    await chooseFile(page, { name: 'results.xlsx', text: exported })
    await page.getByRole('columnheader', { name: 'sluice_state' }).waitFor()
  })
})

describe('a first line that looks like a row', () => {
  it('prompts a question, and one click makes it a row', { skip: !inject('walksAll') }, async () => {
    const { page, inspect } = await openApp()
    const lines = ['a', 'b', 'c'].map((name) => `https://cdn.example.com/${name}.png,u-${name}`)
    await chooseFile(page, { name: 'bare.csv', text: lines.join('\n') })
    await page.getByRole('button', { name: 'It is a row' }).waitFor()
    await inspect('source-no-header')
    await page.getByRole('button', { name: 'It is a row' }).click()
    await page.getByText('3 rows parsed').waitFor()
    await page.getByText('The first line looks like a row').waitFor({ state: 'detached' })
  })
})

it('masks a column on Source too once the person has said that it is content', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  await chooseFile(page, { name: 'short.csv', text: 'user_id,q1\nu1,idiot\nu2,fool\nu3,idiot\nu4,fool\n' })
  const grid = page.getByRole('grid', { name: 'First rows of the source' })
  // Repeated values look like labels.
  await grid.getByText('idiot').first().waitFor()
  await page.getByRole('button', { name: 'Continue' }).click()
  await seeScreen(page, 'Mapping')
  await page.getByLabel('q1 becomes').selectOption('text_data')
  await page.getByText('hidden (5 characters)').first().waitFor()
  await page.getByRole('link', { name: 'Source' }).click()
  await grid.getByText('hidden (5 characters)').first().waitFor()
  expect(await grid.getByText('idiot').count()).toBe(0)
})

describe('hostile content', () => {
  it('is text on every screen, hides nothing, and a huge cell does not get in the way', {
    skip: !inject('walksAll'),
  }, async () => {
    const { page, inspect } = await openApp()
    await chooseFile(page, { name: 'hostile <img src=x onerror=alert(1)>.csv', text: createHostileCsv() })
    const grid = page.getByRole('grid')
    await grid.getByText('hidden (1,048,576 characters)').waitFor()
    expect(await grid.getByText(HOSTILE_CELLS.script).count()).toBe(0)
    await switchTo(page.getByLabel('Show content'), true)
    for (const cell of [
      HOSTILE_CELLS.script,
      HOSTILE_CELLS.image,
      HOSTILE_CELLS.formula,
      HOSTILE_CELLS.emoji,
    ]) {
      await grid.getByText(cell, { exact: true }).first().waitFor()
    }
    await expect.poll(() => grid.getByTitle('right-to-left override').count()).toBeGreaterThan(0)
    await grid.getByTitle('zero-width space ×2').first().waitFor()
    await page.getByRole('button', { name: 'Continue' }).click()
    await seeScreen(page, 'Mapping')
    await page.getByRole('button', { name: 'Check all rows' }).click()
    await page.getByRole('button', { name: /^Review 11 rows/ }).click()
    await page.getByText(`"text_data": ${JSON.stringify(HOSTILE_CELLS.script)}`).waitFor()
    await page.getByRole('button', { name: /^Send 11 rows/ }).click()
    await seeRunEnded(page)

    await page.getByRole('link', { name: 'Results' }).click()
    await grid.getByText('succeeded').first().waitFor()
    await switchTo(page.getByLabel('Show content'), false)
    expect(await grid.getByText(HOSTILE_CELLS.script).count()).toBe(0)
    await switchTo(page.getByLabel('Show content'), true)
    await grid.getByText(HOSTILE_CELLS.script, { exact: true }).first().waitFor()
    await inspect('results-hostile')
    await grid.focus()
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    const drawer = page.getByRole('complementary')
    await drawer.getByRole('button', { name: 'Show all 1,048,576 characters' }).click()
    const shown = await drawer.getByLabel('text_data', { exact: true }).textContent()
    expect(shown === HUGE_CELL).toBe(true)
    expect(await page.evaluate('window.pwned')).toBeUndefined()
  })
})

describe('several files', () => {
  it('become one run when chosen together, are listed, and one can be left out', {
    skip: !inject('walksAll'),
  }, async () => {
    const { page, inspect } = await openApp()
    const toFile = (name: string, text: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
    await page
      .getByTestId('file')
      .setInputFiles([
        toFile('week-2.csv', 'text_data;user_id\nThird;u1\n'),
        toFile('week-1.csv', 'user_id,text_data\nu1,First\nu2,Second\nu3,\n'),
        toFile('week-3.tsv', 'user_id\ttext_data\nu3\tFourth\n'),
      ])
    const files = page.getByRole('region', { name: 'Files' })
    await files.getByText('3 files, one after the other').waitFor()
    await files.getByText(/^CSV, UTF-8, 3 rows,/).waitFor()
    await page.getByText('5 rows parsed, all files').waitFor()
    await inspect('source-several-files')
    await files.getByRole('button', { name: 'Leave out week-2.csv' }).click()
    await page.getByText('4 rows parsed, all files').waitFor()
    expect(await files.getByRole('listitem').count()).toBe(2)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Edit row 4 of week-1.csv' }).waitFor()
    await page.getByRole('rowheader', { name: '4 of week-1.csv' }).waitFor()
    await inspect('check-several-files')
    await page.getByRole('button', { name: 'Review 3 rows' }).waitFor()
    await sendEverything(page)
    await seeRunEnded(page)
    await page.getByRole('link', { name: 'Results' }).click()
    await page.getByRole('columnheader', { name: 'File' }).waitFor()
    await page.getByRole('gridcell', { name: 'week-3.tsv' }).waitFor()
    const facet = page.getByRole('region', { name: 'File', exact: true })
    await facet.getByRole('button', { name: /^week-3\.tsv ?1$/ }).click()
    await page.getByText('1 row', { exact: true }).first().waitFor()
    await inspect('results-several-files')
    await page.getByRole('button', { name: 'Export these rows' }).click()
    await seeScreen(page, 'Export')
    await page
      .getByText(/file week-3\.tsv/)
      .first()
      .waitFor()
    await inspect('export-one-file')
  })
})

describe("a file for OpenAI's batch API", () => {
  it('is recognized, can be read as plain JSON lines, and gives an export in its own form', {
    skip: !inject('walksAll'),
  }, async () => {
    const { page, inspect } = await openApp({ width: 1440, height: 900 })
    const text = [['sandbox:spam:3 buy now', 'see you'], 'hello']
      .map((input, index) =>
        JSON.stringify({
          custom_id: `r-${index}`,
          method: 'POST',
          url: '/v1/moderations',
          body: { model: 'omni-moderation-latest', input },
        }),
      )
      .join('\n')
    await chooseFile(page, { name: 'requests.jsonl', text })
    await page.getByRole('columnheader', { name: 'post_id' }).waitFor()
    await inspect('source-openai-batch')
    await page.getByLabel('Format').selectOption('jsonl')
    await page.getByRole('columnheader', { name: 'custom_id' }).waitFor()
    await page.getByRole('columnheader', { name: 'post_id' }).waitFor({ state: 'detached' })
    await page.getByLabel('Format').selectOption('openai-batch')
    await page.getByRole('columnheader', { name: 'post_id' }).waitFor()
    await page.getByRole('button', { name: 'Continue' }).click()
    await seeScreen(page, 'Mapping')
    await page.getByLabel('user_id for all rows').fill('someone')
    await page.getByRole('button', { name: 'Check all rows' }).click()
    await sendEverything(page)
    await seeRunEnded(page)
    const runId = /#\/run\/([^/]+)/.exec(page.url())?.[1] ?? ''
    await page.evaluate(`window.location.hash = '#/run/${runId}/export'`)
    await seeScreen(page, 'Export')
    await page.getByRole('radio', { name: 'OpenAI batch output' }).check()
    await inspect('export-openai-batch')
    const coming = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Write the file' }).click()
    const download = await coming
    expect(download.suggestedFilename()).toMatch(/\.batch-output\.jsonl$/)
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n')
    expect(
      lines
        .map((line) => JSON.parse(line))
        .map(({ custom_id, response }) => [
          custom_id,
          response.body.results.map(({ flagged }: { flagged: boolean }) => flagged),
        ]),
    ).toEqual([
      ['r-0', [true, false]],
      ['r-1', [false]],
    ])
  })
})

describe('a file that is dropped while the rows of another are being checked', () => {
  it('is the one that is sent', { skip: !inject('walksAll') }, async () => {
    const { page } = await openApp()
    const calls = await holdCalls(page, '/runs/start')
    await page.reload()
    await chooseFile(page, { name: 'old.csv', text: 'text_data,user_id,post_id\nOld.,u1,p1\nOlder.,u2,p2\n' })
    calls.hold()
    await page.getByRole('button', { name: 'Continue' }).click()
    await calls.arrived()
    await dropFile(page, { name: 'new.csv', text: 'text_data,user_id,post_id\nNew.,u3,p3\n' })
    calls.release()
    await page.getByRole('columnheader', { name: 'text_data' }).waitFor()
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Review 1 row', exact: true }).click()
    await page.getByText('"post_id": "p3"').waitFor()
  })
})
