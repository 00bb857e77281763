/**
 * The models that a cell names: a JSON array of strings, or names apart by commas, semicolons, pipes or white space.
 * Returns null for what begins as a JSON array and is none of strings.
 */
export function parseModels(cell: string): string[] | null {
  if (!cell.trimStart().startsWith('[')) return cell.split(/[,;|\s]+/).filter((name) => name !== '')
  try {
    const value: unknown = JSON.parse(cell)
    return isStringArray(value) ? value : null
  } catch {
    return null
  }
}

function isStringArray(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
