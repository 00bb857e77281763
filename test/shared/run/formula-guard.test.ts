import { expect, test } from 'vitest'
import { addFormulaGuard, removeFormulaGuard } from '../../../src/shared/run/formula-guard.ts'
import { measureProcessorMs } from '../../helpers/resource-use.ts'

test('taking the guard off is the exact inverse of putting it on, for every short cell', () => {
  const characters = ["'", '=', '+', '＠', ' ', '\t', '\r', '\u200b', '\u3000', 'a', '-', '"', '']
  for (const first of characters) {
    for (const second of characters) {
      for (const third of characters) {
        for (const fourth of characters) {
          const cell = first + second + third + fourth
          const guarded = addFormulaGuard(cell)
          expect(removeFormulaGuard(guarded), JSON.stringify(cell)).toBe(cell)
          expect(guarded.replace(/^[\s\u200b]+/, ''), JSON.stringify(cell)).not.toMatch(/^[=+\-@＝＋－＠]/)
        }
      }
    }
  }
})

/** What stands in the cells of a file that is split at every delimiter a spreadsheet knows, quotes not understood. */
const split = (cell: string) => cell.split(/[,;\t|\r\n]/)

test('no piece of a cell is a formula, whatever delimiter the file is split at', () => {
  for (const delimiter of [',', ';', '\t', '|', '\n', '\r\n']) {
    for (const formula of ['=1+1', '+1', '-1', '@SUM(1)', '＝1', ' =1', '"=1"', "'=1", '\u200b=1']) {
      const cell = `a${delimiter}${formula}${delimiter}b`
      const guarded = addFormulaGuard(cell)
      for (const piece of split(guarded))
        expect(piece, JSON.stringify(cell)).not.toMatch(/^["\s\u200b]*[=+\-@＝]/)
      expect(removeFormulaGuard(guarded), JSON.stringify(cell)).toBe(cell)
    }
  }
})

test('taking the guard off is the exact inverse in the middle of a cell, too', () => {
  const characters = ["'", '=', ';', '\n', '\t', ' ', '"', 'a', '']
  const build = (cell: string, left: number): void => {
    if (left === 0) expect(removeFormulaGuard(addFormulaGuard(cell)), JSON.stringify(cell)).toBe(cell)
    else for (const character of characters) build(cell + character, left - 1)
  }
  build('', 5)
})

test('cells that no spreadsheet runs stay as they are', () => {
  for (const cell of [
    '',
    'a=1',
    '1-2',
    'a; b',
    'a, b=1',
    'x\ny - z',
    "'quoted'",
    'mail@example',
    '٣',
    '"=1"',
    ' x',
  ]) {
    expect(addFormulaGuard(cell)).toBe(cell)
  }
})

test('a megabyte of white space costs no more than reading it', () => {
  const cell = ' '.repeat(1_000_000)
  const takenMs = measureProcessorMs(() => expect(addFormulaGuard(`${cell}x`)).toBe(`${cell}x`))
  expect(takenMs).toBeLessThan(2_000)
})
