/** Most columns of a sheet. */
export const MAX_COLUMNS = 16_384

/** Most rows of a sheet. */
export const MAX_ROWS = 1_048_576

/** The column of a reference such as `AB12`, from 0; -1 where it is none. */
export function readColumn(reference: string): number {
  let column = 0
  let at = 0
  for (; at < reference.length; at += 1) {
    const letter = (reference.charCodeAt(at) | 0x20) - 0x61
    if (letter < 0 || letter > 25) break
    column = column * 26 + letter + 1
  }
  return at === 0 || at > 3 ? -1 : column - 1
}
