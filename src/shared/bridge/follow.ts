import type { ReceiverState } from '../run/callback-overview.ts'
import type { RunSnapshot } from '../run/snapshot.ts'
import type { CapacityProgress } from './capacity.ts'
import type { BridgeClient } from './contract.ts'
import type { WaitingQuestion } from './production.ts'
import type { RunListEvent } from './runs.ts'

let streams = 0

/**
 * Yields snapshots of a run, the newest one at once, at most ten a second, and ends with the run. However long the
 * consumer takes, it gets the newest and skips the others. If the run is not held, it ends at once.
 */
export async function* followRun(
  client: BridgeClient,
  runId: string,
  signal?: AbortSignal,
): AsyncGenerator<RunSnapshot, void> {
  const streamId = `run-${++streams}`
  const events = await client.runs.watch({ runId, streamId }, toOptions(signal))
  for await (const { snapshot, sequence } of events) {
    yield snapshot
    await client.events.seen({ streamId, sequence })
  }
}

/** Yields what happens to runs, one event at once, until the caller stops or the signal aborts. */
export async function* followRuns(
  client: BridgeClient,
  signal?: AbortSignal,
): AsyncGenerator<RunListEvent, void> {
  const streamId = `runs-${++streams}`
  const events = await client.runs.watchAll({ streamId }, toOptions(signal))
  for await (const event of events) {
    yield event
    await client.events.seen({ streamId, sequence: event.sequence })
  }
}

/** Yields how a capacity search stands, the newest picture at once, at most two a second, and ends with the search. */
export async function* followCapacity(
  client: BridgeClient,
  searchId: string,
  signal?: AbortSignal,
): AsyncGenerator<CapacityProgress, void> {
  const streamId = `capacity-${++streams}`
  const events = await client.capacity.watch({ searchId, streamId }, toOptions(signal))
  for await (const { progress, sequence } of events) {
    yield progress
    await client.events.seen({ streamId, sequence })
  }
}

/** Yields the state of the receiver, the present one at once, whenever it changes; null while it is not open. */
export async function* followReceiver(
  client: BridgeClient,
  signal?: AbortSignal,
): AsyncGenerator<ReceiverState | null, void> {
  const streamId = `receiver-${++streams}`
  const events = await client.receiver.watch({ streamId }, toOptions(signal))
  for await (const { receiver, sequence } of events) {
    yield receiver
    await client.events.seen({ streamId, sequence })
  }
}

/** Yields the question before production that this window waits for, the present one at once; null while there is none. */
export async function* followQuestion(
  client: BridgeClient,
  signal?: AbortSignal,
): AsyncGenerator<WaitingQuestion | null, void> {
  const streamId = `question-${++streams}`
  const events = await client.production.watch({ streamId }, toOptions(signal))
  for await (const { question, sequence } of events) {
    yield question
    await client.events.seen({ streamId, sequence })
  }
}

function toOptions(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal }
}
