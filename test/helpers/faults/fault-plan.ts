import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { constants } from 'node:os'

/** Which calls fail, and how. Only calls that change files are seen; `open` is one that creates nothing. */
export interface Fault {
  /** The number of the failing call, from 1 among matching ones; with `toEnd`, every later one fails too. */
  nth: number
  toEnd?: true
  error: 'EIO' | 'ENOSPC' | 'EACCES'
  /** A failing write writes its first half. */
  half?: true
  /** Only calls that need disk space fail: creating, growing, making a folder. */
  full?: true
  /** Only calls with this name match. */
  call?: 'create' | 'open' | 'write' | 'truncate' | 'sync' | 'rename' | 'unlink' | 'mkdir' | 'chmod'
  /** Only files with this ending match. */
  ending?: string
}

/** Offsets of `struct plan` in fail-calls.c. */
const PLAN_LAYOUT = { counted: 0, first: 4, last: 8, number: 12, half: 16, full: 20, failed: 24 } as const
const CALL_OFFSET = 32
const ENDING_OFFSET = 64
const WHAT_OFFSET = 128
const PLAN_BYTES = 640

const NO_END = 2_147_483_647

/** The file shared by the preloaded library and the tests. */
export class FaultPlan {
  readonly #descriptor: number

  /** Creates the file, without a fault. */
  constructor(file: string) {
    this.#descriptor = openSync(file, 'w+')
    this.arm(null)
  }

  /** Resets the count, and sets the fault; null for none. */
  arm(fault: Fault | null): void {
    const bytes = Buffer.alloc(PLAN_BYTES)
    if (fault !== null) {
      bytes.writeInt32LE(fault.nth, PLAN_LAYOUT.first)
      bytes.writeInt32LE(fault.toEnd ? NO_END : fault.nth, PLAN_LAYOUT.last)
      bytes.writeInt32LE(constants.errno[fault.error], PLAN_LAYOUT.number)
      bytes.writeInt32LE(fault.half ? 1 : 0, PLAN_LAYOUT.half)
      bytes.writeInt32LE(fault.full ? 1 : 0, PLAN_LAYOUT.full)
      bytes.write(fault.call ?? '', CALL_OFFSET)
      bytes.write(fault.ending ?? '', ENDING_OFFSET)
    }
    writeSync(this.#descriptor, bytes, 0, PLAN_BYTES, 0)
  }

  /** The first call that has failed since arming, and its file below the folder; null if none has. */
  readFailure(): string | null {
    const bytes = Buffer.alloc(PLAN_BYTES)
    readSync(this.#descriptor, bytes, 0, PLAN_BYTES, 0)
    if (bytes.readInt32LE(PLAN_LAYOUT.failed) === 0) return null
    return bytes.toString('utf8', WHAT_OFFSET, bytes.indexOf(0, WHAT_OFFSET))
  }

  /** Number of matching calls since arming. */
  readCount(): number {
    const bytes = Buffer.alloc(4)
    readSync(this.#descriptor, bytes, 0, 4, PLAN_LAYOUT.counted)
    return bytes.readInt32LE()
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}
