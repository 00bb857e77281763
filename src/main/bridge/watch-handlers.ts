import type { RunListEvent } from '../../shared/bridge/runs.ts'
import type { RunSnapshot } from '../../shared/run/snapshot.ts'
import type { RunHandle } from '../engine/engine-interface.ts'
import { type BridgeContext, type Handlers, withBridgeErrors } from './bridge-context.ts'
import type { Crashes } from './crashes.ts'
import { type EventSource, streamEvents } from './event-stream.ts'
import type { LiveRuns } from './live-runs.ts'

/** Ten snapshots of one run a second, at most. */
const RUN_INTERVAL_MS = 100
/** Two pictures of all runs a second, at most. */
const LIST_INTERVAL_MS = 500

const NEVER = new Promise<never>(() => {})

function toRunSource(handle: RunHandle): EventSource<RunSnapshot> {
  return {
    read: () => handle.snapshot(),
    onChange: (listener) => handle.onSnapshot(listener),
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

async function* watchRun(
  { clock, engine, gates, liveRuns }: BridgeContext,
  { runId, streamId }: { runId: string; streamId: string },
  signal: AbortSignal,
) {
  const handle = liveRuns.find(runId)
  if (handle === null) {
    const failure = liveRuns.failureOf(runId)
    if (failure !== undefined) throw failure
    // Throws RUN_NOT_FOUND if the run does not exist.
    await engine.runs.summarizeRun(runId)
    return
  }
  const options = { clock, gates, streamId, intervalMs: RUN_INTERVAL_MS, signal }
  for await (const { sequence, value } of streamEvents(toRunSource(handle), options)) {
    yield { sequence, snapshot: value }
  }
}

async function* watchRuns(
  { clock, crashes, gates, liveRuns }: BridgeContext,
  streamId: string,
  signal: AbortSignal,
) {
  const options = { clock, gates, streamId, intervalMs: LIST_INTERVAL_MS, signal }
  for await (const { sequence, value } of streamEvents(toListSource(liveRuns, crashes), options)) {
    yield { sequence, ...value }
  }
}

export const watchHandler: Handlers<'runs'>['watch'] = async function* ({ context, input, signal }) {
  yield* withBridgeErrors(watchRun(context, input, signal ?? new AbortController().signal))
}

export const watchAllHandler: Handlers<'runs'>['watchAll'] = async function* ({ context, input, signal }) {
  yield* withBridgeErrors(watchRuns(context, input.streamId, signal ?? new AbortController().signal))
}

/** The back channel of the event streams. */
export const eventsHandlers: Handlers<'events'> = {
  seen: ({ context, input }) => context.gates.noteSeen(input.streamId, input.sequence),
}
