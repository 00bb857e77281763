import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import {
  CONFIRM_PATH,
  DOWNLOAD_PATH,
  UPLOAD_FOLDER_PATH,
  UPLOAD_PATH,
} from '../../shared/bridge/browser-files.ts'
import { BRIDGE_ERRORS } from '../../shared/bridge/errors.ts'
import { MEDIA_PATH } from '../../shared/bridge/media.ts'
import { toSluiceError } from '../../shared/messages/errors.ts'
import type { MediaFiles } from '../bridge/media-files.ts'
import type { Sources } from '../bridge/sources.ts'
import { createDocumentHeaders } from '../renderer-files/document-headers.ts'
import { readRendererFile } from '../renderer-files/read-renderer-file.ts'
import type { Downloads } from './downloads.ts'
import { createEntryPage, createLockedPage, type EntryTokens, SESSION_PATH } from './entry.ts'
import {
  checkRequest,
  ENTRY_PATH,
  readShortText,
  refuse,
  sendAnswer,
  sendError,
  sendJson,
  sendText,
} from './listener.ts'
import type { Sessions } from './sessions.ts'
import type { Uploads } from './uploads.ts'

export interface WebRoutesOptions {
  /** Scheme, host and port of the page. */
  origin: string
  rendererFolder: string
  /** The command that opens the screens again. */
  openCommand: string
  tokens: EntryTokens
  sessions: Sessions
  uploads: Uploads
  /** Where uploads become readable for the page. */
  sources: Sources
  downloads: Downloads
  /** Pictures, videos and sounds for the page. */
  media: MediaFiles
  /** The address of the open question before production; null if there is none. */
  findQuestionUrl: () => string | null
  /** Called when a browser is let in, before the answer is sent. */
  onEntered: () => Promise<void>
}

const TOKEN_MAX_BYTES = 200

/** Answers all HTTP requests of the browser; the websocket is served elsewhere. */
export function createWebRoutes(
  options: WebRoutesOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { origin, rendererFolder, openCommand, sessions, downloads } = options
  const socketOrigin = origin.replace(/^http/, 'ws')

  return async (request, response) => {
    const refusal = checkRequest(request, origin)
    if (refusal !== null) return refuse(response, refusal.status, refusal.reason)
    const target = request.url ?? ''
    if (!target.startsWith('/')) return refuse(response, 400, 'Only paths of this address are served.')
    const { pathname, searchParams } = new URL(origin + target)
    const method = request.method === 'HEAD' ? 'GET' : request.method

    if (pathname === ENTRY_PATH && method === 'GET')
      return sendPage(response, 200, createEntryPage(openCommand))
    if (pathname === SESSION_PATH && method === 'POST') return openSession(options, request, response)
    if (sessions.find(request.headers.cookie) === null) {
      if (method === 'GET') return sendPage(response, 401, createLockedPage(openCommand))
      return refuse(response, 401, 'This browser was not let in.')
    }
    if (method === 'PUT' && (pathname === UPLOAD_PATH || pathname === UPLOAD_FOLDER_PATH)) {
      const name = searchParams.get('name') ?? ''
      const folder = searchParams.get('folder')
      if (pathname === UPLOAD_FOLDER_PATH) return answerUpload(response, () => takeFolder(options, name))
      if (folder === null) return answerUpload(response, () => takeFile(options, request, name))
      return answerUpload(response, async () => {
        const stored = await options.uploads.storeInFolder(request, folder, name)
        return { name: stored.name, sizeBytes: stored.sizeBytes }
      })
    }
    if (method !== 'GET') return refuse(response, 405, 'This cannot be done here.')
    if (pathname === CONFIRM_PATH && request.method === 'GET') {
      return leadToQuestion(options.findQuestionUrl(), request, response)
    }
    if (pathname.startsWith(`${MEDIA_PATH}/`)) return sendMedia(options.media, pathname, request, response)
    // A download can be fetched only once, so HEAD requests are refused.
    if (request.method === 'GET' && pathname.startsWith(`${DOWNLOAD_PATH}/`)) {
      if (await downloads.send(pathname, response)) return
      return sendText(
        response,
        404,
        'This export was fetched already or has waited too long. Export it again.',
      )
    }
    const file = await readRendererFile(rendererFolder, pathname, [socketOrigin])
    if (file === null) return sendText(response, 404, 'There is no such file.')
    sendAnswer(response, 200, file.body, file.headers)
  }
}

/**
 * Redirects a browser to the question, in a tab of its own. Scripts of the page cannot follow: they may not
 * read a redirect's target, and only a navigation of a whole tab is answered.
 */
function leadToQuestion(url: string | null, { headers }: IncomingMessage, response: ServerResponse): void {
  const { 'sec-fetch-mode': mode, 'sec-fetch-dest': destination } = headers
  if (mode !== undefined && (mode !== 'navigate' || destination !== 'document')) {
    refuse(response, 403, 'Open this address in a separate tab.')
  } else if (url === null) {
    sendText(response, 404, 'No confirmation is pending. You can close this page.')
  } else {
    sendAnswer(response, 303, '', { ...createDocumentHeaders(''), location: url })
  }
}

async function sendMedia(
  media: MediaFiles,
  pathname: string,
  { method = '', headers }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const answer = await media.answer({
    pathname,
    method,
    range: headers.range,
    ifNoneMatch: headers['if-none-match'],
    ifRange: headers['if-range']?.toString(),
  })
  if (answer === null) return sendText(response, 404, 'There is no such file.')
  response.writeHead(answer.status, answer.headers)
  if (answer.body === null) response.end()
  // The page hangs up once it has seen enough.
  else await pipeline(answer.body, response).catch(() => {})
}

function sendPage(
  response: ServerResponse,
  status: number,
  page: { headers: Record<string, string>; body: string },
): void {
  sendAnswer(response, status, page.body, page.headers)
}

async function openSession(
  { tokens, sessions, onEntered }: WebRoutesOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const token = await readShortText(request, TOKEN_MAX_BYTES)
  if (token === null || !tokens.redeem(token)) {
    return refuse(
      response,
      403,
      'This link was used before or is too old. For a new one, press Enter in the terminal in which Sluice runs.',
    )
  }
  response.setHeader('set-cookie', sessions.open())
  await onEntered()
  sendText(response, 200, 'Welcome.')
}

async function takeFile({ uploads, sources }: WebRoutesOptions, request: IncomingMessage, name: string) {
  const stored = await uploads.store(request, name)
  return sources.add(stored.path, stored.name)
}

async function takeFolder({ uploads, sources }: WebRoutesOptions, name: string) {
  const { path, folder, ...opened } = await uploads.openFolder(name)
  return { ...(await sources.add(path, opened.name)), folder }
}

async function answerUpload(response: ServerResponse, store: () => Promise<object>): Promise<void> {
  try {
    sendJson(response, 201, await store())
  } catch (error) {
    const { code, said } = toSluiceError(error)
    sendError(response, BRIDGE_ERRORS[code].status, said)
  }
}
