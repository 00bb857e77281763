import type { RecordBatch } from './record-parser.ts'

/** Leaves out the first records of a text, such as the lines above a header. */
export function* dropRecords(
  batches: Iterable<RecordBatch>,
  count: number,
): Generator<RecordBatch, void, undefined> {
  let left = count
  for (const batch of batches) {
    if (left >= batch.records.length) {
      left -= batch.records.length
      continue
    }
    yield left === 0 ? batch : dropFirst(batch, left)
    left = 0
  }
}

function dropFirst({ records, quoteFaults, isWellFormed }: RecordBatch, count: number): RecordBatch {
  const faults = [...quoteFaults].filter(([index]) => index >= count)
  return {
    records: records.slice(count),
    quoteFaults: new Map(faults.map(([index, fault]) => [index - count, fault])),
    isWellFormed,
  }
}
