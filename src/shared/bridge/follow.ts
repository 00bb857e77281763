import type { BridgeClient } from './contract.ts'

let streams = 0

/** Yields what `read` makes of each event, and requests the next once the consumer has taken it. */
async function* follow<Event extends { sequence: number }, Said>(
  { client, name, signal }: { client: BridgeClient; name: string; signal: AbortSignal | undefined },
  watch: (stream: { streamId: string }, options: { signal?: AbortSignal }) => Promise<AsyncIterable<Event>>,
  read: (event: Event) => Said,
): AsyncGenerator<Said, void> {
  const streamId = `${name}-${++streams}`
  for await (const event of await watch({ streamId }, signal === undefined ? {} : { signal })) {
    yield read(event)
    await client.events.seen({ streamId, sequence: event.sequence })
  }
}

/**
 * Yields snapshots of a run, the newest one at once, at most ten a second, and ends with the run. A slow
 * consumer gets the newest and skips the others. Ends at once if the run is not held.
 */
export function followRun(client: BridgeClient, runId: string, signal?: AbortSignal) {
  return follow(
    { client, name: 'run', signal },
    (stream, options) => client.runs.watch({ runId, ...stream }, options),
    ({ snapshot }) => snapshot,
  )
}

/** Yields events about runs, the first one at once, until the caller stops or the signal aborts. */
export function followRuns(client: BridgeClient, signal?: AbortSignal) {
  return follow({ client, name: 'runs', signal }, client.runs.watchAll, (event) => event)
}

/** Yields the state of a capacity search, now and at most twice a second, and ends with the search. */
export function followCapacity(client: BridgeClient, searchId: string, signal?: AbortSignal) {
  return follow(
    { client, name: 'capacity', signal },
    (stream, options) => client.capacity.watch({ searchId, ...stream }, options),
    ({ progress }) => progress,
  )
}

/** Yields the state of the receiver, now and whenever it changes; null while it is not open. */
export function followReceiver(client: BridgeClient, signal?: AbortSignal) {
  return follow({ client, name: 'receiver', signal }, client.receiver.watch, ({ receiver }) => receiver)
}

/** Yields the production question that this window waits for, now and at each change; null without one. */
export function followQuestion(client: BridgeClient, signal?: AbortSignal) {
  return follow({ client, name: 'question', signal }, client.production.watch, ({ question }) => question)
}
