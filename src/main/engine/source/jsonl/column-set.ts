import { createSourceError } from '../source-error.ts'

/** Most different keys that a file may have; each is a column. */
const MAX_KEYS = 1000

/** The keys met so far, in the order in which they first appeared. */
export interface ColumnSet {
  /** The column of a key, from 0. Throws `BAD_SOURCE` for a key too many. */
  indexOf(key: string): number
  names(): string[]
}

/** A set of columns for one file, empty at first. */
export function createColumnSet(path: string): ColumnSet {
  const indexes = new Map<string, number>()
  return {
    indexOf(key) {
      const known = indexes.get(key)
      if (known !== undefined) return known
      if (indexes.size === MAX_KEYS) {
        throw createSourceError(
          path,
          `expected objects with the same keys, found more than ${MAX_KEYS} different ones, such as ${JSON.stringify(key.slice(0, 80))}`,
          'Keys become columns. Put what differs from line to line into values, not into keys.',
        )
      }
      indexes.set(key, indexes.size)
      return indexes.size - 1
    },
    names: () => [...indexes.keys()],
  }
}
