import { expect, test } from 'vitest'
import type { SourceBatch } from '../../../../src/main/engine/source/source-reader.ts'
import { watchTableEdges } from '../../../../src/main/engine/source/table-edges.ts'
import { readAnySource, writeSource } from './read-source.ts'
import { createWorkbook } from './workbook-files.ts'

const MARKS = ['description_row', 'footer_row', 'second_table']

/** "row as" of the rows reported as not rows, with `!` for those that are not sent. */
async function findMarked(content: string | Uint8Array, name = 'source.csv', options = {}) {
  const { rows } = await readAnySource(writeSource(content, name), options)
  return rows.flatMap(({ row, problems }) =>
    problems.flatMap((problem) => {
      if (!MARKS.includes(problem.code)) return []
      const as =
        problem.code === 'second_table' ? 'table' : 'args' in problem ? Object.values(problem.args)[0] : ''
      return [`${row} ${as}${problem.severity === 'error' ? '!' : ''}`]
    }),
  )
}

const POSTS = Array.from({ length: 8 }, (_, index) => `u${index},text ${index} of mine,${index}5`).join('\n')
const HEADER = 'user_id,text_data,likes\n'

test.each([
  [
    'the questions and import ids of a survey',
    'Finished,user_id,text_data\nDone?,Who are you?,Your opinion\n"{""ImportId"":""f""}","{""ImportId"":""a""}","{""ImportId"":""b""}"\n1,u1,fine\n',
    ['1 questions!', '2 import_ids!'],
  ],
  ['the types of the columns', `${HEADER}VARCHAR(20),text,int\n${POSTS}\n`, ['1 types!']],
  ['units in brackets', `${HEADER}(string),(free text),(count)\n${POSTS}\n`, ['1 unlike']],
  [
    'names above values of other kinds',
    `${HEADER}User,What they wrote,Likes of it\n${POSTS}\n`,
    ['1 unlike'],
  ],
  [
    'other names for the same columns',
    'author,text,lang\nVerfasser,Nachricht,Sprache\nann,hi there,en\nbob,good morning,en\n',
    ['1 unlike'],
  ],
])('a line below the header with %s is reported', async (_, content, expected) => {
  expect(await findMarked(content)).toEqual(expected)
})

test.each([
  ['user_id,text_data,likes\nu1,hi there,3\n', ['1 names']],
  ['Author;Nachricht\nann;hi there\n', ['1 names']],
  ['term\nbad word\nworse\n', ['1 names']],
  ['u1,hi there,3\nuser_id,text_data,likes\n', []],
  ['message,hi there\ntext,post\n', []],
  ['ann,hi there\nbob,text\n', []],
])(
  'the first row of a table without a header is reported if it has the names of fields: %j',
  async (text, expected) => {
    expect(await findMarked(text, 'source.csv', { header: false })).toEqual(expected)
  },
)

test.each([
  ['Total,,360', ['9 total']],
  ['Gesamtergebnis,8 posts,', ['9 total']],
  ['Total users,2,', ['9 total']],
  ['Average,,12.5', ['9 total']],
  ['Generated on 2024-05-01 by Report Server,,', ['9 note']],
  ['Source: Forum database,,', ['9 note']],
  ['Source: Forum database,,\nAll figures are preliminary,,', ['9 note', '10 note']],
  ['\nAll figures are preliminary', ['9 note']],
  ['(8 rows)', ['9 count_above!']],
  ['(1200 rows affected)', ['9 count']],
  ['-- 1200 rows --,,', ['9 count']],
])('a table that ends with %j is reported to have a footer', async (footer, expected) => {
  expect(await findMarked(`${HEADER}${POSTS}\n${footer}\n`)).toEqual(expected)
})

test('a single cell with a word for its column is a text like any other', async () => {
  expect(await findMarked('author,text\nuser,hello\nann,message\n')).toEqual([])
})

test('other names for the same columns below an empty row begin a second table', async () => {
  const rows = 'ann,hi there\nbob,good morning\n\nuser,message\ncleo,good night\n'
  expect(await findMarked(`author,text\n${rows}`)).toEqual(['3 table', '4 table'])
})

test('a row count is content as long as other rows follow it', async () => {
  expect(await findMarked('text_data\nsome text\nmore text\n2 results\nand a last text\n')).toEqual([])
  expect(await findMarked('text_data\nsome text\nmore text\n2 results\n')).toEqual(['3 count_above!'])
  expect(await findMarked(`${HEADER}${POSTS}\n(8 rows)\nu9,text 9 of mine,95\n`)).toEqual(['9 count'])
  expect(await findMarked(`${HEADER}${POSTS}\n(8 rows)\nGenerated on 2024-05-01\n`)).toEqual([
    ...['9 count_above!', '10 note'],
  ])
})

test('two words that are names of types may be a row of two columns, and are only reported', async () => {
  const rows = 'long,text\nu2,another text\nu3,a third\n'
  expect(await findMarked(`user_id,text_data\n${rows}`)).toEqual(['1 unlike'])
})

