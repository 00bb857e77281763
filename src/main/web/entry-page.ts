import { randomBytes } from 'node:crypto'
import { createDocumentHeaders } from '../renderer-files/document-headers.ts'

/** Where the entry page sends its token. */
export const SESSION_PATH = '/session'

// The token is in the fragment, which no server, log or referrer sees, and leaves the address at once.
const SCRIPT = `
const token = location.hash.slice(1)
history.replaceState(null, '', location.pathname)
const say = (text) => { document.getElementById('say').textContent = text }
fetch('${SESSION_PATH}', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: token }).then(
  (answer) => (answer.ok ? location.replace('/') : answer.text().then(say)),
  () => say('Sluice does not answer. Start it again with: npm run -s sluice -- open'),
)`

/** The page that exchanges the token behind `#` in its own address for a cookie, and then shows the screens. */
export function createEntryPage(): { headers: Record<string, string>; body: string } {
  const nonce = randomBytes(18).toString('base64url')
  return {
    headers: { ...createDocumentHeaders(nonce), 'content-type': 'text/html; charset=utf-8' },
    body: createPage(
      `<p id="say" role="status">Opening Sluice…</p>
<noscript>Sluice needs JavaScript. Allow it for this address and open it again.</noscript>
<script nonce="${nonce}">${SCRIPT}</script>`,
    ),
  }
}

/** The page of a browser that was not let in. */
export function createLockedPage(): { headers: Record<string, string>; body: string } {
  return {
    headers: { ...createDocumentHeaders(''), 'content-type': 'text/html; charset=utf-8' },
    body: createPage(
      `<p>This browser is not signed in, or its session has ended.</p>
<p>For a new link, press Enter in the terminal in which Sluice runs. If it no longer runs, start it with:
<code>npm run -s sluice -- open</code></p>`,
    ),
  }
}

/** The file that leads a browser to an address, so that the address stands in no process list. */
export function createRedirectPage(url: string): string {
  return createPage(
    `<p>Opening <a href="${url}">Sluice</a>…</p>`,
    `<meta http-equiv="refresh" content="0; url=${url}">\n`,
  )
}

/** A page of the shell's own, without the screens. */
export function createPage(body: string, head = ''): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>Sluice</title>
${head}</head>
<body>
${body}
</body>
</html>
`
}
