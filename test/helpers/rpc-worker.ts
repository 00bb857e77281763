import { serveCalls } from '../../src/main/worker-rpc.ts'
import { SluiceError } from '../../src/shared/messages/errors.ts'

/** Calls of the thread for the RPC's tests. */
export interface TestCalls {
  double(n: number): number
  /** Settles with the next `release`. */
  wait(): Promise<string>
  release(text: string): void
  refuse(runId: string): void
  giveFunction(): unknown
  /** Reports the bytes, transferred instead of copied, and how many are left here. */
  hand(sizeBytes: number): number
  exit(code: number): void
  throwLater(): void
  /**
   * One step without a pause: sets `marks[0]` at its start (1) and end (2), and ends once `marks[1]` is set.
   */
  work(marks: Int32Array<SharedArrayBuffer>): void
}

/** Its reports. */
export interface TestEvents {
  released: string
  bytes: Uint8Array<ArrayBuffer>
}

const released = Promise.withResolvers<string>()

const sendEvent = serveCalls<TestCalls, TestEvents>({
  double: (n) => n * 2,
  wait: () => released.promise,
  release(text) {
    released.resolve(text)
    sendEvent('released', text)
  },
  refuse(runId) {
    throw new SluiceError({ id: 'run_unplanned', runId })
  },
  giveFunction: () => () => {},
  hand(sizeBytes) {
    const bytes = new Uint8Array(sizeBytes)
    sendEvent('bytes', bytes, [bytes.buffer])
    return bytes.byteLength
  },
  exit: (code) => process.exit(code),
  throwLater: () =>
    void setImmediate(() => {
      throw new Error('out of order')
    }),
  work(marks) {
    Atomics.store(marks, 0, 1)
    Atomics.notify(marks, 0)
    Atomics.wait(marks, 1, 0)
    Atomics.store(marks, 0, 2)
  },
})
