import { findNearest } from '../messages/find-nearest.ts'
import { toFound } from '../run/problem.ts'

/** The index of a column by its exact name or its 1-based number, or null. A name of digits goes before the number. */
export function findColumn(columns: readonly string[], column: string | number): number | null {
  if (typeof column === 'string') {
    const index = columns.indexOf(column)
    if (index !== -1) return index
    if (!/^\d+$/.test(column)) return null
  }
  const number = Number(column)
  return number >= 1 && number <= columns.length ? number - 1 : null
}

const MOST_LISTED = 30

/** The columns there are, as an error lists them, each as "1 `id`"; cut after thirty. */
export function listColumns(columns: readonly string[]): string {
  const listed = columns.slice(0, MOST_LISTED).map((name, index) => `${index + 1} \`${toFound(name)}\``)
  const more = columns.length - listed.length
  return more > 0 ? `${listed.join(', ')} and ${more} more` : listed.join(', ')
}

/** How alike-looking names are compared: without case, spaces, underscores, hyphens and dots. */
export function toComparable(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_.-]+/g, '')
}

const LONGEST_COMPARED = 64

/** The column or placeholder that a name was most likely meant to be, or null where none is near. */
export function findNearestName(name: string, candidates: readonly string[]): string | null {
  const cut = (text: string) => toComparable(text).slice(0, LONGEST_COMPARED)
  const comparable = candidates.map(cut)
  const nearest = findNearest(cut(name), comparable)
  return nearest === null ? null : (candidates[comparable.indexOf(nearest)] ?? null)
}

/**
 * The columns of a folder's rows. A text file fills `text_data`, a JSON file `request`, a media file `media` with its
 * path inside the folder; `kind` says which.
 */
export const FOLDER_COLUMNS = ['path', 'kind', 'text_data', 'request', 'media'] as const

/** Whether a source's columns are those of a folder. */
export function isFolderColumns(columns: readonly string[]): boolean {
  return (
    columns.length === FOLDER_COLUMNS.length && FOLDER_COLUMNS.every((name, index) => columns[index] === name)
  )
}
