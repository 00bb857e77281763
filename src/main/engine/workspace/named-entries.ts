import { SluiceError } from '../../../shared/messages/errors.ts'

/** A kind of thing that people save under a name, as messages call it. */
export type SavedKind = 'filter' | 'mapping'

/** Adds an entry at a position, by default at the end. Throws `BAD_USAGE` if its name is taken. */
export function addNamed<Entry extends { name: string }>(
  what: SavedKind,
  entries: readonly Entry[],
  added: Entry,
  at = entries.length,
): Entry[] {
  if (entries.some(({ name }) => name === added.name)) {
    throw new SluiceError({ id: 'saved_name_taken', what, name: added.name })
  }
  return entries.toSpliced(at, 0, added)
}

/** Renames an entry. Throws `BAD_USAGE` if it does not exist or the new name is taken. */
export function renameNamed<Entry extends { name: string }>(
  what: SavedKind,
  entries: readonly Entry[],
  name: string,
  newName: string,
): Entry[] {
  if (name === newName) return [...entries]
  const renamed = { ...findNamed(what, entries, name), name: newName }
  const at = entries.findIndex((entry) => entry.name === name)
  return addNamed(what, entries.toSpliced(at, 1), renamed, at)
}

/** Removes an entry. Throws `BAD_USAGE` if it does not exist. */
export function removeNamed<Entry extends { name: string }>(
  what: SavedKind,
  entries: readonly Entry[],
  name: string,
): Entry[] {
  const removed = findNamed(what, entries, name)
  return entries.filter((entry) => entry !== removed)
}

/** The entry with that name. Throws `BAD_USAGE` if it does not exist. */
export function findNamed<Entry extends { name: string }>(
  what: SavedKind,
  entries: readonly Entry[],
  name: string,
): Entry {
  const found = entries.find((entry) => entry.name === name)
  if (found === undefined) throw new SluiceError({ id: 'saved_name_unknown', what, name })
  return found
}
