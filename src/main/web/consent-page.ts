import { randomBytes } from 'node:crypto'
import { createDocumentHeaders } from '../renderer-files/document-headers.ts'
import { createPage } from './entry-page.ts'

/** Where the page asks what it is about. */
export const QUESTION_PATH = '/question'

/** Where the page sends what the person chose. */
export const ANSWER_PATH = '/answer'

/** How long the page must have been seen before it can be confirmed, milliseconds: a click meant for another page does nothing. */
const ARMED_AFTER_MS = 1_000

// The token is in the fragment, which no server, log or referrer sees, and leaves the address at once. So a page that
// is closed or reloaded without an answer could not be answered any more: it says no.
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
  const { title, lines } = await answer.json()
  find('title').textContent = title
  for (const line of lines) find('lines').appendChild(document.createElement('p')).textContent = line
  find('choice').hidden = false
  find('cancel').focus()
  arm()
}, lost)`

/** The page that shows a question before production and takes the answer; the token is behind `#` in its own address. */
export function createConsentPage(): { headers: Record<string, string>; body: string } {
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
<button id="send" type="button" disabled>Send to production</button>
</div>
</main>
<noscript>Sluice needs JavaScript. Allow it for this address and open it again.</noscript>
<script nonce="${nonce}">${SCRIPT}</script>`,
    ),
  }
}
