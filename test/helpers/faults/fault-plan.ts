import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { constants } from 'node:os'

/** Which calls fail, and how. Only calls that change files are seen; `open` is one that creates nothing. */
export interface Fault {
  /** The call that fails, from 1 among those that match; with `toEnd` every later one fails, too. */
  nth: number
  toEnd?: true
  error: 'EIO' | 'ENOSPC' | 'EACCES'
  /** A failed write has written its first half. */
  half?: true
  /** Only calls that take room on the disk fail: creating, growing, making a folder. */
  full?: true
  /** Only calls of this name match. */
  call?: 'create' | 'open' | 'write' | 'truncate' | 'sync' | 'rename' | 'unlink' | 'mkdir' | 'chmod'
  /** Only files that end like this match. */
  ending?: string
}

/** Offsets of `struct plan` in fail-calls.c. */
const PLAN_LAYOUT = { counted: 0, first: 4, last: 8, number: 12, half: 16, full: 20, failed: 24 } as const
const CALL_OFFSET = 32
const ENDING_OFFSET = 64
const WHAT_OFFSET = 128
const PLAN_BYTES = 640

const NO_END = 2_147_483_647

/** The file that the preloaded library and the tests share. */
export class FaultPlan {
  readonly #descriptor: number

  /** Makes the file, with no fault in it. */
  constructor(file: string) {
    this.#descriptor = openSync(file, 'w+')
    this.arm(null)
  }

  /** Counts anew, and fails what the fault says; nothing if it is null. */
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

  /** What has failed since it was armed: the first call and its file, below the folder; null if nothing has. */
  readFailure(): string | null {
    const bytes = Buffer.alloc(PLAN_BYTES)
    readSync(this.#descriptor, bytes, 0, PLAN_BYTES, 0)
    if (bytes.readInt32LE(PLAN_LAYOUT.failed) === 0) return null
    return bytes.toString('utf8', WHAT_OFFSET, bytes.indexOf(0, WHAT_OFFSET))
  }

  /** The number of calls that matched since it was armed. */
  readCount(): number {
    const bytes = Buffer.alloc(4)
    readSync(this.#descriptor, bytes, 0, 4, PLAN_LAYOUT.counted)
    return bytes.readInt32LE()
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}
