import type { RunRecord } from '../journal/run-record.ts'
import { toCallbackPath } from './callback-address.ts'
import { toMediaPath } from './media-address.ts'

/** Addresses that go out in a run's requests; always the same for a run and those that retry it. */
export interface RunAddresses {
  /** Where the service posts the outcome of an item; null where the run has no callbacks. */
  toCallbackUrl(item: number): string | null
  /** Where the service finds a media file of the source's folder. */
  toMediaUrl(path: string): string
}

/** Builds the addresses of a run; `readSecret` gives the workspace's secret and is asked only where one is needed. */
export function createRunAddresses(
  { runToken, callbackBase, mediaBase }: Pick<RunRecord, 'runToken' | 'callbackBase' | 'mediaBase'>,
  readSecret: () => string,
): RunAddresses {
  const secret = callbackBase === null && mediaBase === null ? '' : readSecret()
  return {
    toCallbackUrl: (item) =>
      callbackBase === null ? null : callbackBase + toCallbackPath(secret, { runToken, item }),
    toMediaUrl: (path) => (mediaBase ?? '') + toMediaPath(secret, { runToken, path }),
  }
}
