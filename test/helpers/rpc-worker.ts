import { serveCalls } from '../../src/main/worker-rpc.ts'
import { SluiceError } from '../../src/shared/messages/errors.ts'

/** What the thread of the RPC's tests does. */
export interface TestCalls {
  double(n: number): number
  /** Settles with the next `release`. */
  wait(): Promise<string>
  release(text: string): void
  refuse(runId: string): void
  giveFunction(): unknown
  /** Reports the bytes, moved instead of copied, and how many are left here. */
  hand(sizeBytes: number): number
  exit(code: number): void
  throwLater(): void
}

/** What it reports. */
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
})
