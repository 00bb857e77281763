import process from 'node:process'
import { openSource } from '../../src/main/engine/source/open-source.ts'
import { SluiceError } from '../../src/shared/messages/errors.ts'
import type { PlanSource } from '../../src/shared/plan/plan.ts'
import { toSourcePlace } from '../../src/shared/plan/source-place.ts'
import { readLines } from './ask-child.ts'
import type { ReadFile, ReadTable } from './tables.ts'

/** Most cells compared per file; a larger file is still read to its end. */
const MAX_CELLS = 200_000

/** Problems of a row that do not concern its text. */
const IS_OF_LENGTH = new Set(['ragged_row', 'repeated_header'])

/**
 * Reads every sheet of a workbook without a header, or the table of another file both with and without one.
 */
async function readFile(path: string): Promise<ReadFile> {
  const first = await readTable({ path, header: false })
  const tables = first.table === null ? [] : [first.table]
  let { refused, crashed } = first
  if (first.table !== null && first.sheets.length === 0) {
    const other = await readTable({ path, header: true })
    if (other.table !== null) tables.unshift(other.table)
    if (other.refused?.id !== 'source_is_header') refused ??= other.refused
    crashed ??= other.crashed
  }
  for (const sheet of first.sheets) {
    if (sheet === first.table?.sheet) continue
    const other = await readTable({ path, header: false, sheet })
    crashed ??= other.crashed
    if (other.table !== null) tables.push(other.table)
    if (other.refused !== null && !IS_NO_TABLE.has(other.refused.id)) refused ??= other.refused
  }
  return { tables, refused, crashed }
}

/** Errors that are not the file's fault: sheets without cells. */
const IS_NO_TABLE = new Set(['sheet_is_empty', 'sheet_is_chart'])

interface Read extends Pick<ReadFile, 'refused' | 'crashed'> {
  table: ReadTable | null
  sheets: readonly string[]
}

async function readTable(source: PlanSource): Promise<Read> {
  const listed = await listSheets(source.path)
  const none = { table: null, sheets: listed }
  try {
    const reader = await openSource(source)
    try {
      // Links behind cells are not cells of their own.
      reader.keepNested?.([])
      const header = reader.header ?? []
      const rows: ReadTable['rows'] = source.header ? [{ number: 1, cells: header, told: [] }] : []
      let cells = header.length
      let place: Parameters<typeof toSourcePlace>[1]
      for await (const batch of reader.batches()) {
        const notes = [...(batch.places ?? [])]
        for (const row of batch.rows) {
          while (notes[0] !== undefined && notes[0].row <= row.row) place = notes.shift()
          cells += row.cells.length
          if (cells > MAX_CELLS) continue
          const told = row.problems.map(({ code }) => code).filter((code) => !IS_OF_LENGTH.has(code))
          rows.push({ number: toSourcePlace(row.row, place).row, cells: row.cells, told })
        }
      }
      const { encoding, delimiter, workbook, quoting } = reader
      const sheets = workbook?.sheets ?? []
      const sheet = workbook?.sheet ?? ''
      const { quote = '', escape: escaping = '' } = quoting ?? {}
      const guessed = [
        ...(reader.encodingBy === 'guess'
          ? [`${encoding}${(reader.encodingReadings?.length ?? 0) > 0 ? '?' : ''}`]
          : []),
        ...(reader.delimiterBy === 'guess' && delimiter !== ',' ? [`delimiter ${delimiter || 'none'}`] : []),
        ...(quoting?.quoteBy === 'guess' ? [`quote ${quote}`] : []),
        ...(quoting?.escapeBy === 'guess' ? [`escape ${escaping}`] : []),
      ]
      const reading = source.header ? 'header' : 'no header'
      const isWhole = cells <= MAX_CELLS
      return {
        table: { sheet, reading, encoding, delimiter, quote, escape: escaping, guessed, rows, isWhole },
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

/** The sheets of a workbook, even if the first has no cells. */
async function listSheets(path: string): Promise<readonly string[]> {
  try {
    const reader = await openSource({ path, header: false }, { isPreview: true })
    reader.close()
    return reader.workbook?.sheets ?? []
  } catch {
    return []
  }
}

for await (const line of readLines(process.stdin)) {
  const { path } = JSON.parse(line) as { path: string }
  process.stdout.write(`${JSON.stringify(await readFile(path))}\n`)
}
