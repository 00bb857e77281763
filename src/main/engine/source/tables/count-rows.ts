import type { FileRows, SourceReader } from '../source-reader.ts'

/** Size of reads, so that many files are counted quickly. */
const COUNTED_BYTES = 256 * 1024

/** Rows of a file: exact if short, else extrapolated from its beginning. Does not close the reader. */
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
