import type { RowPlace } from '../../../shared/plan/source-place.ts'

/** Notes where records stand, only those that do not follow the one before in step: most sources have one such. */
export class PlaceNotes {
  #notes: RowPlace[] = []
  #last: RowPlace | null = null

  /** Says where the next record stands; records come in order. */
  note(row: number, sheetRow: number, line: number | null): void {
    const last = this.#last
    if (last !== null) {
      const by = row - last.row
      if (last.sheetRow + by === sheetRow && (last.line === null ? line === null : last.line + by === line))
        return
    }
    this.#last = { row, sheetRow, line }
    this.#notes.push(this.#last)
  }

  /** The notes since it was last asked. */
  take(): RowPlace[] {
    const notes = this.#notes
    this.#notes = []
    return notes
  }
}
