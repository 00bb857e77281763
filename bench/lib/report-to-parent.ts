import { readPeakRssBytes } from '../../test/helpers/resource-use.ts'

/** What a measurement in a process of its own came to. */
export interface ChildResult<Value> {
  value: Value
  /** Peak resident memory of the process, bytes. */
  peakRssBytes: number
}

/** Prints what `runChild` reads; for the measuring process itself. */
export function reportToParent(value: unknown): void {
  console.log(JSON.stringify({ value, peakRssBytes: readPeakRssBytes() }))
}
