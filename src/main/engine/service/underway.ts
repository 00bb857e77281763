import { isJsonObject } from '../../../shared/service/json-object.ts'

/** Without words such as "accepted", which may be about the content. */
const UNDERWAY = /^(?:pending|processing|queued|running|started|in[ _-]?progress)$/i

/**
 * What shows that a body without a result is about a task that has not ended, such as `status "processing"`;
 * null if nothing does. `httpStatus` is null for a callback.
 */
export function findUnderway(body: unknown, httpStatus: number | null): string | null {
  if (isJsonObject(body)) {
    for (const name of ['status', 'state']) {
      const said = body[name]
      if (typeof said === 'string' && UNDERWAY.test(said)) return `${name} "${said}"`
    }
  }
  return httpStatus === 202 ? 'status 202 (Accepted)' : null
}
