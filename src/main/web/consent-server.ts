import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { SluiceError } from '../../shared/messages/errors.ts'
import {
  type AskProduction,
  describeProduction,
  type ProductionQuestion,
  QUESTION_WAITS_MS,
} from '../bridge/production-gate.ts'
import { createDocumentHeaders } from '../renderer-files/document-headers.ts'
import { createPage, type EntryFiles } from './entry.ts'
import {
  checkRequest,
  createBoundedServer,
  ENTRY_PATH,
  type ListenerLimits,
  listen,
  readShortText,
  refuse,
  sendAnswer,
  sendJson,
  sendText,
} from './listener.ts'
import { toHash } from './sessions.ts'

/** A token, a space and the longest answer. */
const MESSAGE_MAX_BYTES = 200

/** Takes a person to the page of a question. */
export type ShowConsent = (way: { file: string; url: string }) => Promise<void>

/** Asks before production, on a page of its own origin. */
export interface ConsentServer {
  /** Throws `NOT_CONFIRMED` if nobody answers in time. */
  ask: AskProduction
  /** The address of the open question, a secret of the person's browser; null if there is none. */
  findUrl(): string | null
  close(): Promise<void>
}

interface OpenQuestion {
  url: string
  tokenHash: string
  question: ProductionQuestion
  settle(isGiven: boolean): void
}

/**
 * Opens the server on which questions before production are answered: on loopback, with a random name and
 * port of its own, so that browsers treat it as another site than the screens. Each question has a one-time
 * token that the screens never see; without it nothing is shown or answered.
 */
