import { createCsvText, createJsonlText } from '../../../../shared/lookback/sql-answer-text.ts'
import type { ExportResult } from '../../../../shared/run/written-rows.ts'
import { replaceFile, toFileError } from '../../workspace/replace-file.ts'
import { askSql, type SqlOptions } from './ask-sql.ts'

/** UTF-16 code units written at once. */
const PIECE_CHARACTERS = 64 * 1024

/**
 * Writes all rows of a statement's answer to a file, as JSON lines if its name ends so, else as CSV: whole or
 * not at all. Throws what {@link askSql} throws, `FILE_UNWRITABLE` and `DISK_FULL`.
 */
export async function saveAnswer(options: Omit<SqlOptions, 'onRow'>, file: string): Promise<ExportResult> {
  const text = file.endsWith('.jsonl') ? createJsonlText() : createCsvText()
  let rows = 0
  try {
    const sizeBytes = await replaceFile(file, async (append) => {
      let piece = ''
      rows = await askSql({
        ...options,
        async onRow(values, index) {
          piece += index === 0 ? text.names(values.map(String)) : text.row(values)
          if (piece.length < PIECE_CHARACTERS) return
          await append(piece)
          piece = ''
        },
      })
      await append(piece)
    })
    const guardedCells = text.guardedCells()
    return { file, rows, sizeBytes, ...(guardedCells > 0 && { guardedCells }) }
  } catch (error) {
    throw toFileError(file, error)
  }
}
