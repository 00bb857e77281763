import { readFileSync } from 'node:fs'

/** Processor time of `work` in this thread in milliseconds, however busy the machine is. */
export function measureProcessorMs(work: () => void): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

/**
 * Peak resident memory of this process, bytes. On Linux, `maxRSS` of a child includes its parent's memory at
 * the fork, but `VmHWM` does not.
 */
export function readPeakRssBytes(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(kib) * 1024
}
