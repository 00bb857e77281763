import { expect, test } from 'vitest'
import { readAnySource, writeSource } from './read-source.ts'
import { createWorkbook } from './workbook-files.ts'

const toRow = (...cells: readonly string[]) =>
  `<row>${cells.map((cell) => `<c t="inlineStr"><is><t>${cell}</t></is></c>`).join('')}</row>`

/** Reads a header and ten rows whose cells are merged so; `behind` stands behind them. */
async function readMerged(references: readonly string[], behind = '') {
  const rows = toRow('user', 'text') + toRow('u', 't').repeat(10)
  const cells = references.map((reference) => `<mergeCell ref="${reference}"/>`).join('')
  const after = `<sheetProtection/><mergeCells>${cells}</mergeCells>${behind}`
  return readAnySource(
    writeSource(await createWorkbook({ sheets: [{ name: 'S', rows, after }] }), 'book.xlsx'),
  )
}

test.each([
  ['cells over three rows', ['A2:A4'], 2, 'A2:A4'],
  ['cells over the same and further rows', ['B4:B6', 'A2:A5'], 4, 'A2:A5'],
  ['a cell that begins in the header', ['A1:A3'], 2, 'A1:A3'],
])(
  'rows that have empty cells because of merged ones are counted: %s',
  async (_what, references, rows, example) => {
    const source = await readMerged(references)
    expect(source.warnings).toEqual([
      `${rows}: has cells that are empty because they are merged with one above, such as ${example}`,
    ])
  },
)

test('merged cells of one row and of the header are no warning', async () => {
  expect((await readMerged(['A1:B1', 'A5:B5', 'nowhere'])).warnings).toEqual([])
})

test('what cannot be read behind the rows of a sheet costs no row', async () => {
  const source = await readMerged(['A2:A4'], `<extLst>${'<x>'.repeat(60_000)}`)
  expect(source.cells).toHaveLength(10)
})
