import { type Problem, toFound } from '../../../../shared/run/problem.ts'

/** Puts U+FFFD where the decoder marked undecodable bytes, and says so with the first place, or returns null. */
export function replaceUndecodable(row: number, cells: string[], encoding: string): Problem | null {
  let places = 0
  let first: string | null = null
  for (let index = 0; index < cells.length; index += 1) {
    const cell = cells[index] ?? ''
    if (cell.isWellFormed()) continue
    const whole = cell.toWellFormed()
    cells[index] = whole
    places += cell.match(/\p{Surrogate}/gu)?.length ?? 0
    first ??= whole.slice(Math.max(0, cell.search(/\p{Surrogate}/u) - EXCERPT_CHARACTERS))
  }
  if (first === null) return null
  const excerpt = toFound(first.slice(0, 2 * EXCERPT_CHARACTERS).toWellFormed())
  return {
    row,
    severity: 'warning',
    code: 'undecodable_bytes',
    message: `must be valid ${encoding}; what does not decode became U+FFFD`,
    found: places === 1 ? excerpt : `${excerpt} and ${places - 1} more`,
  }
}

/** Shown of a cell before its first broken place, and after it. */
const EXCERPT_CHARACTERS = 20
