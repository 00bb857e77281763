import { expect, test } from 'vitest'
import { describeFiles } from '../../../../src/main/engine/source/describe-reading.ts'
import { openSource } from '../../../../src/main/engine/source/open-source.ts'
import { previewSource } from '../../../../src/main/engine/source/preview.ts'
import { suggestMapping } from '../../../../src/shared/mapping/match-columns.ts'
import { operationSchema } from '../../../../src/shared/operations/operations.ts'
import { readAnySource, writeSource } from './read-source.ts'
import { createWorkbook } from './workbook-files.ts'

const STRICT = 'http://purl.oclc.org/ooxml/officeDocument/relationships'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const TASK = operationSchema.parse({ kind: 'task' })

/** A cell with a text, or with a formula and its value. */
type Cell = string | { f: string; v: string }

const escapeXml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

const toRow = (number: number, cells: readonly Cell[]) =>
  `<row r="${number}">${cells
    .map((cell, i) => {
      const reference = `${'ABCDEF'[i]}${number}`
      if (typeof cell !== 'string')
        return `<c r="${reference}" t="str">${cell.f.startsWith('<f') ? cell.f : `<f>${escapeXml(cell.f)}</f>`}<v>${escapeXml(cell.v)}</v></c>`
      return /^\d+$/.test(cell)
        ? `<c r="${reference}"><v>${cell}</v></c>`
        : `<c r="${reference}" t="inlineStr"><is><t>${escapeXml(cell)}</t></is></c>`
    })
    .join('')}</row>`

const toSheetRows = (rows: readonly (readonly Cell[])[]) =>
  rows.map((cells, i) => (cells.length === 0 ? '' : toRow(i + 1, cells))).join('')

interface Link {
  ref: string
  target?: string
  location?: string
}

/** A workbook whose sheet has these rows and links, and its path. */
async function writeLinked(
  rows: readonly (readonly Cell[])[],
  links: readonly Link[] = [],
  { office = OFFICE, before = '' } = {},
): Promise<string> {
  const list = links.map(({ ref, target, location }, i) => {
    const id = target === undefined ? '' : ` rel:id="rId${i}"`
    const place = location === undefined ? '' : ` location="${escapeXml(location)}"`
    return `<hyperlink xmlns:rel="${office}" ref="${ref}"${id}${place} tooltip="https://tip.test/"/>`
  })
  const relations = links.flatMap(({ target }, i) =>
    target === undefined
      ? []
      : [
          `<Relationship Id="rId${i}" Type="${office}/hyperlink" Target="${escapeXml(target)}" TargetMode="External"/>`,
        ],
  )
  return writeSource(
    await createWorkbook({
      sheets: [
        {
          name: 'S',
          rows: toSheetRows(rows),
          after: `${before}${list.length === 0 ? '' : `<hyperlinks>${list.join('')}</hyperlinks>`}`,
        },
      ],
      parts: {
        'xl/worksheets/_rels/sheet1.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relations.join('')}</Relationships>`,
      },
    }),
    'book.xlsx',
  )
}

const TABLE = [
  ['user', 'photo'],
  ['u1', 'photo'],
  ['u2', 'see here'],
  ['u3', 'https://a.test/3'],
]

test.each([
  ['transitional', OFFICE],
  ['strict', STRICT],
])('links behind cells are a separate column, in a %s workbook', async (_what, office) => {
  const links = [
    { ref: 'B2', target: 'https://a.test/1' },
    { ref: 'B3', target: 'https://a.test/2?a=1&b=2', location: 'top' },
  ]
  const { columns, cells, warnings } = await readAnySource(await writeLinked(TABLE, links, { office }))
  expect(columns).toEqual(['user', 'photo', 'link of photo'])
  expect(cells).toEqual([
    ['u1', 'photo', 'https://a.test/1'],
    ['u2', 'see here', 'https://a.test/2?a=1&b=2#top'],
    ['u3', 'https://a.test/3', 'https://a.test/3'],
  ])
  expect(warnings).toEqual([])
})

