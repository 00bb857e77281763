import type { ReadSource } from '../../main/engine/source/read-source.ts'
import type { DrawnText } from './drawn-text.ts'

/**
 * Changes a read source like a faulty reader; returns it unchanged if the fault does not show in this text.
 */
export type PlantedFault = (source: ReadSource, drawn: DrawnText) => ReadSource

/** Faults of a reader that no check may miss, named by their effect. */
export const PLANTED_FAULTS: Readonly<Record<string, PlantedFault>> = {
  'loses the last character of a cell in quotes': inFirst(/[^"]$/, (cell) => cell.slice(0, -1), '"'),
  'loses the last character of any cell': inFirst(/.$/su, (cell) => cell.replace(/.$/su, '')),
  'loses the last cell of a row': inFirstRow(
    ({ cells }) => cells.length > 1 && cells.at(-1) !== '',
    (cells) => cells.slice(0, -1),
  ),
  'loses the last record of a file without a line end': (source, { text }) =>
    /[\r\n]$/.test(text) ? source : { ...source, rows: source.rows.slice(0, -1) },
  'loses a record': (source) => ({
    ...source,
    rows: source.rows.toSpliced(Math.floor(source.rows.length / 2), 1),
  }),
  'makes one record of two': (source) => {
    const [one, two, ...rest] = source.rows
    if (one === undefined || two === undefined) return source
    return { ...source, rows: [{ ...one, cells: [...one.cells, ...two.cells] }, ...rest] }
  },
  'joins two cells': inFirstRow(
    ({ cells }) => cells.length > 1,
    ([one = '', two = '', ...rest]) => [one + two, ...rest],
  ),
  'eats a backslash': inFirst(/\\/, (cell) => cell.replace('\\', '')),
  'trims a space': inFirst(/^\s+|\s+$/u, (cell) => cell.trim()),
  'swallows a CR': inFirst(/\r/, (cell) => cell.replace('\r', '')),
  'makes LF of CRLF': inFirst(/\r\n/, (cell) => cell.replace('\r\n', '\n')),
  'leaves a doubled quote doubled': inFirst(/"/, (cell) => cell.replace('"', '""')),
  'loses a NUL': inFirst(/\0/, (cell) => cell.replace('\0', '')),
  'loses a character that two reads split': (source, drawn) => {
    const split = findSplitCharacter(drawn)
    return split === null ? source : inFirst(split, (cell) => cell.replace(split, ''))(source, drawn)
  },
  'exchanges two cells': inFirstRow(
    ({ cells }) => cells.length > 1 && cells[0] !== cells[1],
    ([one = '', two = '', ...rest]) => [two, one, ...rest],
  ),
  'does not count an empty record': (source) => ({
    ...source,
    told: source.told.filter(({ code }) => code !== 'empty_records'),
  }),
  'does not say that a quote stays open': (source) => ({
    ...source,
    rows: source.rows.map((row) => ({
      ...row,
      problems: row.problems.filter(({ code }) => code !== 'broken_quotes'),
    })),
  }),
  'does not say that a row has more cells': (source) => ({
    ...source,
    rows: source.rows.map((row) => ({
      ...row,
      problems: row.problems.filter(({ code }) => code !== 'surplus_cells'),
    })),
  }),
}

function inFirstRow(
  fits: (row: { cells: string[] }) => boolean,
  change: (cells: string[]) => string[],
): PlantedFault {
  return (source) => {
    const index = source.rows.findIndex(fits)
    const rows = source.rows.map((row, at) => (at === index ? { ...row, cells: change(row.cells) } : row))
    return { ...source, rows }
  }
}

/** Changes the first matching cell; only if the text contains `needed`. */
function inFirst(pattern: RegExp | string, change: (cell: string) => string, needed = ''): PlantedFault {
  const fits = (cell: string) => (typeof pattern === 'string' ? cell.includes(pattern) : pattern.test(cell))
  return (source, drawn) => {
    if (!drawn.text.includes(needed)) return source
    const planted = inFirstRow(
      ({ cells }) => cells.some(fits),
      (cells) => {
        const at = cells.findIndex(fits)
        return cells.map((cell, index) => (index === at ? change(cell) : cell))
      },
    )
    return planted(source, drawn)
  }
}

/** A non-ASCII character of UTF-8 whose bytes are split between two reads. */
function findSplitCharacter({ text, bytes, writtenIn, readBytes }: DrawnText): string | null {
  if (writtenIn !== 'utf-8') return null
  let at = bytes.length - Buffer.byteLength(text)
  for (const character of text) {
    const length = Buffer.byteLength(character)
    if (length > 1 && Math.floor(at / readBytes) !== Math.floor((at + length - 1) / readBytes))
      return character
    at += length
  }
  return null
}
