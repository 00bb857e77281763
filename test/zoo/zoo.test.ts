import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect, test } from 'vitest'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'
import { AskedChild } from './ask-child.ts'
import { compareTables } from './compare-tables.ts'
import { compareTexts } from './compare-texts.ts'
import { isExpected } from './report.ts'
import type { ReadTable, SecondCell } from './tables.ts'

const toTable = (rows: ReadTable['rows']): ReadTable => ({
  sheet: 'S',
  reading: 'no header',
  encoding: '',
  delimiter: '',
  quote: '',
  escape: '',
  guessed: [],
  rows,
  isWhole: true,
})

const compare = (text: string, cell: SecondCell | null) =>
  compareTables(toTable([{ number: 3, cells: ['', text], told: [] }]), {
    sheet: 'S',
    cells: cell === null ? {} : { '3,2': cell },
  }).differences.map(({ kind, row, column }) => `${kind} ${row},${column}`)

test.each([
  ['12.5%', { kind: 'number', value: '0.12499', format: '0.0%' }, true],
  ['12.6%', { kind: 'number', value: '0.12499', format: '0.0%' }, false],
  ['-1,234.50 €', { kind: 'number', value: '-1234.5', format: '#,##0.00 [$€-407];-#,##0.00 [$€-407]' }, true],
  ['1.234,50', { kind: 'number', value: '1234.5', format: '#,##0.00' }, false],
  ['01.23.45', { kind: 'number', value: '12345', format: '00\\.00\\.00' }, true],
  ['%', { kind: 'number', value: '0', format: '0.00%;-0.00%;\\%' }, true],
  ['0.3', { kind: 'number', value: '0.30000000000000004', format: 'General' }, true],
  ['2024-02-29', { kind: 'date', value: '2024-02-29 00:00:00', shown: '2024-02-29' }, true],
  ['2024-03-01', { kind: 'date', value: '2024-02-29 00:00:00', shown: '2024-02-29' }, false],
  ['a\r\nb', { kind: 'text', value: 'a\nb' }, true],
  [' a', { kind: 'text', value: 'a' }, false],
  ['', { kind: 'text', value: 'lost' }, false],
  ['anything', { kind: 'unknown', value: '' }, true],
  ['more', null, false],
] satisfies [string, SecondCell | null, boolean][])(
  "a cell is compared with a second reader's (%s, %j: %s)",
  (text, cell, isSame) => {
    expect(compare(text, cell)).toEqual(isSame ? [] : [`${cell?.kind ?? 'extra'} 3,2`])
  },
)

const ROWS = [['1'], ['2'], ['3']]

test.each([
  ['a row that differs', [['a'], ['b']], [['a'], ['c']], [], { differ: 1, told: 0 }],
  ['a line break that differs', [['a\r\nb']], [['a\nb']], [], { differ: 1, told: 0 }],
  ['a row that is told', [['a'], ['b'], ['d']], [['a'], ['c'], ['d']], [1], { differ: 0, told: 1 }],
  ['rows that a told one takes in', [['b\nc'], ['d']], [['b'], ['c'], ['d']], [0], { differ: 0, told: 1 }],
  ['a told row at the end', [['a'], ['b\nc']], [['a'], ['b'], ['c']], [1], { differ: 0, told: 1 }],
  ['what follows a told row', [['b'], ...ROWS, ['e']], [['c'], ...ROWS, ['f']], [0], { differ: 1, told: 1 }],
  [
    'rows at the end that no told one explains',
    [['b'], ['d'], ['e']],
    [['c'], ['d'], ['f']],
    [0],
    { differ: 1, told: 1 },
  ],
  ['a row that is lost', [['a'], ['c']], [['a'], ['b'], ['c']], [], { differ: 2, told: 0 }],
  ['a last row that is lost', [['a']], [['a'], ['b']], [], { differ: 1, told: 0 }],
])('text is compared row by row: %s', (_what, ours, theirs, told, expected) => {
  const rows = ours.map((cells, index) => ({
    number: index + 1,
    cells,
    told: told.some((one) => one === index) ? ['broken_quotes'] : [],
  }))
  const compared = compareTexts(toTable(rows), theirs)
  expect({ differ: compared.differences.length, told: compared.told }).toEqual(expected)
})

test('a difference is expected if every pattern of an entry matches', () => {
  const found = {
    file: 'a.xlsx',
    reader: 'calamine',
    sheet: 'S',
    reading: 'no header' as const,
    row: 1,
    column: 1,
    kind: 'text' as const,
    ours: ' a',
    theirs: 'a',
  }
  expect(isExpected([{ reason: 'trims', reader: '^calamine$', ours: '^\\s' }], found)).toBe(true)
  expect(isExpected([{ reason: 'trims', reader: '^openpyxl$', ours: '^\\s' }], found)).toBe(false)
})

test('a file that crashes or hangs its reader does not affect the next file', async () => {
  const script = join(createTemporaryFolder(), 'child.mjs')
  writeFileSync(
    script,
    `import { readLines } from ${JSON.stringify(import.meta.resolve('./ask-child.ts'))}
     for await (const line of readLines(process.stdin)) {
       const { path } = JSON.parse(line)
       if (path === 'crash') throw new Error('out of cages')
       if (path !== 'hang') process.stdout.write(JSON.stringify({ path }) + '\\n')
     }`,
  )
  const child = new AskedChild<{ path: string }>([process.execPath, script], 60_000)
  expect(await child.ask({ path: 'a' })).toEqual({ kind: 'answer', answer: { path: 'a' } })
  expect(await child.ask({ path: 'a\u2028b' })).toEqual({ kind: 'answer', answer: { path: 'a\u2028b' } })
  expect(await child.ask({ path: 'crash' })).toMatchObject({
    kind: 'crash',
    detail: expect.stringContaining('out of cages'),
  })
  expect(await child.ask({ path: 'hang' }, 100)).toEqual({ kind: 'hang', detail: 'no answer within 0.1 s' })
  expect(await child.ask({ path: 'b' })).toEqual({ kind: 'answer', answer: { path: 'b' } })
  await child.close()
})
