import type { RunListEvent } from '../../shared/bridge/runs.ts'
import type { RunHandle } from '../engine/engine-interface.ts'
import { type BridgeContext, type Handlers, toReportedError } from './bridge-context.ts'
import type { Crashes } from './crashes.ts'
import { type EventSource, streamEvents } from './event-stream.ts'
import type { LiveRuns } from './live-runs.ts'

/** Least time between two snapshots of a run: at most ten a second. */
const RUN_INTERVAL_MS = 100
/** Least time between two updates of the list of runs: at most two a second. */
const LIST_INTERVAL_MS = 500

/** The end of a source that continues as long as a window watches. */
export const NEVER = new Promise<never>(() => {})

interface Watching {
  context: BridgeContext
  input: { streamId: string }
  signal?: AbortSignal | undefined
}

/**
 * Sends the values of a source to a window, at most one per `intervalMs`, and nothing without a source. If
 * the source ends with an error, throws one of the contract's.
 */
export async function* watch<Said extends object>(
  { context: { clock, gates }, input: { streamId }, signal = new AbortController().signal }: Watching,
  intervalMs: number,
  find: (signal: AbortSignal) => EventSource<Said> | null | Promise<EventSource<Said> | null>,
): AsyncGenerator<Said & { sequence: number }, void> {
  try {
    const source = await find(signal)
    if (source === null) return
    for await (const { sequence, value } of streamEvents(source, {
      clock,
      gates,
      streamId,
      intervalMs,
      signal,
    })) {
      yield { ...value, sequence }
    }
  } catch (error) {
    throw toReportedError(error)
  }
}

function toRunSource(handle: RunHandle) {
  return {
    read: () => {
      const snapshot = handle.snapshot()
      return snapshot === null ? null : { snapshot }
    },
    onChange: (listener: () => void) => handle.onSnapshot(listener),
    ended: handle.ended,
  }
}

function toListSource(liveRuns: LiveRuns, crashes: Crashes): EventSource<Omit<RunListEvent, 'sequence'>> {
  return {
    read: () => ({ revision: liveRuns.revision(), live: liveRuns.snapshots(), crashes: crashes.list() }),
    onChange(listener) {
      const stops = [liveRuns.onChange(listener), crashes.onChange(listener)]
      return () => {
        for (const stop of stops) stop()
      }
    },
    ended: NEVER,
  }
}

export const watchRun: Handlers<'runs'>['watch'] = (request) =>
  watch(request, RUN_INTERVAL_MS, async () => {
    const { engine, liveRuns } = request.context
    const { runId } = request.input
    const handle = liveRuns.find(runId)
    if (handle !== null) return toRunSource(handle)
    const failure = liveRuns.failureOf(runId)
    if (failure !== undefined) throw failure
    // Throws RUN_NOT_FOUND if the run does not exist.
    await engine.runs.summarizeRun(runId)
    return null
  })

export const watchRuns: Handlers<'runs'>['watchAll'] = (request) =>
  watch(request, LIST_INTERVAL_MS, () => toListSource(request.context.liveRuns, request.context.crashes))

export const eventsHandlers: Handlers<'events'> = {
  seen: ({ context, input }) => context.gates.noteSeen(input.streamId, input.sequence),
}
