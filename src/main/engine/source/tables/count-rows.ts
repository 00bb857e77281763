import type { FileRows, SourceReader } from '../source-reader.ts'

/** Read of each file, so that many files are counted soon. */
const COUNTED_BYTES = 256 * 1024

/** How many rows a file has: exactly if it is short, else as many as its beginning suggests. Does not close the reader. */
export async function countRows(reader: SourceReader): Promise<FileRows> {
  let count = 0
  for await (const { rows, bytesRead } of reader.batches()) {
    count += rows.length
    if (bytesRead >= COUNTED_BYTES && bytesRead < reader.sizeBytes) {
      return { count: Math.round((count * reader.sizeBytes) / bytesRead), isExact: false }
    }
  }
  return { count, isExact: true }
}
