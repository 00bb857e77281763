import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { operationSchema } from '../../../src/shared/plan/operation.ts'
import {
  addFormulaGuard,
  isExportHeader,
  removeFormulaGuard,
  toExportColumns,
} from '../../../src/shared/run/export-columns.ts'
import { measureProcessorMs } from '../../helpers/resource-use.ts'

const KINDS = operationSchema.options.map(({ shape }) => shape.kind.value)

const toNames = (kind: (typeof KINDS)[number], classes: readonly string[] = []) =>
  toExportColumns(kind, { classes, withRaw: true }).map(({ name }) => name)

test('the page about exports lists every column', () => {
  const page = readFileSync(new URL('../../../docs/exports.md', import.meta.url), 'utf8')
  const listed = [...page.matchAll(/`(sluice_\w+)`/g)].map(([, name]) => name)
  const names = new Set(KINDS.flatMap((kind) => toNames(kind)))
  expect(new Set(listed)).toEqual(new Set([...names]))
})

test.each(KINDS)('the header of an export of %s is known as one of ours, and a part of it is not', (kind) => {
  const own = toNames(kind, ['hate', '=1+1'])
  expect(isExportHeader(['text', 'sluice_row', ...own])).toBe(true)
  expect(isExportHeader([...own, 'text', 'my note'])).toBe(true)
  expect(isExportHeader([...own.slice(0, 5), 'my note', ...own.slice(5)])).toBe(false)
  expect(isExportHeader(own.slice(1))).toBe(false)
})

test('the header of an export of an earlier version is still known as one of ours', () => {
  const earlier =
    'text,sluice_row,sluice_state,sluice_status,sluice_error_code,sluice_message,sluice_task_id,sluice_post_id,' +
    'sluice_triggered_rules,sluice_duration_ms,sluice_attempts,sluice_custom_index_item_id,sluice_term_outcome,' +
    'sluice_appeal_status'
  expect(isExportHeader(earlier.split(','))).toBe(true)
})

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
