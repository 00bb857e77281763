import { readFileSync } from 'node:fs'

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

/** Linux counts a parent's memory at the fork into its child's `maxRSS`, but not into `VmHWM`. */
function readPeakRssBytes(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(kib) * 1024
}
