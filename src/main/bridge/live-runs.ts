import type { ErrorId } from '../../shared/messages/error-messages.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import type { Plan } from '../../shared/plan/plan.ts'
import type { RunSnapshot } from '../../shared/run/snapshot.ts'
import type { RunHandle } from '../engine/engine-interface.ts'

/** Failures that are kept for windows that ask after the run has ended. */
const FAILURES_MAX = 100

/** The runs that this process holds, for every window. */
export interface LiveRuns {
  /** Holds a run that was just started with that plan, until it ends. */
  add(handle: RunHandle, plan: Plan): void
  /** The handle of a held run, or null. */
  find(runId: string): RunHandle | null
  /** The name of a held run; null where it has none but its id, or is not held. */
  findName(runId: string): string | null
  /** The handle of a held run. Throws what ended it, or `RUN_NOT_HELD`. */
  require(runId: string): RunHandle
  /** The plan of a held run. Throws as {@link require} does. */
  requirePlan(runId: string): Plan
  /** What ended a run that is no longer held, where it was a failure. */
  failureOf(runId: string): unknown
  /** The newest picture of each held run. */
  snapshots(): RunSnapshot[]
  /** Grows with each run that begins, ends or is deleted. */
  revision(): number
  /** Announces that the list of runs changed. */
  noteChange(): void
  /** Calls the listener at each new revision and picture; returns a function that stops this. */
  onChange(listener: () => void): () => void
}

/** What ends a run without being about its rows or its plan. That its own thread broke off is known already. */
const CRASHES: ReadonlySet<ErrorId> = new Set(['unexpected', 'load_thread_out_of_memory'])

/**
 * Makes the register of held runs, empty. `noteCrash` is called with what ended a run that nothing was wrong with,
 * `whenEnded` with each run that ended otherwise.
 */
export function createLiveRuns(
  noteCrash: (error: SluiceError) => void,
  whenEnded: (runId: string) => void,
): LiveRuns {
  const held = new Map<string, { handle: RunHandle; plan: Plan }>()
  const failures = new Map<string, unknown>()
  const listeners = new Set<() => void>()
  let revision = 1

  const tell = () => {
    for (const listener of listeners) listener()
  }
  const noteChange = () => {
    revision += 1
    tell()
  }
  const noteFailure = (runId: string, error: unknown) => {
    failures.set(runId, error)
    if (error instanceof SluiceError && CRASHES.has(error.said.id)) {
      noteCrash(new SluiceError({ id: 'run_broke_off', runId, reason: error.message }, { cause: error }))
    }
    const [oldest] = failures.keys()
    if (failures.size > FAILURES_MAX && oldest !== undefined) failures.delete(oldest)
  }

  const requireHeld = (runId: string) => {
    const found = held.get(runId)
    if (found !== undefined) return found
    const failure = failures.get(runId)
    if (failure !== undefined) throw failure
    throw new SluiceError({ id: 'run_not_held', runId })
  }

  return {
    add(handle, plan) {
      const { runId } = handle
      failures.delete(runId)
      held.set(runId, { handle, plan })
      const stopListening = handle.onSnapshot(tell)
      const forget = () => {
        stopListening()
        held.delete(runId)
        noteChange()
      }
      handle.ended.then(
        () => {
          forget()
          whenEnded(runId)
        },
        (error: unknown) => {
          noteFailure(runId, error)
          forget()
        },
      )
      noteChange()
    },
    find: (runId) => held.get(runId)?.handle ?? null,
    findName: (runId) => held.get(runId)?.plan.name ?? null,
    require: (runId) => requireHeld(runId).handle,
    requirePlan: (runId) => requireHeld(runId).plan,
    failureOf: (runId) => failures.get(runId),
    snapshots: () =>
      [...held.values()].map(({ handle }) => handle.snapshot()).filter((snapshot) => snapshot !== null),
    revision: () => revision,
    noteChange,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
