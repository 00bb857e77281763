import { describe, expect, inject, it } from 'vitest'
import { openApp } from '../helpers/e2e/open-app.ts'
import { chooseFile, seeRunEnded, switchTo } from '../helpers/e2e/walk.ts'
import { createWorkbook } from '../main/engine/source/workbook-files.ts'

const text = (value: string) => `<c t="inlineStr"><is><t>${value}</t></is></c>`
const row = (...cells: string[]) => `<row>${cells.map(text).join('')}</row>`

const LINK =
  '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink" Target="https://cdn.example.com/cat.jpg" TargetMode="External"/>'

describe('a workbook with links and merged cells', () => {
  it('offers both on Source, and sends the links and the filled cells once they are chosen', {
    skip: !inject('walksAll'),
  }, async () => {
    const { page, inspect } = await openApp()
    const book = await createWorkbook({
      sheets: [
        {
          name: 'Photos',
          rows: row('user_id', 'photo') + row('u1', 'cat') + row('', 'dog'),
          after:
            '<mergeCells><mergeCell ref="A2:A3"/></mergeCells><hyperlinks><hyperlink ref="B2:B3" r:id="rId1"/></hyperlinks>',
        },
      ],
      parts: {
        'xl/worksheets/_rels/sheet1.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${LINK}</Relationships>`,
      },
    })
    await chooseFile(page, { name: 'photos.xlsx', text: book })
    await page.getByText('Row 3: A3 is empty because it is merged with A2.').waitFor()
    await page.getByText('none malformed').waitFor()
    await page.getByText('Cells have links behind their texts').waitFor()
    await inspect('source-workbook-cells')
    await page.getByRole('button', { name: 'Fill with the first' }).click()
    await page.getByText('A3 is empty').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Use the links as url' }).click()
    await page.getByText('The links behind cells are sent').waitFor()
    await inspect('source-links-used')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Check all rows' }).click()
    await page.getByRole('button', { name: 'Review 2 rows' }).click()
    await switchTo(page.getByLabel('Show content'), true)
    await page.getByText('"url": "https://cdn.example.com/cat.jpg"').waitFor()
  })
})

it('asks on Review about rows from another sheet with the same columns, and sends once that is accepted', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp()
  const toSheet = (name: string, rows: number) => ({
    name,
    rows: row('user_id', 'text_data') + row('u1', `a post of ${name}`).repeat(rows),
  })
  const book = await createWorkbook({ sheets: [toSheet('January', 3), toSheet('February', 2)] })
  await chooseFile(page, { name: 'months.xlsx', text: book })
  await page.getByText('none malformed').waitFor()
  await inspect('source-other-sheets')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Review 3 rows' }).click()
  await page.getByText('February').first().waitFor()
  await inspect('review-other-sheets')
  const send = page.getByRole('button', { name: /^Send 3 rows/ })
  await expect.poll(() => send.isDisabled()).toBe(true)
  await page.getByRole('checkbox', { name: 'Send the 3 rows as they are read' }).check()
  await send.click()
  await seeRunEnded(page)
})
