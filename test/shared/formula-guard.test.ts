import { expect, test } from 'vitest'
import { addFormulaGuard, removeFormulaGuard } from '../../src/shared/formula-guard.ts'

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

test('cells that no spreadsheet runs stay as they are', () => {
  for (const cell of ['', 'a=1', '1-2', "'quoted'", 'mail@example', '٣', '"=1"', ' x']) {
    expect(addFormulaGuard(cell)).toBe(cell)
  }
})

test('a megabyte of white space costs no more than reading it', () => {
  const cell = ' '.repeat(1_000_000)
  const started = performance.now()
  expect(addFormulaGuard(`${cell}x`)).toBe(`${cell}x`)
  expect(performance.now() - started).toBeLessThan(1000)
})
