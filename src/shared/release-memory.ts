/**
 * Frees the memory of numbers that nobody reads any more, which are none from then on. The collector would come much later:
 * megabytes outside V8's heap are a few small objects to it.
 */
export function releaseMemory(...arrays: readonly { buffer: ArrayBuffer }[]): void {
  for (const { buffer } of arrays) if (!buffer.detached) buffer.transfer(0)
}
