import { implement, type Router } from '@orpc/server'
import { bridgeContract } from '../../shared/bridge/contract.ts'
import { appHandlers, crashesHandlers } from './app-handlers.ts'
import type { BridgeContext, Handlers } from './bridge-context.ts'
import { receiverHandlers } from './callbacks-handlers.ts'
import { capacityHandlers } from './capacity-handlers.ts'
import { baselinesHandlers, compareHandlers } from './compare-handlers.ts'
import { connectionsHandlers } from './connections-handlers.ts'
import { evaluateHandlers } from './evaluate-handlers.ts'
import { historyHandlers } from './history-handlers.ts'
import { listsHandlers } from './lists-handlers.ts'
import { mappingsHandlers } from './mappings-handlers.ts'
import { mediaHandlers } from './media-handlers.ts'
import { plansHandlers } from './plans-handlers.ts'
import { productionHandlers } from './production-handlers.ts'
import {
  checkHandlers,
  exportsHandlers,
  loadHandlers,
  resultsHandlers,
  reviewHandlers,
} from './results-handlers.ts'
import { runsHandlers } from './runs-handlers.ts'
import { sandboxHandlers } from './sandbox-handlers.ts'
import { scratchpadHandlers } from './scratchpad-handlers.ts'
import { settingsHandlers } from './settings-handlers.ts'
import { sourceHandlers } from './source-handlers.ts'
import { sqlHandlers } from './sql-handlers.ts'
import { labellingHandlers, verdictsHandlers } from './verdicts-handlers.ts'
import { viewsHandlers } from './views-handlers.ts'
import { eventsHandlers } from './watch-handlers.ts'

const HANDLERS: { [Part in keyof typeof bridgeContract]: Handlers<Part> } = {
  app: appHandlers,
  runs: runsHandlers,
  history: historyHandlers,
  plans: plansHandlers,
  lists: listsHandlers,
  events: eventsHandlers,
  connections: connectionsHandlers,
  production: productionHandlers,
  source: sourceHandlers,
  mappings: mappingsHandlers,
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
  sql: sqlHandlers,
  sandbox: sandboxHandlers,
  scratchpad: scratchpadHandlers,
  crashes: crashesHandlers,
  settings: settingsHandlers,
}

type AnyHandler = () => unknown
type AnyImplementer = Record<string, Record<string, { handler(handler: AnyHandler): unknown }>>

export const bridgeRouter = implementAll()

function implementAll() {
  const bridge = implement(bridgeContract).$context<BridgeContext>()
  const parts = Object.entries(HANDLERS).map(([part, handlers]) => [
    part,
    Object.fromEntries(
      Object.entries(handlers).map(([name, handler]) => [
        name,
        (bridge as unknown as AnyImplementer)[part]?.[name]?.handler(handler as AnyHandler),
      ]),
    ),
  ])
  return bridge.router(Object.fromEntries(parts) as Router<typeof bridgeContract, BridgeContext>)
}
