import type { ContractRouterClient } from '@orpc/contract'
import { appContract } from './app.ts'
import { receiverContract } from './callbacks.ts'
import { capacityContract } from './capacity.ts'
import { baselinesContract, compareContract } from './compare.ts'
import { connectionsContract } from './connections.ts'
import { crashesContract } from './crashes.ts'
import { evaluateContract } from './evaluate.ts'
import { historyContract } from './history.ts'
import { listsContract } from './lists.ts'
import { mappingsContract } from './mappings.ts'
import { mediaContract } from './media.ts'
import { plansContract } from './plans.ts'
import { productionContract } from './production.ts'
import { checkContract, exportsContract, loadContract, resultsContract, reviewContract } from './results.ts'
import { eventsContract, runsContract } from './runs.ts'
import { sandboxContract } from './sandbox.ts'
import { scratchpadContract } from './scratchpad.ts'
import { settingsContract } from './settings.ts'
import { sourceContract } from './source.ts'
import { sqlContract } from './sql.ts'
import { labellingContract, verdictsContract } from './verdicts.ts'
import { viewsContract } from './views.ts'

/** Everything a window can ask of the engine. */
export const bridgeContract = {
  app: appContract,
  runs: runsContract,
  history: historyContract,
  plans: plansContract,
  lists: listsContract,
  events: eventsContract,
  connections: connectionsContract,
  production: productionContract,
  source: sourceContract,
  mappings: mappingsContract,
  check: checkContract,
  review: reviewContract,
  receiver: receiverContract,
  results: resultsContract,
  evaluate: evaluateContract,
  verdicts: verdictsContract,
  labelling: labellingContract,
  media: mediaContract,
  views: viewsContract,
  load: loadContract,
  capacity: capacityContract,
  exports: exportsContract,
  compare: compareContract,
  baselines: baselinesContract,
  sql: sqlContract,
  sandbox: sandboxContract,
  scratchpad: scratchpadContract,
  crashes: crashesContract,
  settings: settingsContract,
}

/** The bridge as a window calls it, over whichever transport. */
export type BridgeClient = ContractRouterClient<typeof bridgeContract>
