import type { ConnectionEntry } from '../../shared/bridge/connections.ts'
import { isAsync, type Operation } from '../../shared/operation.ts'
import type { PlanInput } from '../../shared/plan.ts'
import { toPlanMapping } from '../features/mapping/match-columns.ts'
import { toPlanCallback } from '../features/operation/callback-settings.ts'
import { toPlanLoad } from '../features/operation/load-settings.ts'
import { toPlanMedia } from '../features/source/reading.ts'
import { findEntry, parseBaseUrl } from '../ui/connection/destination.ts'
import type { Draft } from './draft.ts'

/** The environment variable whose key is used where none was typed. */
export const API_KEY_ENV = 'SLUICE_API_KEY'

/** What a destination stands for at the moment. */
export interface KnownPlaces {
  sandboxBaseUrl: string
  connections: readonly ConnectionEntry[]
}

/** The plan that a draft comes to; null while it has no source or no usable address. The key is never part of it. */
export function toPlan(draft: Draft, places: KnownPlaces): PlanInput | null {
  const { source, reading, media, preview, mapping, operation, callback, settings } = draft
  const connection = toConnection(draft, places)
  const load = draft.isLoad ? toPlanLoad(draft.load) : undefined
  if (source === null || connection === null || load === null) return null
  const { concurrency, retries, timeoutS } = settings
  return {
    name: source.name,
    connection: { ...connection, timeoutMs: timeoutS * 1000 },
    source: {
      path: source.path,
      ...reading,
      ...(preview?.format === 'folder' && { format: 'folder', media: toPlanMedia(media) }),
    },
    mapping: toPlanMapping(mapping, preview?.columns ?? [], operation),
    operation: toPlanOperation(operation),
    ...(isAsync(operation) && { callback: toPlanCallback(callback) }),
    pace: { kind: 'closed', concurrency },
    ...(load !== undefined && { load }),
    // What a load test sends again would hide what it measures.
    retry: { limit: load === undefined ? retries : 0 },
  }
}

function toConnection(
  { operation, settings: { destination } }: Draft,
  { sandboxBaseUrl, connections }: KnownPlaces,
): PlanInput['connection'] | null {
  if (destination.kind === 'sandbox') return { baseUrl: sandboxBaseUrl, apiKeyEnv: API_KEY_ENV }
  if (destination.kind === 'stored') return findEntry(destination, connections)?.connection ?? null
  const url = parseBaseUrl(destination.baseUrl)
  if (url.kind === 'bad') return null
  const isV2 = operation.kind === 'task' && operation.api === 'v2'
  const second = parseBaseUrl(destination.taskBaseUrl)
  return {
    baseUrl: url.url,
    apiKeyEnv: API_KEY_ENV,
    ...(isV2 && second.kind === 'url' && { taskBaseUrl: second.url }),
  }
}

/** The key that was typed for the draft's service, or null: the sandbox needs none, an empty one means the environment's. */
export function typedKey(draft: Draft): string | null {
  const { destination } = draft.settings
  if (destination.kind === 'sandbox') return null
  const key = destination.apiKey.trim()
  return key === '' ? null : key
}

/** Names as they were typed, without the spaces around them that come with copying. */
function toPlanOperation(operation: Operation): Operation {
  if ('indexId' in operation) return { ...operation, indexId: operation.indexId.trim() }
  if ('watchlist' in operation) return { ...operation, watchlist: operation.watchlist.trim() }
  return operation
}
