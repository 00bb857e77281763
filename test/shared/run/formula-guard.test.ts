import { expect, test } from 'vitest'
import { addFormulaGuard, removeFormulaGuard } from '../../../src/shared/run/formula-guard.ts'
import { measureProcessorMs } from '../../helpers/resource-use.ts'

test('removing the guard is the exact inverse of adding it, for every short cell', () => {
  const characters = ["'", '=', '+', '＠', ' ', '\t', '\r', '\u200b', '\u3000', 'a', '-', '"', '']
  for (const first of characters) {
    for (const second of characters) {
      for (const third of characters) {
        for (const fourth of characters) {
          const cell = first + second + third + fourth
          const guarded = addFormulaGuard(cell)
          expect(removeFormulaGuard(guarded, 'current'), JSON.stringify(cell)).toBe(cell)
          expect(guarded.replace(/^[\s\u200b]+/, ''), JSON.stringify(cell)).not.toMatch(/^[=+\-@＝＋－＠]./s)
        }
      }
    }
  }
})

test('only the beginning of a cell is guarded, whatever follows delimiters or line breaks', () => {
  for (const cell of [
    'a;=1+1;b',
    'he said,-ok',
    'a|@c',
    'first\n=1+1',
    'first\r\n- second',
    'a\t+1',
    'RT @user: hi; @other',
    '"=1"',
    '&#128514;@user',
    "don't; '=x",
  ]) {
    expect(addFormulaGuard(cell)).toBe(cell)
    expect(removeFormulaGuard(cell, 'current')).toBe(cell)
  }
})

test('signed numbers and lone signs are not formulas', () => {
  for (const cell of [
    ...[
      '-5',
      '+1',
      '+491701234567',
      '+49 170 1234567',
      '-1,234.56',
      "-1'000",
      '-.5',
      '-1.5e3',
      '+1E-7',
      '-5%',
      '-5 %',
    ],
    ...['-', '+', '@', '='],
  ]) {
    expect(addFormulaGuard(cell), cell).toBe(cell)
    // The apostrophe in front was there before.
    expect(removeFormulaGuard(`'${cell}`, 'current'), cell).toBe(`'${cell}`)
  }
  for (const cell of ['-5+3', '+49-170-1234', '-1/2', '-5 apples', '-A1', '--5', '=5', '@5', '-5\n=1']) {
    expect(addFormulaGuard(cell), cell).toBe(`'${cell}`)
  }
})

test.each([
  ["'-5", '-5'],
  ["''-5", "'-5"],
  ["'=1+1", '=1+1'],
  ["a;'=1+1;b", 'a;=1+1;b'],
  ["a,b|''@c", "a,b|'@c"],
  ["'\t'=1", '\t=1'],
  ["first\n'- second", 'first\n- second'],
  ["it's; 'x", "it's; 'x"],
])('the guard of version 0.2 is removed from %j', (guarded, cell) => {
  expect(removeFormulaGuard(guarded, 'earlier')).toBe(cell)
})

test('cells that no spreadsheet runs are unchanged', () => {
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
    'a;=1',
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

test('a formula behind any control character is guarded', () => {
  for (let code = 0; code < 0x20; code += 1) {
    const cell = `${String.fromCharCode(code)}=1+1`
    expect(addFormulaGuard(cell)).toBe(`'${cell}`)
    expect(removeFormulaGuard(`'${cell}`, 'current')).toBe(cell)
  }
})
