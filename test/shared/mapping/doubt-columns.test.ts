import { describe, expect, it } from 'vitest'
import { openSource } from '../../../src/main/engine/source/open-source.ts'
import { findDoubtfulColumns } from '../../../src/shared/mapping/doubt-columns.ts'
import type { Mapping } from '../../../src/shared/plan/plan.ts'
import { findSmsFile } from '../../helpers/e2e/find-sms-file.ts'

const SMS_FILE = findSmsFile()

const toMapping = (fields: Record<string, number>): Mapping =>
  Object.fromEntries(Object.entries(fields).map(([field, column]) => [field, { kind: 'column', column }]))

const ROWS = Array.from({ length: 20 }, (_, index) => ({
  cells: [`user-${index}`, `this is the message with the number ${index}`, `Ann B. Smith ${index}`],
}))
const COLUMNS = ['from', 'message', 'name']

const find = (fields: Record<string, number>, rows: readonly { cells: readonly string[] }[] = ROWS) =>
  findDoubtfulColumns(toMapping(fields), COLUMNS, rows)

describe('columns that were probably swapped', () => {
  it('are texts in an id field, and ids in a text field', () => {
    expect(find({ user_id: 2, text_data: 1 })).toEqual([
      { field: 'user_id', column: 'message', looksLike: 'texts' },
      { field: 'text_data', column: 'from', looksLike: 'ids' },
    ])
  })

  it('are not those with the content that their field expects', () => {
    expect(find({ user_id: 1, text_data: 2 })).toEqual([])
    expect(find({ user_id: 3, text_data: 3 })).toEqual([])
  })

  it('are not guessed from a few rows, nor from empty cells', () => {
    expect(find({ user_id: 2 }, ROWS.slice(0, 4))).toEqual([])
    const empty = ROWS.map((row, index) => (index < 17 ? { cells: ['', '', ''] } : row))
    expect(find({ user_id: 2, text_data: 1 }, empty)).toEqual([])
  })

  it('are addresses in a text field, unless a text is among them', () => {
    const rows = ROWS.map((_, index) => ({ cells: [`u${index}`, `https://x.test/${index}.png`] }))
    expect(find({ user_id: 1, text_data: 2 }, rows)).toEqual([
      { field: 'text_data', column: 'message', looksLike: 'addresses' },
    ])
    expect(find({ text_data: 2 }, [...rows, { cells: ['u', 'look: https://x.test/a.png'] }])).toEqual([])
  })

  it('are not short texts with a digit that repeat', () => {
    const rows = ROWS.map((_, index) => ({ cells: ['ann', index % 2 === 0 ? 'gr8' : 'l8r'] }))
    expect(find({ user_id: 1, text_data: 2 }, rows)).toEqual([])
  })

  it.skipIf(SMS_FILE === null)('are found in real messages only if they are swapped', async () => {
    const reader = await openSource({ path: SMS_FILE ?? '', header: false })
    try {
      for await (const { rows } of reader.batches()) {
        const numbered = rows.map(({ row, cells }) => ({
          cells: [`sms-${row}`, cells[1] ?? '', cells[0] ?? ''],
        }))
        for (let from = 0; from < numbered.length; from += 100) {
          const sample = numbered.slice(from, from + 100)
          expect(find({ user_id: 3, post_id: 1, text_data: 2 }, sample)).toEqual([])
          if (sample.length === 100) {
            expect(find({ post_id: 2, text_data: 1 }, sample).map(({ field }) => field)).toEqual([
              'post_id',
              'text_data',
            ])
          }
        }
      }
    } finally {
      reader.close()
    }
  })
})
