import { SluiceError } from '../../../../shared/messages/errors.ts'

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
        throw new SluiceError({
          id: 'too_many_json_keys',
          source: path,
          max: MAX_KEYS,
          example: key.slice(0, 80),
        })
      }
      indexes.set(key, indexes.size)
      return indexes.size - 1
    },
    names: () => [...indexes.keys()],
  }
}
