import { parentPort } from 'node:worker_threads'
import '../../src/main/engine/load/load-worker.ts'

// A sending thread of a load test on a machine that stalls for 300 ms after every 700 ms.
const nothing = new Int32Array(new SharedArrayBuffer(4))
parentPort?.on('message', ({ name }: { name?: string }) => {
  if (name === 'run') setInterval(() => Atomics.wait(nothing, 0, 0, 300), 700).unref()
})
