import { isDeepStrictEqual } from 'node:util'
import type { ReceiverState } from '../../shared/run/callback-overview.ts'
import type { BridgeContext, Handlers } from './bridge-context.ts'
import { createListeners } from './event-stream.ts'
import { watch } from './watch-handlers.ts'

/** How often the receiver's state is checked while a window follows it, milliseconds. */
const LOOK_EVERY_MS = 1_000

/** Longest part of a callback that is sent to a page, UTF-16 code units. */
const BODY_MAX = 64 * 1024

export const receiverHandlers: Handlers<'receiver'> = {
  status: ({ context: { engine } }) => engine.receiver.status(),
  open: ({ context: { engine } }) => engine.receiver.open(),
  test: async ({ context: { engine, productionGate }, input: { publicUrl } }) => {
    productionGate.refuseAddress(publicUrl)
    await engine.receiver.open()
    return engine.receiver.test(publicUrl)
  },
  overview: async ({ context: { engine } }) => {
    await engine.runs.settleLate()
    return engine.receiver.readCallbackOverview()
  },
  readBody: async ({ context: { engine }, input: { id } }) => {
    const text = await engine.receiver.readCallbackBody(id)
    return text === null ? null : { text: text.slice(0, BODY_MAX).toWellFormed(), length: text.length }
  },
  watch: (request) => watch(request, LOOK_EVERY_MS, (signal) => toSource(request.context, signal)),
}

/** The state of the receiver, checked until the signal aborts. */
function toSource({ clock, engine }: BridgeContext, signal: AbortSignal) {
  let state: { receiver: ReceiverState | null } | null = null
  const { tell, onChange } = createListeners()
  // Settles when the window closes; rejects if the receiver cannot be asked.
  const ended = (async () => {
    while (!signal.aborted) {
      const now = { receiver: await engine.receiver.status() }
      if (!isDeepStrictEqual(now, state)) {
        state = now
        tell()
      }
      await clock.wait(LOOK_EVERY_MS, signal)
    }
  })()
  return {
    read: () => state,
    onChange,
    ended,
  }
}
