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