export async function openConsentServer(options: {
  /** Entry files for questions only. */
  entryFiles: EntryFiles
  show: ShowConsent
  limits: ListenerLimits
  /** Settles when a question has been open too long, or as soon as the signal aborts. */
  awaitEnd?: (signal: AbortSignal) => Promise<unknown>
}): Promise<ConsentServer> {
  const server = createBoundedServer(options.limits)
  const port = await listen(server, 0)
  const { awaitEnd = awaitWaitingTime } = options
  const origin = `http://sluice-consent-${randomBytes(8).toString('hex')}.localhost:${port}`
  let open: OpenQuestion | null = null

  /** The question that a body's token belongs to, and the rest of the body. */
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
      isGiven
        ? 'Confirmed. You can close this page.'
        : 'Declined. Nothing is sent or changed. You can close this page.',
    )
  }

  server.on('request', (request, response) => {
    answer(request, response).catch(() => response.destroy())
  })

  return {
    async ask(question, signal) {
      const token = randomBytes(32).toString('base64url')
      const url = `${origin}${ENTRY_PATH}#${token}`
      const { promise, resolve, reject } = Promise.withResolvers<boolean>()
      // May reject while the question is being shown, or after that failed, when nobody awaits it.
      promise.catch(() => {})
      const asked = { url, tokenHash: toHash(token), question, settle: resolve }
      open?.settle(false)
      open = asked
      const giveUp = () => resolve(false)
      const over = new AbortController()
      void awaitEnd(over.signal).then(() =>
        reject(new SluiceError({ id: 'production_unanswered', connection: question.connection })),
      )
      signal.addEventListener('abort', giveUp)
      if (signal.aborted) giveUp()
      try {
        await options.show({ file: await options.entryFiles.write(url), url })
        return await promise
      } finally {
        if (open === asked) open = null
        over.abort()
        signal.removeEventListener('abort', giveUp)
        await options.entryFiles.clear()
      }
    },
    findUrl: () => open?.url ?? null,
    async close() {
      open?.settle(false)
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

async function awaitWaitingTime(signal: AbortSignal): Promise<void> {
  await wait(QUESTION_WAITS_MS, undefined, { signal, ref: false }).catch(() => {})
}

/** Path from which the page gets its question. */
const QUESTION_PATH = '/question'

/** Path to which the page sends the answer. */
const ANSWER_PATH = '/answer'

/**
 * How long the page must have been visible before it can be confirmed, in milliseconds, so that a click meant
 * for another page does nothing.
 */
const ARMED_AFTER_MS = 1_000

// The token is in the fragment, which no server, log or referrer sees, and is removed from the address at
// once. A page closed or reloaded without an answer could not be answered any more, so it answers no.
const SCRIPT = `
const token = location.hash.slice(1)
history.replaceState(null, '', location.pathname)
const find = (id) => document.getElementById(id)
const post = (path, more, keepalive = false) =>
  fetch(path, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: token + more, keepalive })
const say = (text) => {
  find('choice').hidden = true
  find('say').textContent = text
}
const lost = () => say('Sluice does not answer. It may have been stopped.')
const choose = (answer) => {
  find('choice').hidden = true
  post('${ANSWER_PATH}', ' ' + answer).then(async (given) => say(await given.text()), lost)
}
let timer
const arm = () => {
  clearTimeout(timer)
  find('send').disabled = true
  if (document.visibilityState === 'visible' && document.hasFocus()) {
    timer = setTimeout(() => { find('send').disabled = false }, ${ARMED_AFTER_MS})
  }
}
find('send').addEventListener('click', (event) => { if (event.isTrusted) choose('send') })
find('cancel').addEventListener('click', () => choose('cancel'))
addEventListener('pagehide', () => {
  if (!find('choice').hidden) post('${ANSWER_PATH}', ' cancel', true)
})
for (const name of ['focus', 'blur']) addEventListener(name, arm)
document.addEventListener('visibilitychange', arm)
post('${QUESTION_PATH}', '').then(async (answer) => {
  if (!answer.ok) return say(await answer.text())
  const { title, lines, agree } = await answer.json()
  find('title').textContent = title
  for (const line of lines) find('lines').appendChild(document.createElement('p')).textContent = line
  find('send').textContent = agree
  find('choice').hidden = false
  find('cancel').focus()
  arm()
}, lost)`

const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d9dee4, #2f363d); --danger: #b02318 }
body { margin: 0; background: light-dark(#f5f6f8, #14171a); color: light-dark(#181c21, #e7eaed);
  font: 15px/1.5 system-ui, sans-serif }
main { max-width: 34rem; margin: 15vh auto 0; padding: 1.5rem; border: 1px solid var(--line);
  border-top: 4px solid var(--danger); border-radius: 6px; background: light-dark(#fff, #1b1f23) }
h1 { margin: 0 0 1rem; font-size: 1.25rem; overflow-wrap: anywhere }
p { margin: 0.25rem 0; overflow-wrap: anywhere }
#choice { display: flex; justify-content: flex-end; gap: 0.5rem; margin-top: 1.5rem }
#choice[hidden] { display: none }
button { padding: 0.45rem 0.9rem; border: 1px solid light-dark(#7f8a96, #78838f); border-radius: 4px;
  background: none; color: inherit; font: inherit }
#send:enabled { border-color: var(--danger); background: var(--danger); color: #fff }
#send:disabled { opacity: 0.6 }`

/** The page that asks before production and sends the answer; the token follows `#` in its address. */
function createConsentPage(): { headers: Record<string, string>; body: string } {
  const nonce = randomBytes(18).toString('base64url')
  return {
    headers: { ...createDocumentHeaders(nonce), 'content-type': 'text/html; charset=utf-8' },
    body: createPage(
      `<main>
<h1 id="title">Sluice</h1>
<div id="lines"></div>
<p id="say" role="status"></p>
<div id="choice" hidden>
<button id="cancel" type="button">Cancel</button>
<button id="send" type="button" disabled>Confirm</button>
</div>
</main>
<noscript>Sluice needs JavaScript. Allow it for this address and open it again.</noscript>
<script nonce="${nonce}">${SCRIPT}</script>`,
      `<style nonce="${nonce}">${STYLE}</style>\n`,
    ),
  }
}
