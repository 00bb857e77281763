import { z } from 'zod'

/** An array of objects inside a row of JSON that may hold the intended rows, such as `results`. */
export const rowsInKeySchema = z.object({
  /** Keys that lead from the row to the array. */
  path: z.array(z.string()),
  /** Whether the rows themselves are elements of an array. */
  inArray: z.boolean(),
  /** Objects in all rows; null if not all rows were examined. */
  objects: z.int().nullable(),
  /** Rows with the array; null if not all rows were examined. */
  rows: z.int().nullable(),
  /** Whether some of them have texts of several words. */
  hasTexts: z.boolean(),
})

export type RowsInKey = z.infer<typeof rowsInKeySchema>

/** Whether an array may hold the rows: it has texts, or the source's only row has it. */
export function mayBeRows({ hasTexts, objects }: RowsInKey, rows: number | null): boolean {
  return hasTexts || (rows === 1 && objects !== 1)
}

/** The name of an array: its keys, joined like the names of nested columns. */
export function nameRowsInKey({ path }: RowsInKey): string {
  return path.join('.')
}

/** The jq filter that outputs the array's objects, one per line; rows without the array output nothing. */
export function toJqFilter({ path, inArray }: Pick<RowsInKey, 'path' | 'inArray'>): string {
  const steps = path.map((key, index) =>
    /^[A-Za-z_]\w*$/.test(key) ? `.${key}?` : `${index === 0 ? '.' : ''}[${JSON.stringify(key)}]?`,
  )
  return `${inArray ? '.[] | ' : ''}${steps.join('')} | arrays[]`
}

/** The array that most likely holds the rows: one with texts, else the one with most objects. */
export function findLikeliest(found: readonly RowsInKey[]): RowsInKey | null {
  const count = ({ objects }: RowsInKey) => objects ?? Infinity
  const [first = null] = found.toSorted(
    (one, other) =>
      Number(other.hasTexts) - Number(one.hasTexts) || Number(count(other) > count(one)) * 2 - 1,
  )
  return first
}
