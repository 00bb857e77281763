import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AskProduction, describeProduction, type ProductionQuestion } from '../bridge/production-gate.ts'
import { sendAnswer, sendJson, sendText } from './answers.ts'
import { ANSWER_PATH, createConsentPage, QUESTION_PATH } from './consent-page.ts'
import type { EntryFiles } from './entry-files.ts'
import { createBoundedServer, type ListenerLimits } from './listener-limits.ts'
import { readShortText } from './read-short-text.ts'
import { checkRequest, ENTRY_PATH } from './request-guard.ts'

/** How long a question may be answered, milliseconds. */
const LIFE_MS = 5 * 60_000

/** A token, a space and the longest answer. */
const MESSAGE_MAX_BYTES = 200

/** Leads a person to the page of a question. */
export type ShowConsent = (way: { file: string; url: string }) => Promise<void>

/** Asks before production on a page of its own origin. */
export interface ConsentServer {
  ask: AskProduction
  close(): Promise<void>
}

interface OpenQuestion {
  tokenHash: string
  question: ProductionQuestion
  settle(isGiven: boolean): void
}

/**
 * Opens the listener on which questions before production are answered: on loopback, under a random name and a port of
 * its own, so that to a browser it is another site than the screens. Each question has a one-time token that the page
 * of the screens never sees; without it nothing is shown and nothing can be answered.
 */
export async function openConsentServer(options: {
  /** Files of the questions alone. */
  entryFiles: EntryFiles
  show: ShowConsent
  limits: ListenerLimits
}): Promise<ConsentServer> {
  const server = createBoundedServer(options.limits)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const origin = `http://sluice-consent-${randomBytes(8).toString('hex')}.localhost:${port}`
  let open: OpenQuestion | null = null

  /** The question that a body's token is for, and the rest of the body. */
  async function readToken(request: IncomingMessage): Promise<{ asked: OpenQuestion; rest: string } | null> {
    const [token = '', rest = ''] = ((await readShortText(request, MESSAGE_MAX_BYTES)) ?? '').split(' ')
    return open !== null && toHash(token) === open.tokenHash ? { asked: open, rest } : null
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = checkRequest(request, origin)
    if (refusal !== null) return refuse(response, refusal.status, refusal.reason)
    if (request.method === 'GET' && request.url === ENTRY_PATH) {
      const { headers, body } = createConsentPage()
      return sendAnswer(response, 200, body, headers)
    }
    if (request.method !== 'POST') return refuse(response, 404, 'There is no such page.')
    const found = await readToken(request)
    if (found === null) return refuse(response, 403, 'This question was answered before or is too old.')
    if (request.url === QUESTION_PATH)
      return sendJson(response, 200, describeProduction(found.asked.question))
    if (request.url !== ANSWER_PATH) return refuse(response, 404, 'There is no such page.')
    const isGiven = found.rest === 'send'
    found.asked.settle(isGiven)
    sendText(
      response,
      200,
      isGiven ? 'Confirmed. You can close this page.' : 'Nothing is sent. You can close this page.',
    )
  }

  server.on('request', (request, response) => {
    answer(request, response).catch(() => response.destroy())
  })

  return {
    async ask(question, signal) {
      const token = randomBytes(32).toString('base64url')
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const asked = { tokenHash: toHash(token), question, settle: resolve }
      open?.settle(false)
      open = asked
      const giveUp = () => resolve(false)
      const timer = setTimeout(giveUp, LIFE_MS).unref()
      signal.addEventListener('abort', giveUp)
      if (signal.aborted) giveUp()
      try {
        const url = `${origin}${ENTRY_PATH}#${token}`
        await options.show({ file: await options.entryFiles.write(url), url })
        return await promise
      } finally {
        if (open === asked) open = null
        clearTimeout(timer)
        signal.removeEventListener('abort', giveUp)
        await options.entryFiles.clear()
      }
    },
    async close() {
      open?.settle(false)
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

function toHash(value: string): string {
  return createHash('sha256').update(value).digest('base64url')
}

/** Refuses without reading the request's body, and so ends its connection. */
function refuse(response: ServerResponse, status: number, reason: string): void {
  response.setHeader('connection', 'close')
  sendText(response, status, reason)
}
