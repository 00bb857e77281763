import { AUTHORIZATION_HEADER, JSON_CONTENT_TYPE, toAuthorization } from '../../shared/service/endpoints.ts'
import { bridge } from './implementer.ts'

const MASKED_KEY = '••••••••'

/** The last look before anything is sent. */
export const reviewHandlers = bridge.review.router({
  readRequest: bridge.review.readRequest.handler(async ({ context, input }) => {
    const detail = await context.engine.readRow(input.runId, input.row)
    return {
      row: input.row,
      method: 'POST',
      url: detail.requestUrl,
      headers: [
        ['content-type', JSON_CONTENT_TYPE],
        ['accept', JSON_CONTENT_TYPE],
        [AUTHORIZATION_HEADER, toAuthorization(MASKED_KEY)],
      ],
      body: detail.requestBody,
      problems: detail.problems,
    }
  }),
})
