import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseRecord, type RecordSyntax } from '../../../../src/main/engine/source/csv/parse-exactly.ts'
import { splitPlainRecords } from '../../../../src/main/engine/source/csv/plain-records.ts'

const WIDTH = 3

const drawnSyntax: fc.Arbitrary<RecordSyntax> = fc.record({
  delimiter: fc.constantFrom(',', ';', '\t', '|', ' '),
  newline: fc.constantFrom('\n', '\n', '\r'),
  quote: fc.constantFrom('"', '"', '"', "'", ''),
  escape: fc.constantFrom('', '', '\\', '^'),
})

const drawnText = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom('a', 'b', 'é', ' ', 'D', 'D', 'N', 'N', 'CELL') },
      { weight: 1, arbitrary: fc.constantFrom('"', '""', '\n', '\r', '\r\n', '\\', '^', "'", '\0') },
    ),
    { maxLength: 24 },
  )
  .map((pieces) => pieces.join(''))

/** `CELL` stands for a quoted cell, `D` for the delimiter, `N` for the line end. */
function fill(text: string, { delimiter, newline }: RecordSyntax, isWindows: boolean): string {
  const lineEnd = isWindows && newline === '\n' ? '\r\n' : newline
  return text.replaceAll('CELL', '"x y"').replaceAll('D', delimiter).replaceAll('N', lineEnd)
}

test('text that needs no parser has the same records as from the exact one, and ends at the same place', () => {
  let taken = 0
  fc.assert(
    fc.property(drawnText, drawnSyntax, fc.boolean(), (drawn, syntax, isWindows) => {
      const text = fill(drawn, syntax, isWindows)
      const plain = splitPlainRecords(text, syntax, WIDTH)
      if (plain === null) return
      const records: string[][] = []
      let cursor = 0
      for (;;) {
        const record = parseRecord(text, cursor, syntax)
        if (record === null) break
        expect(record, text).toMatchObject({ fault: null, hasStrayBreak: false, hasStrayQuote: false })
        records.push(record.cells)
        cursor = record.end
      }
      expect(plain).toEqual({ records, cursor })
      if (records.length > 1) taken += 1
    }),
    { numRuns: 5_000, seed: 1 },
  )
  expect(taken).toBeGreaterThan(300)
})

const COMMAS: RecordSyntax = { delimiter: ',', newline: '\n', quote: '"', escape: '' }

test('quoted cells need no parser, nor do Windows line ends, and a cut-off end waits', () => {
  expect(splitPlainRecords('a,"b, c",d\r\n\r\n"e",,\r\nf,"g', COMMAS, WIDTH)).toEqual({
    records: [['a', 'b, c', 'd'], [''], ['e', '', '']],
    cursor: 21,
  })
})

test.each([
  ['a quote within a cell', '5" screen,b\n'],
  ['a doubled quote', '"a ""b""",c\n'],
  ['a line break within quotes', '"a\nb",c\n'],
  ['a quote that nothing closes', 'a,"b\nc,d\n'],
  ['text behind a quote', '"a" b,c\n'],
  ['white space behind a quote', '"a" ,b\n'],
  ['a backslash', 'a\\,b\n'],
  ['a line break that ends no record', 'a\rb,c\n'],
  ['more cells than columns, with quotes', '"a",b,c,d\n'],
])('%s is left to a parser', (_what, text) => {
  expect(splitPlainRecords(text, COMMAS, WIDTH)).toBeNull()
})
