import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import Papa from 'papaparse'
import { describe, expect, test } from 'vitest'
import { readSource } from './read-source.ts'
import { parseRfc4180 } from './rfc4180.ts'

const path = fileURLToPath(new URL('../../../../../shared/data/sms-spam.csv', import.meta.url))
const isThere = existsSync(path)

describe('the SMS Spam Collection, real input without a header', () => {
  test('has the same cells as from independent readers', () => {
    if (!isThere) return say()
    const source = readSource(path, { header: false })
    const text = readFileSync(path, 'utf8')
    expect(source.cells).toHaveLength(5572)
    expect(source.cells).toEqual(parseRfc4180(text))
    expect(source.cells).toEqual(
      Papa.parse<string[]>(text.trimEnd(), { delimiter: ',', newline: '\r\n' }).data,
    )
    expect(source.rows.at(-1)?.row).toBe(5572)
  })

  test('is detected as UTF-8 with commas, and its one ragged row is reported', () => {
    if (!isThere) return say()
    const source = readSource(path, { header: false })
    expect(source).toMatchObject({ encoding: 'utf-8', encodingBy: 'strict', delimiter: ',' })
    expect(source.columns).toEqual(['Column 1', 'Column 2', 'Column 3', 'Column 4', 'Column 5'])
    expect(source.problems).toEqual([expect.stringMatching(/^ragged_row \d+ warning$/)])
  })

  test('keeps garbled characters that the file really contains, without calling them undecodable', () => {
    if (!isThere) return say()
    const garbled = readSource(path, { header: false }).rows.filter((row) =>
      row.cells.join().includes('\uFFFD'),
    )
    expect(garbled.length).toBeGreaterThan(0)
    expect(garbled.flatMap((row) => row.problems)).toEqual([])
  })
})

function say(): void {
  console.log(`${path} is not here, so nothing was compared with it`)
}
