import { appHandlers, receiverHandlers, sandboxHandlers } from './app-handlers.ts'
import { bridge } from './bridge-context.ts'
import { capacityHandlers } from './capacity-handlers.ts'
import { baselinesHandlers, compareHandlers } from './compare-handlers.ts'
import { connectionsHandlers } from './connections-handlers.ts'
import { evaluateHandlers } from './evaluate-handlers.ts'
import { historyHandlers } from './history-handlers.ts'
import { listsHandlers } from './lists-handlers.ts'
import { mediaHandlers } from './media-handlers.ts'
import {
  checkHandlers,
  exportsHandlers,
  loadHandlers,
  resultsHandlers,
  reviewHandlers,
} from './results-handlers.ts'
import { runsHandlers } from './runs-handlers.ts'
import { sourceHandlers } from './sources.ts'
import { labellingHandlers, verdictsHandlers } from './verdicts-handlers.ts'
import { viewsHandlers } from './views-handlers.ts'
import { eventsHandlers } from './watch-handlers.ts'

/** Every procedure of the contract with its handler. */
export const bridgeRouter = bridge.router({
  app: appHandlers,
  runs: runsHandlers,
  history: historyHandlers,
  lists: listsHandlers,
  events: eventsHandlers,
  connections: connectionsHandlers,
  source: sourceHandlers,
  check: checkHandlers,
  review: reviewHandlers,
  receiver: receiverHandlers,
  results: resultsHandlers,
  evaluate: evaluateHandlers,
  verdicts: verdictsHandlers,
  labelling: labellingHandlers,
  media: mediaHandlers,
  views: viewsHandlers,
  load: loadHandlers,
  capacity: capacityHandlers,
  exports: exportsHandlers,
  compare: compareHandlers,
  baselines: baselinesHandlers,
  sandbox: sandboxHandlers,
})
