import { SluiceError } from '../../../shared/messages/errors.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import type { StartOptions } from '../engine-interface.ts'
import type { ApiKey } from '../secrets/bound-secret.ts'

/** What a run may send, sealed for its thread. Throws `NO_API_KEY` where its key is missing or for other addresses. */
export function toSecrets(
  { apiKey, proxyCredentials, isTrial }: StartOptions,
  { operation, connection }: Plan,
) {
  // The status of an appeal is read without a key (docs/interface.md §5.6).
  const needsKey = operation.kind !== 'appeal-status' && isTrial !== true
  return {
    apiKey: needsKey ? requireKey(apiKey, connection).seal() : null,
    proxyCredentials: proxyCredentials?.seal() ?? null,
  }
}

function requireKey(apiKey: ApiKey | undefined, connection: Plan['connection']): ApiKey {
  if (apiKey === undefined) throw toMissingKey(connection)
  apiKey.check(connection)
  return apiKey
}

function toMissingKey({ baseUrl, keyFrom }: Plan['connection']): SluiceError {
  return new SluiceError({ id: 'key_missing', baseUrl, wasTyped: keyFrom === 'window' })
}
