import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { NotedRows } from '../../../../../src/main/engine/run/journal/noted-rows.ts'

function openNoted(rows: readonly number[]) {
  const db = new DatabaseSync(':memory:')
  onTestFinished(() => db.close())
  db.exec('CREATE TABLE noted (row INTEGER PRIMARY KEY)')
  const insert = db.prepare('INSERT OR IGNORE INTO noted VALUES (?)')
  for (const row of rows) insert.run(row)
  return new NotedRows(db, 'SELECT row FROM noted', ({ row }) => ({ row: Number(row) }))
}

test('an entry applies from its row until the next one, in whichever order rows are requested', () => {
  const row = fc.integer({ min: 1, max: 60 })
  fc.assert(
    fc.property(fc.array(row, { maxLength: 30 }), fc.array(row, { maxLength: 60 }), (entries, asked) => {
      const noted = openNoted(entries)
      for (const one of asked) {
        const before = entries.filter((entry) => entry <= one)
        expect(noted.findFor(one)?.row).toBe(before.length === 0 ? undefined : Math.max(...before))
      }
    }),
    { numRuns: 200 },
  )
})

test('ascending rows find their entries among thousands', () => {
  const noted = openNoted(Array.from({ length: 5_000 }, (_, index) => index * 3 + 2))
  for (let row = 1; row <= 15_001; row += 1) {
    expect(noted.findFor(row)?.row).toBe(row < 2 ? undefined : row - ((row - 2) % 3))
  }
})
