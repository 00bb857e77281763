import type { ConnectionEntry } from '../../shared/bridge/connections.ts'
import type { RunRequestInput } from '../../shared/bridge/runs.ts'
import { suggestMapping, toFilledBy, toPlanMapping } from '../../shared/mapping/match-columns.ts'
import {
  isAsync,
  type Operation,
  sendsKey,
  targetOf,
  withTarget,
} from '../../shared/operations/operations.ts'
import { RETRY_OPTIONS } from '../../shared/options/retry-options.ts'
import { findLoadGap, toPlanLoad } from '../features/operation/load-settings.ts'
import {
  findCallbackGap,
  findOperationGap,
  toPlanCallback,
} from '../features/operation/operation-settings.ts'
import { findSettingsGap } from '../features/review/settings.ts'
import { findMediaGap, toPlanMedia } from '../features/source/reading.ts'
import { findDestinationGap, findEntry, parseServiceUrl } from '../ui/connection/destination.ts'
import { readTyped } from '../ui/options/typed-options.ts'
import type { Draft } from './draft.ts'

/** What is missing in the operation or destination before rows can be checked; null if nothing. */
export function findOperationTodo(
  draft: Draft,
  known: { connections: readonly ConnectionEntry[] },
): string | null {
  const { operation, callback, settings } = draft
  return (
    findOperationGap(operation) ??
    (draft.isLoad ? findLoadGap(draft.load) : null) ??
    findSettingsGap(settings) ??
    (isAsync(operation) ? findCallbackGap(callback) : null) ??
    findDestinationGap(settings.destination, {
      ...known,
      needsKey: sendsKey(operation),
    })
  )
}

/** What is missing before a folder's media files can be sent; null if nothing. */
export function findMediaTodo({ preview, media }: Draft): string | null {
  return preview?.format === 'folder' ? findMediaGap(media) : null
}

/** The run for a draft; null while it has no source or no usable address. It never contains the key. */
export function toRunRequest(draft: Draft, connections: readonly ConnectionEntry[]): RunRequestInput | null {
  const { source, reading, media, preview, mapping, fixes, onlyNew, operation, callback, settings } = draft
  const destination = toDestination(draft, connections)
  const load = draft.isLoad ? toPlanLoad(draft.load) : undefined
  if (source === null || destination === null || load === null) return null
  const { concurrency, retry, timeoutS } = settings
  const columns = preview?.columns ?? []
  return {
    destination,
    timeoutMs: timeoutS * 1000,
    source: {
      sourceId: source.sourceId,
      ...reading,
      ...(preview?.format === 'folder' && { format: 'folder', media: toPlanMedia(media) }),
    },
    mapping: toPlanMapping(mapping, columns, operation),
    filledBy: toFilledBy(mapping, suggestMapping(columns, operation, preview)),
    ...(fixes.length > 0 && { fixes: [...fixes] }),
    ...(onlyNew && !draft.isLoad && { onlyNew }),
    operation: toPlanOperation(operation),
    ...(isAsync(operation) && { callback: toPlanCallback(callback) }),
    pace: { kind: 'closed', concurrency },
    ...(load !== undefined && { load }),
    retry: {
      ...readTyped(RETRY_OPTIONS, retry).values,
      ...(load !== undefined && { limit: draft.load.retries }),
    },
  }
}

function toDestination(
  { operation, settings: { destination } }: Draft,
  connections: readonly ConnectionEntry[],
): RunRequestInput['destination'] | null {
  if (destination.kind === 'sandbox') return { kind: 'sandbox' }
  if (destination.kind === 'stored') {
    const entry = findEntry(destination, connections)
    return entry === null ? null : { kind: 'stored', name: entry.name }
  }
  const url = parseServiceUrl(destination.baseUrl)
  if (url.kind === 'bad') return null
  const isV2 = operation.kind === 'task' && operation.api === 'v2'
  const second = parseServiceUrl(destination.taskBaseUrl)
  return {
    kind: 'service',
    baseUrl: url.url,
    ...(isV2 && second.kind === 'url' && { taskBaseUrl: second.url }),
  }
}

/** The key typed for the draft's service; null: the sandbox needs none, a stored connection has its own. */
export function typedKey(draft: Draft): string | null {
  const { destination } = draft.settings
  if (destination.kind === 'sandbox') return null
  const key = destination.apiKey.trim()
  return key === '' ? null : key
}

/** Trims typed names, since copying often adds spaces. */
function toPlanOperation(operation: Operation): Operation {
  return withTarget(operation, targetOf(operation)?.trim() ?? '')
}
