import { isErrorMessage } from '../../shared/messages/error-messages.ts'
import { SluiceError } from '../../shared/messages/errors.ts'

/**
 * Sends one file, or nothing where `body` is null, to an address of this page's own origin, and gives back what the
 * answer says. Throws a `SluiceError` that says what to do, or an `AbortError`.
 */
export function upload<T>(options: {
  url: string
  body: File | null
  /** What the person calls it. */
  name: string
  parse: (answer: unknown) => T | null
  onSent: (sentBytes: number) => void
  signal: AbortSignal
}): Promise<T> {
  const { body, signal } = options
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  // XMLHttpRequest rather than fetch: it alone says how far an upload is, and streams from disk in every browser.
  const request = new XMLHttpRequest()
  const fail = () => reject(toUploadError(options.name, request))
  request.open('PUT', options.url)
  request.setRequestHeader('content-type', 'application/octet-stream')
  request.upload.addEventListener('progress', (event) => options.onSent(event.loaded))
  request.addEventListener('load', () => {
    const answer = request.status === 201 ? options.parse(parseJson(request.responseText)) : null
    if (answer === null) fail()
    else resolve(answer)
  })
  request.addEventListener('error', fail)
  request.addEventListener('abort', () => reject(new DOMException('The upload was given up', 'AbortError')))
  signal.addEventListener('abort', () => request.abort(), { once: true })
  if (signal.aborted) reject(new DOMException('The upload was given up', 'AbortError'))
  else request.send(body)
  return promise
}

function toUploadError(name: string, request: XMLHttpRequest): SluiceError {
  const answer = parseJson(request.responseText)
  return new SluiceError(isErrorMessage(answer) ? answer : { id: 'upload_failed', name })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
