import { request as send } from 'node:http'
import { text } from 'node:stream/consumers'

/**
 * Sends a request to the listener for production questions, with its own page's headers unless others are
 * given.
 */
export async function callConsent(
  url: string,
  path: string,
  body: string | null,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string; headers: Record<string, unknown> }> {
  const { host, origin, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const call = send({
      host: '127.0.0.1',
      port,
      path,
      method: body === null ? 'GET' : 'POST',
      headers: { host, origin, ...headers },
      agent: false,
    })
    call.once('response', (response) => {
      text(response).then(
        (answer) => resolve({ status: response.statusCode ?? 0, text: answer, headers: response.headers }),
        reject,
      )
    })
    call.once('error', reject)
    call.end(body ?? undefined)
  })
}

/** Answers a question as the person who reads the page at that address. */
export function answerConsent(url: string, answer: 'send' | 'cancel') {
  return callConsent(url, '/answer', `${new URL(url).hash.slice(1)} ${answer}`)
}
