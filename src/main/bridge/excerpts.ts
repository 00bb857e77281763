import { EXCERPT_MAX_CHARACTERS } from '../../shared/bridge/excerpts.ts'

/** The part of each cell that a page carries, never cut through a character, and each cell's whole length. */
export function createExcerpts(cells: readonly string[]): { cells: string[]; cellLengths: number[] } {
  return {
    cells: cells.map((cell) =>
      cell.length <= EXCERPT_MAX_CHARACTERS
        ? cell
        : cell.slice(0, EXCERPT_MAX_CHARACTERS - (isCutThrough(cell) ? 1 : 0)),
    ),
    cellLengths: cells.map((cell) => cell.length),
  }
}

function isCutThrough(cell: string): boolean {
  return (cell.codePointAt(EXCERPT_MAX_CHARACTERS - 1) ?? 0) > 0xffff
}