test('hidden and excluded rows of a sheet do not separate tables', async () => {
  const toCells = (texts: readonly string[]) =>
    texts.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`)
  const toRow = (line: string, number: number, hidden = '') =>
    `<row r="${number}" ${hidden}>${toCells(line.split(',')).join('')}</row>`
  const lines = [HEADER.trim(), ...POSTS.split('\n'), 'moderator,decisions,', 'anna,12,', 'bob,13,']
  const write = async (isEmpty: boolean) => {
    // Below the posts is a hidden row, or none at all.
    const rows = lines.map((line, index) => toRow(line, index + (index > 8 ? 2 : 1)))
    if (!isEmpty) rows.splice(9, 0, toRow('u,hidden,1', 10, 'hidden="1"'))
    return createWorkbook({ sheets: [{ name: 'a', rows: rows.join('') }] })
  }
  const options = { rows: 'visible' }
  expect(await findMarked(await write(false), 'a.xlsx', options)).toEqual([])
  expect(await findMarked(await write(true), 'b.xlsx', options)).toEqual(['9 table', '10 table', '11 table'])
})

test('a workbook is reported to have a footer and a second header line', async () => {
  const toCells = (texts: readonly string[]) =>
    texts.map((text) => (text === '' ? '<c/>' : `<c t="inlineStr"><is><t>${text}</t></is></c>`)).join('')
  const table = ['user_id,text_data,likes', '(text),(text),(count)', ...POSTS.split('\n'), 'Total,,360']
  const rows = table.map((line, index) => `<row r="${index + 1}">${toCells(line.split(','))}</row>`).join('')
  const book = await createWorkbook({ sheets: [{ name: 'a', rows }] })
  expect(await findMarked(book, 'a.xlsx')).toEqual(['1 unlike', '10 total'])
})

test('each of several files is reported to have a footer', async () => {
  const second = writeSource(`${HEADER}${POSTS.replaceAll('text', 'word')}\nTotal,,9\n`, 'b.csv')
  expect(await findMarked(`${HEADER}${POSTS}\nTotal,,360\n`, 'a.csv', { more: [second] })).toEqual([
    '9 total',
    '18 total',
  ])
})

test('rows below an empty record and another header are reported, whatever is read at once', async () => {
  const content = `${HEADER}${POSTS}\n\nModerators\nmoderator,decisions\nanna,12\nbob,13\n`
  const expected = ['10 table', '11 table', '12 table']
  for (const readBytes of [7, 65_536]) {
    expect(
      (await findMarked(content, 'a.csv', { readBytes })).filter((one) => one.endsWith('table')),
    ).toEqual(expected)
  }
})

test.each([
  ['posts between empty records', `${HEADER}${POSTS.replaceAll('\n', '\n\n')}\n`],
  ['a first row without a value', `${HEADER}u0,first text,n/a\n${POSTS}\n`],
  ['posts that speak of totals and sources', `${HEADER}u0,Total,1\nu1,Source: me,2\n${POSTS}\nu9,Total,3\n`],
  ['a name that is a word for figures', `${HEADER}${POSTS}\nMax,hello there,3\n`],
  ['one column of texts', 'text_data\nstring\nGrand total\nwe had 12 rows\nNote: read this\n'],
  ['names and texts only', 'user_id,text_data\nanna,hello\nbob,how are you\n\ncarl,fine\ndora,good\n'],
])('a table with %s is not reported to have other rows', async (_, content) => {
  expect(await findMarked(content)).toEqual([])
})

test.each([
  ['long', 40_000, 101],
  ['huge', 4_000_000, 5],
])('few %s rows are held back, however many come in small batches', async (_, bytes, most) => {
  const read: number[] = []
  function* readBatches(): Generator<SourceBatch> {
    for (let row = 1; row <= 1_000; row += 1) {
      read.push(row)
      const cells = [`u${row}`, `text ${row} of mine`, `${row}`]
      const places = row === 500 ? { places: [{ row, sheetRow: 510, line: 510 }] } : {}
      yield { rows: [{ row, cells, problems: [] }], bytesRead: row * bytes, ...places }
    }
  }
  const rows: number[] = []
  const places: number[] = []
  for await (const batch of watchTableEdges(readBatches(), ['user_id', 'text_data', 'likes'])) {
    expect(read.length - rows.length).toBeLessThanOrEqual(most)
    for (const { row } of batch.rows) rows.push(row)
    for (const { row } of batch.places ?? []) places.push(row)
  }
  expect(rows).toEqual(read)
  expect(places).toEqual([500])
})

test('a table with an empty record between all rows, or a column of mixed values, has no second table', async () => {
  const names = ['bob', 'user123', 'carol', 'user7', 'dave', 'erin', 'user88', 'frank', 'grace', 'user5']
  const rows = Array.from(
    { length: 60 },
    (_, at) => `${names[at % 10] ?? ''},so nice ${'to read '.repeat(at % 3)}`,
  )
  expect(await findMarked(`user_id,text_data\n${rows.join('\n\n')}\n`)).toEqual([])
  const grouped = rows.map((row, at) => (at % 10 === 9 ? `${row}\n` : row))
  expect(await findMarked(`user_id,text_data\n${grouped.join('\n')}\n`)).toEqual([])
  const scores =
    'user_id,text_data,score\nbob,great,unrated\ncarol,nice,unrated\n\ndave,fine,unrated\nerin,bad,4\nfay,odd,3\nguy,yes,5\n'
  expect(await findMarked(scores)).toEqual([])
})

test('terms below an empty row are terms, whatever they look like', async () => {
  const terms = 'term,notes\nfree money,a phrase\ncasino,a word\n'
  expect(await findMarked(`${terms}\nFREE Money,case\n2024,a number\n`)).toEqual([])
  expect(await findMarked(`${terms}\nBuy now,phrase\nv1agra,letters\n`)).toEqual([])
})
