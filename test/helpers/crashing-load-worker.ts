import { parentPort } from 'node:worker_threads'
import '../../src/main/engine/load/load-worker.ts'

// A sending thread of a load test that ends during the test, as if it ran out of memory.
parentPort?.on('message', ({ name }: { name?: string }) => {
  if (name === 'run') setTimeout(() => process.exit(7), 200)
})
