import { parentPort } from 'node:worker_threads'
import '../../src/main/engine/load/load-worker.ts'

// A sending thread of a load test that ends in the middle of it, as one that ran out of memory does.
parentPort?.on('message', ({ name }: { name?: string }) => {
  if (name === 'run') setTimeout(() => process.exit(7), 200)
})