test('unused links are reported with an example and how to send them', async () => {
  const path = await writeLinked(TABLE, [{ ref: 'B2:B3', target: 'https://a.test/1' }])
  const source = { path, header: true }
  const reader = await openSource(source)
  try {
    reader.keepNested?.(['user', 'photo'])
    const cells: string[][] = []
    for await (const { rows } of reader.batches()) cells.push(...rows.map((row) => row.cells))
    expect(cells[0]).toEqual(['u1', 'photo'])
    expect(reader.columns).toEqual(['user', 'photo'])
    expect(reader.findWarnings?.()).toEqual([
      {
        severity: 'warning',
        code: 'linked_cells',
        args: { column: 'photo', linkColumn: 'link of photo', cell: 'B2', address: 'https://a.test/1' },
        rows: 2,
      },
    ])
    expect(describeFiles(reader, source)[0]).not.toHaveProperty('links')
    reader.keepNested?.(['link of photo'])
    expect(reader.columns).toEqual(['user', 'photo', 'link of photo'])
    expect(describeFiles(reader, source)[0]).toMatchObject({ links: ['photo'] })
  } finally {
    reader.close()
  }
})

test.each([
  ['mail addresses', { ref: 'B2', target: 'mailto:a@b.test' }],
  ['places in the workbook', { ref: 'B2', location: 'Other!A1' }],
  ['files', { ref: 'B2', target: 'file:///C:/photo.jpg' }],
  ['a relation that is missing', { ref: 'B9999999:B2', target: 'pictures/1.jpg' }],
  ['the text itself', { ref: 'B4', target: 'https://a.test/3' }],
  ['cells below the last row', { ref: 'B9:B12', target: 'https://a.test/1' }],
  ['the header', { ref: 'B1', target: 'https://a.test/1' }],
])('links to %s are not a column', async (_what, link) => {
  expect((await readAnySource(await writeLinked(TABLE, [link]))).columns).toEqual(['user', 'photo'])
})

test('a link that equals the text except for the slash of the root counts as that text', async () => {
  const rows = [['site'], ['https://a.test']]
  const path = await writeLinked(rows, [{ ref: 'A2', target: 'https://a.test/' }])
  expect((await readAnySource(path)).columns).toEqual(['site'])
})

test('a link over a whole column adds no rows, and gives empty cells of rows its address', async () => {
  const rows = [['user', 'photo'], ['u1', 'photo'], ['u2', ''], [], ['u3', 'x']]
  const path = await writeLinked(rows, [{ ref: 'B1:B1048576', target: 'https://a.test/all' }])
  const { cells } = await readAnySource(path)
  expect(cells.map((row) => row[2])).toEqual(Array(3).fill('https://a.test/all'))
})

test('a link over a whole sheet is one of the columns of its table', async () => {
  const path = await writeLinked(TABLE, [
    { ref: 'A1:XFD1048576', target: 'https://a.test/all' },
    { ref: 'E3', target: 'https://a.test/beside' },
  ])
  const { columns, cells } = await readAnySource(path)
  expect(columns).toEqual(['user', 'photo', 'link of user', 'link of photo'])
  expect(cells[0]).toEqual(['u1', 'photo', 'https://a.test/all', 'https://a.test/all'])
})

test('a cell with two different links has none, with a warning, and one with the same link twice has it', async () => {
  const path = await writeLinked(TABLE, [
    { ref: 'B2:B3', target: 'https://a.test/1' },
    { ref: 'B3', target: 'https://a.test/2' },
    { ref: 'B2', target: 'https://a.test/1' },
  ])
  const { cells, problems } = await readAnySource(path)
  expect(cells.map((row) => row[2])).toEqual(['https://a.test/1', '', 'https://a.test/3'])
  expect(problems).toEqual(['unknown_link 2 warning'])
})

