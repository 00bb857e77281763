import { implement } from '@orpc/server'
import { bridgeContract } from '../../shared/bridge/contract.ts'
import type { BridgeContext } from './bridge-context.ts'

/** The contract, ready to be given handlers that work with a {@link BridgeContext}. */
export const bridge = implement(bridgeContract).$context<BridgeContext>()
