import { bridge } from './implementer.ts'

/** The back channel of the event streams. */
export const eventsHandlers = bridge.events.router({
  seen: bridge.events.seen.handler(async ({ context, input }) => {
    context.gates.noteSeen(input.streamId, input.sequence)
    return {}
  }),
})
