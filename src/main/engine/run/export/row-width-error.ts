import { SluiceError } from '../../../../shared/messages/errors.ts'

/** A row with more cells than there are columns would push the appended columns aside: a bug, not a user's mistake. */
export function createRowWidthError(row: number, cells: number, columns: number): SluiceError {
  return new SluiceError({ id: 'export_row_too_wide', row, cells, columns })
}
