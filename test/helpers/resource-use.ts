import { readFileSync } from 'node:fs'

/** Processor time of `work` in this thread in milliseconds, however busy the machine is. */
export function measureProcessorMs(work: () => void): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

/**
 * Peak resident memory of this process, bytes. Linux counts a parent's memory at the fork into its child's `maxRSS`,
 * but not into `VmHWM`.
 */
export function readPeakRssBytes(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(kib) * 1024
}
