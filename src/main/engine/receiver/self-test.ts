import { randomBytes } from 'node:crypto'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toSystemCode, toThrownText } from '../../../shared/messages/thrown.ts'
import { toCallbackPath } from './callback-address.ts'
import { SELF_TEST_PREFIX } from './inbox.ts'

/** What a self-test needs. */
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

/** What the address answered. */
interface Answer {
  status: number
  location: string | null
  /** Its first words. */
  excerpt: string
}

const LOOK_EVERY_MS = 50
const EXCERPT_CHARACTERS = 120

/**
 * Posts a callback to an address behind a public base and waits until it is in the inbox: the way a callback takes,
 * from end to end. Returns the run token it had. Throws `RECEIVER_UNAVAILABLE` with what was tried, what came back,
 * and what to do.
 */
export async function testPublicUrl(test: SelfTest): Promise<string> {
  const { publicUrl, secret, timeoutMs, hasArrived, wait } = test
  const runToken = `${SELF_TEST_PREFIX}${randomBytes(12).toString('hex')}`
  const base = publicUrl.replace(/\/+$/, '')
  const url = toUrl(publicUrl, `${base}${toCallbackPath(secret, { runToken, item: 1 })}`)
  const deadlineMs = performance.now() + timeoutMs
  let answer: Answer
  try {
    answer = await post(url, timeoutMs)
  } catch (error) {
    throw toFailure(publicUrl, explainFailure(error, timeoutMs), error)
  }
  // A relay may answer at once and hand on later; whoever refuses hands nothing on.
  const isTaken = answer.status >= 200 && answer.status < 300
  while (!hasArrived(runToken)) {
    if (!isTaken) throw toFailure(publicUrl, explainAnswer(answer))
    if (performance.now() > deadlineMs) throw toFailure(publicUrl, explainLost(answer, timeoutMs))
    await wait(LOOK_EVERY_MS)
  }
  return runToken
}

function toUrl(publicUrl: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url !== null && /^https?:$/.test(url.protocol)) return url
  throw toFailure(publicUrl, {
    found: 'that is no http or https address',
    hint: 'Give the public address that leads to the receiver, as in https://example.com/sluice.',
  })
}

function post(url: URL, timeoutMs: number): Promise<Answer> {
  const body = JSON.stringify({ task_id: 'sluice-self-test' })
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const signal = AbortSignal.timeout(timeoutMs)
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  // Said outright, so that NODE_TLS_REJECT_UNAUTHORIZED has no say.
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

interface Explanation {
  found: string
  hint: string
}

function explainAnswer({ status, location, excerpt }: Answer): Explanation {
  const found = `it answered ${status}${excerpt === '' ? '' : ` "${excerpt}"`}, and nothing arrived here`
  if (status >= 300 && status < 400) {
    return {
      found: `it answered ${status} and points to ${location ?? 'another address'}, and nothing arrived here`,
      hint: 'A service may not follow that. Give the address it points to, and mind http and https.',
    }
  }
  if (status === 401 || status === 403) {
    return {
      found,
      hint: 'Something before the receiver asks for a login. Let /callback/ through without one.',
    }
  }
  if (status === 404 || status === 405) {
    return {
      found,
      hint: 'Something else answers there, or another workspace. Check that the proxy or tunnel leads to the port of this receiver, for POST and every path below.',
    }
  }
  if (status >= 502 && status <= 504) {
    return {
      found,
      hint: 'The proxy or tunnel does not reach the receiver. Check the host and port it leads to.',
    }
  }
  return { found, hint: 'Check what answers at that address, and that it hands POST requests on unchanged.' }
}

function explainLost({ status, excerpt }: Answer, timeoutMs: number): Explanation {
  const answered = `${status}${excerpt === '' ? '' : ` "${excerpt}"`}`
  return {
    found: `it answered ${answered}, but nothing arrived here within ${timeoutMs / 1000} s`,
    hint: 'Something else answers there. Check that the proxy or tunnel leads to the port of this receiver.',
  }
}

function explainFailure(error: unknown, timeoutMs: number): Explanation {
  const code = toSystemCode(error)
  const message = toThrownText(error)
  if (code === 'ABORT_ERR' || (error instanceof Error && error.name === 'TimeoutError')) {
    return {
      found: `it did not answer within ${timeoutMs / 1000} s`,
      hint: 'Check the address, the firewall, and that the tunnel is open. Some networks let no machine reach its own public address: then try from outside.',
    }
  }
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return { found: 'its host name is not known', hint: 'Check how the host is written, and the DNS.' }
    case 'ECONNREFUSED':
      return {
        found: 'nothing listens there (connection refused)',
        hint: 'Check the port, and that the proxy or tunnel is running.',
      }
    case 'ECONNRESET':
    case 'EPIPE':
      return {
        found: 'the connection was closed before an answer',
        hint: 'Check whether that port speaks https or http, and what stands before the receiver.',
      }
    default:
      return {
        found: message,
        hint: /CERT|TLS|SSL|SELF_SIGNED/i.test(`${code} ${message}`)
          ? 'Its certificate or its TLS is not accepted here, and may not be by the service. Check both, and whether the port speaks https.'
          : 'Check the address, and that the proxy or tunnel is running.',
      }
  }
}

function toFailure(publicUrl: string, { found, hint }: Explanation, cause?: unknown): SluiceError {
  return new SluiceError({
    code: 'RECEIVER_UNAVAILABLE',
    message: `callbacks do not come in at ${publicUrl}: posted there, and ${found}`,
    hint,
    cause,
  })
}
