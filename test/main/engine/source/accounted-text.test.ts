import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { readSource, writeSource } from './read-source.ts'

const RUNS = inject('isLong') ? 5_000 : 150

/** A cell as written, and its text. Words are recognised wherever they end up. */
interface DrawnCell {
  words: string[]
  separator: string
  /** Whether the separator also comes before the first word and after the last. */
  isAround: boolean
  isQuoted: boolean
}

const SEPARATORS = [' ', ', ', '; ', '|', '\t', '"', '""', '\\"', "'", '\n', '\r\n', '\\', '\0']

const drawnFile = fc.record({
  delimiter: fc.constantFrom(',', ';', '\t', '|'),
  quote: fc.constantFrom('"', "'"),
  escapeBy: fc.constantFrom('doubling', 'backslash', 'nothing'),
  newlines: fc.array(fc.constantFrom('\n', '\r\n'), { minLength: 1, maxLength: 3 }),
  columns: fc.integer({ min: 1, max: 4 }),
  titles: fc.constantFrom(0, 0, 0, 1, 2),
  padding: fc.constantFrom(0, 0, 0, 3),
  records: fc.array(
    fc.oneof(
      {
        weight: 8,
        arbitrary: fc.array(
          fc.record({
            words: fc.array(fc.constant<string>('w'), { maxLength: 3 }),
            separator: fc.constantFrom(...SEPARATORS),
            isAround: fc.boolean(),
            isQuoted: fc.boolean(),
          }),
          { minLength: 1, maxLength: 5 },
        ),
      },
      { weight: 1, arbitrary: fc.constantFrom('blank', 'empty', 'header') },
    ),
    { minLength: 1, maxLength: 8 },
  ),
})

type DrawnFile = typeof drawnFile extends fc.Arbitrary<infer File> ? File : never

/** Writes a drawn table with numbered words; returns the text, all words and the texts of all cells. */
function write(file: DrawnFile): { text: string; words: string[]; cells: string[][] } {
  const { delimiter, quote, escapeBy, newlines, columns, titles, padding, records } = file
  const words: string[] = []
  const cells: string[][] = []
  let lines = 0
  const endLine = () => newlines[lines++ % newlines.length] ?? '\n'
  const writeCell = ({ words: drawn, separator, isAround, isQuoted }: DrawnCell): string => {
    const numbered = drawn.map(() => {
      words.push(`w${words.length}x`)
      return words.at(-1) ?? ''
    })
    const text = (isAround ? ['', ...numbered, ''] : numbered).join(separator)
    cells.at(-1)?.push(text)
    if (!isQuoted) return text
    const inside =
      escapeBy === 'doubling'
        ? text.replaceAll(quote, quote + quote)
        : escapeBy === 'backslash'
          ? text.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`)
          : text
    return quote + inside + quote
  }
  const header = Array.from({ length: columns }, (_, index) => `name${index}`).join(delimiter)
  let text = ''
  for (let title = 0; title < titles; title += 1) text += `Title ${title}${endLine()}`
  text += header + endLine()
  for (const record of records) {
    if (record === 'blank') text += endLine()
    else if (record === 'empty') text += delimiter.repeat(columns - 1) + endLine()
    else if (record === 'header') text += header + endLine()
    else {
      cells.push([])
      text += record.map(writeCell).join(delimiter) + endLine()
    }
  }
  return { text: text + '\0'.repeat(padding), words, cells }
}

/** Whether a part of the text is in a cell, with what is sent and what is reported. */
function findLost(text: string, words: readonly string[]): string[] {
  let source: ReturnType<typeof readSource>
  try {
    source = readSource(writeSource(text), { encoding: 'utf-8' })
  } catch {
    // Nothing of a refused file is sent.
    return []
  }
  const told = new Map(source.rows.map(({ row, problems }) => [row, problems]))
  const cells = [...source.columns, ...source.cells.flat()].join('\n')
  const lost = words.filter((word) => !cells.includes(word))
  // Rows that are sent without a warning have no text outside the columns.
  const width = source.columns.findIndex((name) => name.startsWith('Column '))
  for (const { row, cells: found } of source.rows) {
    const isTold = (told.get(row) ?? []).some(({ severity }) => severity === 'error')
    if (isTold || width === -1) continue
    lost.push(...found.slice(width).filter((cell) => cell !== ''))
  }
  return lost
}

test('every word of a file is in a sent cell, in the header, or in a reported row', () => {
  fc.assert(
    fc.property(drawnFile, (file) => {
      const { text, words } = write(file)
      expect(findLost(text, words), JSON.stringify(text)).toEqual([])
    }),
    { numRuns: RUNS, seed: 20_261_126 },
  )
}, 600_000)

test('every cell of a well-formed file is read as written', () => {
  fc.assert(
    fc.property(drawnFile, (file) => {
      const columns = Math.max(2, file.columns)
      const records = file.records
        .filter((record) => typeof record !== 'string')
        .map((record) => Array.from({ length: columns }, (_, index) => toQuoted(record[index])))
      const { text, cells } = write({
        ...file,
        columns,
        records,
        quote: '"',
        escapeBy: 'doubling',
        titles: 0,
      })
      const filled = cells.filter((record) => record.some((cell) => cell !== ''))
      fc.pre(filled.length > 0)
      const source = readSource(writeSource(text), { encoding: 'utf-8' })
      expect(source.cells, JSON.stringify(text)).toEqual(filled)
      expect(source.quoting, JSON.stringify(text)).toMatchObject({ quote: '"', escape: '' })
    }),
    { numRuns: RUNS, seed: 7 },
  )
}, 600_000)

function toQuoted(cell: DrawnCell | undefined): DrawnCell {
  return { words: [], separator: ' ', isAround: false, ...cell, isQuoted: true }
}
