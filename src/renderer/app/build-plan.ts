import type { PlanInput } from '../../shared/plan.ts'
import { parseBaseUrl } from '../features/review/settings.ts'
import type { Draft } from './draft.ts'

/** The environment variable whose key is used where none was typed. */
export const API_KEY_ENV = 'SLUICE_API_KEY'

/** The plan that a draft comes to; null while it has no source or no usable address. The key is never part of it. */
export function toPlan(draft: Draft, sandboxBaseUrl: string): PlanInput | null {
  const { source, reading, mapping, operation, settings } = draft
  if (source === null) return null
  const { destination, concurrency, retries, timeoutS } = settings
  const url = destination.kind === 'sandbox' ? null : parseBaseUrl(destination.baseUrl)
  if (url?.kind === 'bad') return null
  return {
    name: source.name,
    connection: {
      baseUrl: url === null ? sandboxBaseUrl : url.url,
      apiKeyEnv: API_KEY_ENV,
      timeoutMs: timeoutS * 1000,
    },
    source: { path: source.path, ...reading },
    mapping,
    operation,
    pace: { kind: 'closed', concurrency },
    retry: { limit: retries },
  }
}

/** The key that was typed for the draft's service, or null: the sandbox needs none, an empty one means the environment's. */
export function typedKey(draft: Draft): string | null {
  const { destination } = draft.settings
  if (destination.kind === 'sandbox') return null
  const key = destination.apiKey.trim()
  return key === '' ? null : key
}
