import type { ErrorId } from '../../shared/messages/error-messages.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import type { Plan } from '../../shared/plan/plan.ts'
import type { RunSnapshot } from '../../shared/run/snapshot.ts'
import type { RunHandle } from '../engine/engine-interface.ts'
import { createListeners } from './event-stream.ts'

/** Most failures kept for windows that ask after a run has ended. */
const FAILURES_MAX = 100

/** Errors that end a run for other reasons than its rows or plan. Broken-off threads are already recorded. */
const CRASHES: ReadonlySet<ErrorId> = new Set(['unexpected', 'load_thread_out_of_memory'])

/**
 * Creates an empty register of held runs. `noteCrash` is called with errors that are not due to the run
 * itself, `whenEnded` for each run that ended without any error.
 */
export function createLiveRuns(noteCrash: (error: SluiceError) => void, whenEnded: (runId: string) => void) {
  const held = new Map<string, { handle: RunHandle; plan: Plan }>()
  const failures = new Map<string, unknown>()
  const { tell, onChange } = createListeners()
  let revision = 1

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
    /** Holds a newly started run with its plan until it ends. */
    add(handle: RunHandle, plan: Plan): void {
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
    find: (runId: string): RunHandle | null => held.get(runId)?.handle ?? null,
    /** The name of a held run; null if it has none or is not held. */
    findName: (runId: string): string | null => held.get(runId)?.plan.name ?? null,
    /** The handle of a held run. Throws the error that ended it, or `RUN_NOT_HELD`. */
    require: (runId: string): RunHandle => requireHeld(runId).handle,
    /** The plan of a held run. Throws as {@link require} does. */
    requirePlan: (runId: string): Plan => requireHeld(runId).plan,
    /** The error that ended a run; undefined if it is held or ended without one. */
    failureOf: (runId: string): unknown => failures.get(runId),
    snapshots: (): RunSnapshot[] =>
      [...held.values()].map(({ handle }) => handle.snapshot()).filter((snapshot) => snapshot !== null),
    /** Grows whenever a run begins, ends or is deleted. */
    revision: (): number => revision,
    noteChange,
    /** Calls the listener for each new revision and snapshot; returns a function that removes it. */
    onChange,
  }
}

/** The runs that this process holds, shared by all windows. */
export interface LiveRuns extends ReturnType<typeof createLiveRuns> {}
