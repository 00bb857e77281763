import { randomUUID } from 'node:crypto'
import type { Crash } from '../../shared/bridge/crashes.ts'
import type { SluiceError } from '../../shared/messages/errors.ts'
import { onThreadCrash } from '../worker-rpc.ts'
import { createListeners } from './event-stream.ts'

/** Most crashes kept for windows; the newest are kept. */
const CRASHES_MAX = 20

/** Records the crashes of this process. `findName` returns the name of a held run, null for any other. */
export function createCrashes(findName: (runId: string) => string | null) {
  let kept: Crash[] = []
  const { tell, onChange } = createListeners()
  const crashed = new Set<(error: SluiceError) => void>()
  const keep = (crashes: Crash[]) => {
    kept = crashes
    tell()
  }
  const note = (error: SluiceError) => {
    const runId = 'runId' in error.said && typeof error.said.runId === 'string' ? error.said.runId : null
    const name = runId === null ? null : findName(runId)
    // The log gets the error without the name, which a person may have typed.
    const said = error.said.id === 'run_broke_off' && name !== null ? { ...error.said, name } : error.said
    keep([...kept, { crashId: randomUUID(), said, runId }].slice(-CRASHES_MAX))
    for (const listener of crashed) listener(error)
  }
  return {
    list: (): Crash[] => kept,
    /** Records and announces a crash. */
    note,
    dismiss: (crashId: string): void => keep(kept.filter((crash) => crash.crashId !== crashId)),
    /** Calls the listener whenever the list changes; returns a function that stops this. */
    onChange,
    onCrash: (listener: (error: SluiceError) => void): void => void crashed.add(listener),
    close: onThreadCrash(note),
  }
}

/** Crashes of this process, until a person dismisses them. */
export interface Crashes extends ReturnType<typeof createCrashes> {}
