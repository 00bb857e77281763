import { readPeakRssBytes } from '../../test/helpers/resource-use.ts'

/** The result of a measurement in its own process. */
export interface ChildResult<Value> {
  value: Value
  /** Peak resident memory of the process, bytes. */
  peakRssBytes: number
}

/** Prints the line that `runChild` reads; called by the measuring process. */
export function reportToParent(value: unknown): void {
  console.log(JSON.stringify({ value, peakRssBytes: readPeakRssBytes() }))
}
