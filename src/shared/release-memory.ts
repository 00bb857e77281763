/**
 * Frees the memory of arrays that are no longer used, and makes them empty. The collector would wait much
 * longer, since to it, megabytes outside V8's heap are a few small objects.
 */
export function releaseMemory(...arrays: readonly { buffer: ArrayBuffer }[]): void {
  for (const { buffer } of arrays) if (!buffer.detached) buffer.transfer(0)
}
