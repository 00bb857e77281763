import type { ContractRouterClient } from '@orpc/contract'
import { appContract } from './app.ts'
import { checkContract } from './check.ts'
import { connectionsContract } from './connections.ts'
import { eventsContract } from './events.ts'
import { exportsContract } from './exports.ts'
import { loadContract } from './load.ts'
import { receiverContract } from './receiver.ts'
import { resultsContract } from './results.ts'
import { reviewContract } from './review.ts'
import { runsContract } from './runs.ts'
import { sandboxContract } from './sandbox.ts'
import { sourceContract } from './source.ts'

/** Everything a window can ask of the engine. */
export const bridgeContract = {
  app: appContract,
  runs: runsContract,
  events: eventsContract,
  connections: connectionsContract,
  source: sourceContract,
  check: checkContract,
  review: reviewContract,
  receiver: receiverContract,
  results: resultsContract,
  load: loadContract,
  exports: exportsContract,
  sandbox: sandboxContract,
}

/** The bridge as a window calls it, over whichever transport. */
export type BridgeClient = ContractRouterClient<typeof bridgeContract>
