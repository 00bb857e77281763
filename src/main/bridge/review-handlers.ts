import { AUTHORIZATION_HEADER, JSON_CONTENT_TYPE, toAuthorization } from '../../shared/service/endpoints.ts'
import { bridge } from './implementer.ts'

const MASKED_KEY = '••••••••'

/** The last look before anything is sent. */
export const reviewHandlers = bridge.review.router({
  readRequest: bridge.review.readRequest.handler(async ({ context, input }) => {
    const [detail, { operation }] = await Promise.all([
      context.engine.readRow(input.runId, input.row),
      context.engine.readPlan(input.runId),
    ])
    const isInvalid = detail.result.state === 'invalid'
    return {
      row: input.row,
      place: detail.result.place,
      method: detail.requestMethod,
      url: detail.requestUrl,
      headers: toHeaders(detail.requestBody !== null, operation.kind !== 'appeal-status'),
      body: isInvalid ? null : detail.requestBody,
      isInvalid,
      problems: detail.problems,
    }
  }),
})

/** The headers of a request, the key masked; reading an appeal needs none (docs/interface.md §4.7). */
function toHeaders(hasBody: boolean, hasKey: boolean): [name: string, value: string][] {
  return [
    ...(hasBody ? [['content-type', JSON_CONTENT_TYPE] as [string, string]] : []),
    ['accept', JSON_CONTENT_TYPE],
    ...(hasKey ? [[AUTHORIZATION_HEADER, toAuthorization(MASKED_KEY)] as [string, string]] : []),
  ]
}
