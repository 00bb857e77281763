import type { Handlers } from './bridge-context.ts'
import { NEVER, watch } from './watch-handlers.ts'

/** Least time between two events, milliseconds. */
const INTERVAL_MS = 50

export const productionHandlers: Handlers<'production'> = {
  watch: (request) => watch(request, INTERVAL_MS, () => ({ ...request.context.question, ended: NEVER })),
  cancel: ({ context, input }) => context.question.cancel(input.id),
}
