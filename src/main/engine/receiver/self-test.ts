import { randomBytes } from 'node:crypto'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toThrown } from '../../../shared/messages/thrown.ts'
import type { ReceiverTest } from '../../../shared/run/callback-overview.ts'
import { toCallbackPath } from './addresses.ts'
import { SELF_TEST_PREFIX } from './inbox.ts'

export interface SelfTest {
  /** Base of the callback URLs, as the service is given it. */
  publicUrl: string
  /** The workspace's secret, 32 bytes in hex. */
  secret: string
  /** Longest time until the arrival, milliseconds. */
  timeoutMs: number
  /** Whether a callback with this run token is in the inbox. */
  hasArrived(runToken: string): boolean
  wait(ms: number): Promise<void>
}

interface Answer {
  status: number
  location: string | null
  /** The first words of its body. */
  excerpt: string
}

const LOOK_EVERY_MS = 50
const EXCERPT_CHARACTERS = 120

/**
 * Posts a callback to an address behind a public base and waits until it is in the inbox: the way a callback takes,
 * from end to end. Returns how it went, and the run token it had. Throws `RECEIVER_UNAVAILABLE` with what was tried, what came back,
 * and what to do.
 */
export async function testPublicUrl(test: SelfTest): Promise<{ runToken: string; result: ReceiverTest }> {
  const { publicUrl, secret, timeoutMs, hasArrived, wait } = test
  const runToken = `${SELF_TEST_PREFIX}${randomBytes(12).toString('hex')}`
  const base = publicUrl.replace(/\/+$/, '')
  const url = toUrl(publicUrl, `${base}${toCallbackPath(secret, { runToken, item: 1 })}`)
  const sentAtMs = performance.now()
  const deadlineMs = sentAtMs + timeoutMs
  let answer: Answer
  try {
    answer = await post(url, timeoutMs)
  } catch (error) {
    throw toFailure(publicUrl, error, timeoutMs)
  }
  const answeredMs = performance.now() - sentAtMs
  // A relay may answer at once and forward later; one that refuses forwards nothing.
  const isTaken = answer.status >= 200 && answer.status < 300
  while (!hasArrived(runToken)) {
    if (!isTaken) throw new SluiceError({ id: 'public_url_refuses', publicUrl, ...answer })
    if (performance.now() > deadlineMs) {
      const { status, excerpt } = answer
      throw new SluiceError({ id: 'public_url_loses', publicUrl, status, excerpt, seconds: timeoutMs / 1000 })
    }
    await wait(LOOK_EVERY_MS)
  }
  const arrivedMs = performance.now() - sentAtMs
  return { runToken, result: { status: answer.status, answeredMs, arrivedMs } }
}

function toUrl(publicUrl: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url !== null && /^https?:$/.test(url.protocol)) return url
  throw new SluiceError({ id: 'public_url_not_http', publicUrl })
}

function post(url: URL, timeoutMs: number): Promise<Answer> {
  const body = JSON.stringify({ task_id: 'sluice-self-test' })
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const signal = AbortSignal.timeout(timeoutMs)
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED cannot override it.
  const options = { method: 'POST', headers, signal, agent: false, rejectUnauthorized: true }
  return new Promise((resolve, reject) => {
    const request = send(url, options, (response) => {
      readExcerpt(response).then((excerpt) => {
        request.destroy()
        resolve({
          status: response.statusCode ?? 0,
          location: response.headers.location ?? null,
          excerpt,
        })
      }, reject)
    })
    request.on('error', reject)
    request.end(body)
  })
}

async function readExcerpt(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk
    if (text.length > 4_000) break
  }
  return text
    .replaceAll(/<[^>]*>|[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, EXCERPT_CHARACTERS)
}

function toFailure(publicUrl: string, error: unknown, timeoutMs: number): SluiceError {
  const thrown = toThrown(error)
  if (thrown.system === 'ABORT_ERR' || (error instanceof Error && error.name === 'TimeoutError')) {
    return new SluiceError(
      { id: 'public_url_silent', publicUrl, seconds: timeoutMs / 1000 },
      { cause: error },
    )
  }
  return new SluiceError({ id: 'public_url_unreachable', publicUrl, ...thrown }, { cause: error })
}
