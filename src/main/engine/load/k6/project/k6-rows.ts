/** A row's body as the mapper made it. */
export type K6Body = Readonly<Record<string, unknown>>

/** Stands for the post_id while a body is written; no content holds it by chance. */
const POST_ID_MARK = '\u0001sluice-post-id\u0001'

const WRITTEN_MARK = JSON.stringify(POST_ID_MARK).slice(1, -1)

/** The JSON of a body in two parts, between which the post_id of a submission goes; it takes the place of its own. */
export function splitAtPostId(body: K6Body): [head: string, tail: string] {
  const text = JSON.stringify({ ...body, post_id: POST_ID_MARK })
  const at = text.lastIndexOf(WRITTEN_MARK)
  return [text.slice(0, at), text.slice(at + WRITTEN_MARK.length)]
}

/** Largest file of rows: k6 reads each whole. Small sources stay small enough for one configMap with their script. */
export const ROWS_FILE_MAX_BYTES = 4 * 1024 * 1024

/** A piece of a rows file: text to append, and whether the file ends with it. */
export interface RowsPiece {
  text: string
  rows: number
  isEnd: boolean
}

/** Divides rows into JSON arrays of at most `maxBytes` each (a larger row has one of its own), a piece a row. */
export async function* toRowsPieces(
  pages: Iterable<readonly K6Body[]> | AsyncIterable<readonly K6Body[]>,
  maxBytes = ROWS_FILE_MAX_BYTES,
): AsyncGenerator<RowsPiece> {
  let sizeBytes = 0
  let rows = 0
  for await (const page of pages) {
    for (const body of page) {
      const row = JSON.stringify(splitAtPostId(body))
      const rowBytes = Buffer.byteLength(row) + 2
      if (rows > 0 && sizeBytes + rowBytes > maxBytes) {
        yield { text: '\n]\n', rows, isEnd: true }
        sizeBytes = 0
        rows = 0
      }
      yield { text: `${rows === 0 ? '[\n' : ',\n'}${row}`, rows, isEnd: false }
      sizeBytes += rowBytes
      rows += 1
    }
  }
  if (rows > 0) yield { text: '\n]\n', rows, isEnd: true }
}