test.each([
  ['HYPERLINK("https://a.test/1","photo")', 'https://a.test/1'],
  ['=hyperlink ( "https://a.test/1?q=""x""" , "a) b" )', 'https://a.test/1?q="x"'],
  ['HYPERLINK("https://a.test/"&A2&"/"&$C$2,"photo")', 'https://a.test/u1/7'],
  ['HYPERLINK("https://a.test/1")', 'https://a.test/1'],
  ['HYPERLINK(A9,"photo")', null],
  ['HYPERLINK(Other!A2,"photo")', null],
  ['HYPERLINK(TRIM(A2),"photo")', null],
  ['IF(A2="","",HYPERLINK("https://a.test/1","photo"))', null],
  ['HYPERLINK("https://a.test/1","x")&"y"', null],
  ['HYPERLINK("#Other!A1","photo")', undefined],
  ['HYPERLINK("mailto:a@b.test","photo")', undefined],
  ['"HYPERLINK(""https://a.test/1"")"', undefined],
  ['CONCATENATE("a","b")', undefined],
])('the formula %s links to %s', async (f, address) => {
  const path = await writeLinked([
    ['user', 'photo', 'n'],
    ['u1', { f, v: 'photo' }, '7'],
  ])
  const { columns, cells, problems } = await readAnySource(path)
  expect(columns).toEqual(['user', 'photo', 'n', ...(address === undefined ? [] : ['link of photo'])])
  expect(cells[0]).toEqual(['u1', 'photo', '7', ...(address === undefined ? [] : [address ?? ''])])
  expect(problems).toEqual(address === null ? ['unknown_link 1 warning'] : [])
})

test('cells that share a formula link to the addresses of their own rows', async () => {
  const shared = (f: string, v: string) => ({ f, v })
  const path = await writeLinked([
    ['id', 'photo'],
    [
      'x1',
      shared('<f t="shared" ref="B2:B3" si="0">HYPERLINK("https://a.test/"&amp;A2,"photo")</f>', 'photo'),
    ],
    ['x2', shared('<f t="shared" si="0"/>', 'photo')],
  ])
  expect((await readAnySource(path)).cells.map((row) => row[2])).toEqual([
    'https://a.test/x1',
    'https://a.test/x2',
  ])
})

test('the link of merged cells belongs to the first, and goes to the others only with its text', async () => {
  const rows = [
    ['user', 'photo'],
    ['u1', 'photo'],
    ['u2', ''],
  ]
  const before = '<mergeCells><mergeCell ref="B2:B3"/></mergeCells>'
  const path = await writeLinked(rows, [{ ref: 'B2:B3', target: 'https://a.test/1' }], { before })
  expect((await readAnySource(path)).cells[1]).toEqual(['u2', '', ''])
  expect((await readAnySource(path, { merged: 'fill' })).cells[1]).toEqual([
    'u2',
    'photo',
    'https://a.test/1',
  ])
})

test('a column with links is named in a preview and fills no field unless a person chooses it', async () => {
  const rows = [
    ['user_metadata.page', 'image'],
    ['p', 'https://a.test/photo'],
  ]
  const path = await writeLinked(rows, [
    { ref: 'A2', target: 'https://a.test/p' },
    { ref: 'B2', target: 'https://a.test/1' },
  ])
  const preview = await previewSource({ path, header: true }, 10)
  expect(preview.links).toEqual([
    { name: 'user_metadata.page', linkName: 'link of user_metadata.page', cell: 'A2' },
    { name: 'image', linkName: 'link of image', cell: 'B2' },
  ])
  const { mapping } = suggestMapping(preview.columns, TASK, preview)
  expect(Object.values(mapping).map((source) => ('column' in source ? source.column : ''))).toEqual([
    'user_metadata.page',
    'image',
    '',
  ])
})

test('wide rows keep their cells before the columns with links', async () => {
  const path = await writeLinked(
    [['photo'], ['photo'], ...Array.from({ length: 600 }, () => ['x']), ['y', 'wide']],
    [{ ref: 'A2', target: 'https://a.test/1' }],
  )
  const { columns, cells } = await readAnySource(path)
  expect(columns).toEqual(['photo', 'Column 2', 'link of photo'])
  expect(cells[0]).toEqual(['photo', '', 'https://a.test/1'])
  expect(cells.at(-1)).toEqual(['y', 'wide', ''])
})
