import { SluiceError } from '../../../../shared/messages/errors.ts'

/** A row with more cells than there are columns would push the appended columns aside: a bug, not a user's mistake. */
export function createRowWidthError(row: number, cells: number, columns: number): SluiceError {
  return new SluiceError({
    code: 'INTERNAL',
    message: `row ${row} has ${cells} cells, but the run knows only ${columns} columns`,
    hint: 'This is a bug in Sluice. Exporting to .jsonl keeps every cell of the row.',
  })
}
