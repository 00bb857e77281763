import process from 'node:process'
import { createInterface } from 'node:readline'
import { openSource } from '../../src/main/engine/source/open-source.ts'
import { SluiceError } from '../../src/shared/messages/errors.ts'
import type { PlanSource } from '../../src/shared/plan/plan.ts'
import { toSourcePlace } from '../../src/shared/plan/source-place.ts'
import type { ReadFile, ReadTable } from './tables.ts'

/** Most cells of a file that are compared; a larger file is still read to its end. */
const MAX_CELLS = 200_000

/** Reads every sheet of a workbook, or the one table of another file, as a run would without a header. */
async function readFile(path: string): Promise<ReadFile> {
  const first = await readTable({ path, header: false })
  if (!('sheets' in first)) return { tables: [], refused: first.refused, crashed: first.crashed }
  const tables = first.table === null ? [] : [first.table]
  let { refused, crashed } = first
  for (const sheet of first.sheets) {
    if (sheet === first.table?.sheet) continue
    const other = await readTable({ path, header: false, sheet })
    crashed ??= other.crashed
    if ('table' in other && other.table !== null) tables.push(other.table)
    if (other.refused !== null && !IS_NO_TABLE.has(other.refused.id)) refused ??= other.refused
  }
  return { tables, refused, crashed }
}

/** What is no fault of a file: sheets without cells. */
const IS_NO_TABLE = new Set(['sheet_is_empty', 'sheet_is_chart'])

interface Read extends Pick<ReadFile, 'refused' | 'crashed'> {
  table: ReadTable | null
  sheets: readonly string[]
}

async function readTable(source: PlanSource): Promise<Read | Omit<Read, 'table' | 'sheets'>> {
  const listed = await listSheets(source.path)
  const none = { table: null, sheets: listed }
  try {
    const reader = await openSource(source)
    try {
      // Links behind cells are no cells of their own.
      reader.keepNested?.([])
      const rows: ReadTable['rows'] = []
      let cells = 0
      let place: Parameters<typeof toSourcePlace>[1]
      for await (const batch of reader.batches()) {
        const notes = [...(batch.places ?? [])]
        for (const row of batch.rows) {
          while (notes[0] !== undefined && notes[0].row <= row.row) place = notes.shift()
          cells += row.cells.length
          if (cells <= MAX_CELLS) rows.push({ number: toSourcePlace(row.row, place).row, cells: row.cells })
        }
      }
      const { encoding, delimiter, workbook } = reader
      const sheets = workbook?.sheets ?? []
      const sheet = workbook?.sheet ?? ''
      return {
        table: { sheet, encoding, delimiter, rows, isWhole: cells <= MAX_CELLS },
        sheets,
        refused: null,
        crashed: null,
      }
    } finally {
      reader.close()
    }
  } catch (error) {
    if (!(error instanceof SluiceError)) {
      return { ...none, refused: null, crashed: error instanceof Error ? String(error.stack) : String(error) }
    }
    const refused = { id: error.said.id, message: error.message }
    if (IS_NO_TABLE.has(refused.id))
      return { ...none, refused: listed.length > 1 ? null : refused, crashed: null }
    return { ...none, refused, crashed: null }
  }
}

/** The sheets of a workbook, also where the first has no cells. */
async function listSheets(path: string): Promise<readonly string[]> {
  try {
    const reader = await openSource({ path, header: false }, { isPreview: true })
    reader.close()
    return reader.workbook?.sheets ?? []
  } catch {
    return []
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { path } = JSON.parse(line) as { path: string }
  process.stdout.write(`${JSON.stringify(await readFile(path))}\n`)
}
