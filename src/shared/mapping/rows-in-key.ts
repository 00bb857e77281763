import { z } from 'zod'

/** An array of objects inside a row of JSON, which may be the rows that were meant, such as `results`. */
export const rowsInKeySchema = z.object({
  /** Keys from the row inwards. */
  path: z.array(z.string()),
  /** Whether the rows themselves are elements of an array. */
  inArray: z.boolean(),
  /** Objects in all rows; null if not all of them were looked into. */
  objects: z.int().nullable(),
  /** Rows that have the array; null if not all of them were looked into. */
  rows: z.int().nullable(),
  /** Whether some of them have texts of several words. */
  hasTexts: z.boolean(),
})

export type RowsInKey = z.infer<typeof rowsInKeySchema>

/** Whether an array may be the rows: it has texts, or is in the only one of `rows`. */
export function mayBeRows({ hasTexts, objects }: RowsInKey, rows: number | null): boolean {
  return hasTexts || (rows === 1 && objects !== 1)
}

/** What a person calls an array: its keys, as columns of nested fields have them. */
export function nameRowsInKey({ path }: RowsInKey): string {
  return path.join('.')
}

/** The filter of jq that gives the objects of an array, a line each; rows without the array give none. */
export function toJqFilter({ path, inArray }: Pick<RowsInKey, 'path' | 'inArray'>): string {
  const steps = path.map((key, index) =>
    /^[A-Za-z_]\w*$/.test(key) ? `.${key}?` : `${index === 0 ? '.' : ''}[${JSON.stringify(key)}]?`,
  )
  return `${inArray ? '.[] | ' : ''}${steps.join('')} | arrays[]`
}

/** The array that most likely has the rows: one with texts, else the one with most objects. */
export function findLikeliest(found: readonly RowsInKey[]): RowsInKey | null {
  const count = ({ objects }: RowsInKey) => objects ?? Infinity
  const [first = null] = found.toSorted(
    (one, other) =>
      Number(other.hasTexts) - Number(one.hasTexts) || Number(count(other) > count(one)) * 2 - 1,
  )
  return first
}
