import { appHandlers } from './app-handlers.ts'
import { checkHandlers } from './check-handlers.ts'
import { connectionsHandlers } from './connections-handlers.ts'
import { eventsHandlers } from './events-handlers.ts'
import { exportsHandlers } from './exports-handlers.ts'
import { bridge } from './implementer.ts'
import { loadHandlers } from './load-handlers.ts'
import { receiverHandlers } from './receiver-handlers.ts'
import { resultsHandlers } from './results-handlers.ts'
import { reviewHandlers } from './review-handlers.ts'
import { runsHandlers } from './runs-handlers.ts'
import { sandboxHandlers } from './sandbox-handlers.ts'
import { sourceHandlers } from './source-handlers.ts'

/** Every procedure of the contract with its handler. */
export const bridgeRouter = bridge.router({
  app: appHandlers,
  runs: runsHandlers,
  events: eventsHandlers,
  connections: connectionsHandlers,
  source: sourceHandlers,
  check: checkHandlers,
  review: reviewHandlers,
  receiver: receiverHandlers,
  results: resultsHandlers,
  load: loadHandlers,
  exports: exportsHandlers,
  sandbox: sandboxHandlers,
})
