/** Milliseconds of processor time that `work` takes in this thread, however busy the machine is with other things. */
export function measureProcessorMs(work: () => void): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
