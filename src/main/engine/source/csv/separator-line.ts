/** What a first line such as `sep=;` says to a spreadsheet; it is neither header nor row. */
export interface SeparatorLine {
  delimiter: string
  /** Characters up to the line that follows. */
  characters: number
}

const SEPARATOR_LINE = /^"?sep=([^\r\n"])"?(?:\r\n|\n|\r)/i

/** Reads the line with which spreadsheets are told the delimiter, or returns null where a text has none. */
export function findSeparatorLine(text: string): SeparatorLine | null {
  const found = SEPARATOR_LINE.exec(text)
  return found === null ? null : { delimiter: found[1] ?? ',', characters: found[0].length }
}
