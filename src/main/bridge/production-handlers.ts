import type { WaitingQuestion } from '../../shared/bridge/production.ts'
import { type Handlers, withBridgeErrors } from './bridge-context.ts'
import { streamEvents } from './event-stream.ts'

/** Least time between two events, milliseconds. */
const INTERVAL_MS = 50

/** That a question waits, for the window that caused it. */
export const productionHandlers: Handlers<'production'> = {
  watch: async function* ({ context, input, signal }) {
    const options = {
      ...{ clock: context.clock, gates: context.gates, streamId: input.streamId, intervalMs: INTERVAL_MS },
      signal: signal ?? new AbortController().signal,
    }
    const source = { ...context.question, ended: new Promise<never>(() => {}) }
    yield* withBridgeErrors(toEvents(streamEvents(source, options)))
  },
  cancel: ({ context, input }) => context.question.cancel(input.id),
}

async function* toEvents(
  events: AsyncIterable<{ sequence: number; value: { question: WaitingQuestion | null } }>,
) {
  for await (const { sequence, value } of events) yield { sequence, ...value }
}
