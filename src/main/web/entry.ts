import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SluiceError } from '../../shared/messages/errors.ts'
import { createDocumentHeaders } from '../renderer-files/document-headers.ts'
import { toHash } from './sessions.ts'

/** How long a token is valid, milliseconds. */
const TOKEN_LIFE_MS = 10 * 60_000

/** Creates the issuer of tokens. `now` is a monotonic clock in milliseconds. */
export function createEntryTokens(now: () => number) {
  // Stored as hashes, so that the time of a look-up reveals nothing about a token.
  const issued = new Map<string, number>()
  return {
    issue(): string {
      const token = randomBytes(32).toString('base64url')
      issued.set(toHash(token), now())
      return token
    },
    /** Whether the token was issued, has not expired and was not redeemed before. */
    redeem(token: string): boolean {
      const hash = toHash(token)
      const issuedAt = issued.get(hash)
      issued.delete(hash)
      return issuedAt !== undefined && now() - issuedAt <= TOKEN_LIFE_MS
    },
  }
}

/** Tokens that let in one browser, once. */
export interface EntryTokens extends ReturnType<typeof createEntryTokens> {}

/** Where the entry page sends its token. */
export const SESSION_PATH = '/session'

// The token is in the fragment, which no server, log or referrer sees, and is removed from the address at
// once.
const createScript = (openCommand: string) => `
const token = location.hash.slice(1)
history.replaceState(null, '', location.pathname)
const say = (text) => { document.getElementById('say').textContent = text }
fetch('${SESSION_PATH}', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: token }).then(
  (answer) => (answer.ok ? location.replace('/') : answer.text().then(say)),
  () => say('Sluice does not answer. Start it again with: ${openCommand}'),
)`

/**
 * The page that exchanges the token after `#` in its address for a cookie, then shows the screens.
 * `openCommand` is the command that opens them again.
 */
export function createEntryPage(openCommand: string): { headers: Record<string, string>; body: string } {
  const nonce = randomBytes(18).toString('base64url')
  return {
    headers: { ...createDocumentHeaders(nonce), 'content-type': 'text/html; charset=utf-8' },
    body: createPage(
      `<p id="say" role="status">Opening Sluice…</p>
<noscript>Sluice needs JavaScript. Allow it for this address and open it again.</noscript>
<script nonce="${nonce}">${createScript(openCommand)}</script>`,
    ),
  }
}

/** The page for a browser without a session. */
export function createLockedPage(openCommand: string): { headers: Record<string, string>; body: string } {
  return {
    headers: { ...createDocumentHeaders(''), 'content-type': 'text/html; charset=utf-8' },
    body: createPage(
      `<p>This browser is not signed in, or its session has ended.</p>
<p>For a new link, press Enter in the terminal in which Sluice runs. If it no longer runs, start it with:
<code>${openCommand}</code></p>`,
    ),
  }
}

/** A file that redirects a browser to an address, so that the address appears in no process list. */
function createRedirectPage(url: string): string {
  return createPage(
    `<p>Opening <a href="${url}">Sluice</a>…</p>`,
    `<meta http-equiv="refresh" content="0; url=${url}">\n`,
  )
}

/** A page of the shell itself, without the screens. */
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

/** Creates the writer of entry files in the workspace. */
export function createEntryFiles(workspace: string) {
  const files = new Set<string>()
  return {
    /** Writes a file that only its owner can read; returns its absolute path. Throws `WORKSPACE_UNUSABLE`. */
    async write(url: string): Promise<string> {
      const file = join(workspace, `open-${randomBytes(8).toString('hex')}.html`)
      try {
        await writeFile(file, createRedirectPage(url), { flag: 'wx', mode: 0o600 })
      } catch (error) {
        throw SluiceError.because(error, { id: 'entry_unwritable', file })
      }
      files.add(file)
      return file
    },
    /** Removes all files that were written. */
    async clear(): Promise<void> {
      const written = [...files]
      files.clear()
      await Promise.all(written.map((file) => rm(file, { force: true }).catch(() => {})))
    },
  }
}

/** Files that take a browser to a secret address. */
export interface EntryFiles extends ReturnType<typeof createEntryFiles> {}
