import { parentPort } from 'node:worker_threads'
import { toErrorMessage } from '../../../shared/messages/errors.ts'
import { answerQuery } from './answer-query.ts'
import type { QueryRequest, QueryResponse } from './query-thread.ts'

const port = parentPort
if (port === null) throw new Error('query-worker.ts is the entry of a worker thread')

port.on('message', (request: QueryRequest) => {
  void answerQuery(request).then(
    (value) => port.postMessage({ id: request.id, kind: 'answer', value } satisfies QueryResponse),
    (error: unknown) =>
      port.postMessage({
        id: request.id,
        kind: 'error',
        error: toErrorMessage(error),
      } satisfies QueryResponse),
  )
})
