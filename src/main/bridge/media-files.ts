import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { MEDIA_PATH, type MediaFileEntry } from '../../shared/bridge/media.ts'
import { openMediaFile, toFileHeaders, toMediaAnswer } from '../engine/receiver/media-file.ts'
import { findMediaType, HEAD_BYTES, type MediaType } from './media-type.ts'

/** Largest image sent to a page, bytes. */
const IMAGE_MAX_BYTES = 64 * 1024 * 1024

/** Largest video or sound, bytes; pages read them in parts. */
const STREAM_MAX_BYTES = 4 * 1024 * 1024 * 1024

/** Most handles valid at once; the least recently used is dropped first. */
const HANDLES_MAX = 2_000

/** Most bytes kept of media fetched from elsewhere. */
const FETCHED_MAX_BYTES = 256 * 1024 * 1024

export interface MediaRequest {
  pathname: string
  method: string
  range: string | undefined
  ifRange: string | undefined
  ifNoneMatch: string | undefined
}

/** An answer of the media route; the receiver must read or destroy the body. */
interface MediaResponse {
  status: 200 | 206 | 304 | 416
  headers: Record<string, string>
  body: Readable | null
}

/** A file to show, or why it is not shown. */
type FoundFile =
  | (MediaType & { kind: 'file'; sizeBytes: number; url: string })
  | { kind: 'unusable'; why: 'missing' | 'not-media' | 'too-large'; sizeBytes: number | null }

type Known = { folder: string; path: string } | { bytes: Buffer; type: string; modifiedAtMs: number }

/** Creates an empty register of media, which lives as long as the process. */
export function createMediaFiles() {
  const known = new Map<string, Known>()
  const handleOf = new Map<string, string>()
  let fetchedBytes = 0

  function drop(handle: string): void {
    const entry = known.get(handle)
    known.delete(handle)
    if (entry !== undefined && 'bytes' in entry) fetchedBytes -= entry.bytes.length
    else if (entry !== undefined) handleOf.delete(`${entry.folder}\0${entry.path}`)
  }

  function add(entry: Known): string {
    const handle = randomBytes(16).toString('hex')
    known.set(handle, entry)
    if ('bytes' in entry) fetchedBytes += entry.bytes.length
    for (const [oldest, held] of known) {
      const isFull = fetchedBytes > FETCHED_MAX_BYTES && 'bytes' in held && oldest !== handle
      if (known.size > HANDLES_MAX || isFull) drop(oldest)
    }
    return handle
  }

  return {
    /**
     * Gives a handle to a file by its path inside a folder (a real path), if it can be shown. Links that lead
     * out of the folder are not followed.
     */
    async addFile(folder: string, path: string): Promise<FoundFile> {
      const opened = await openShown(folder, path)
      if (opened.kind === 'unusable') return opened
      await opened.handle.close()
      const key = `${folder}\0${path}`
      const handle = handleOf.get(key) ?? add({ folder, path })
      handleOf.set(key, handle)
      const { shows, type, isAnimated, sizeBytes } = opened
      return { kind: 'file', shows, type, isAnimated, sizeBytes, url: `${MEDIA_PATH}/${handle}` }
    },
    /** Gives a handle to media bytes from elsewhere. */
    addBytes(bytes: Buffer, { shows, type, isAnimated }: MediaType): Omit<MediaFileEntry, 'column'> {
      const handle = add({ bytes, type, modifiedAtMs: Date.now() })
      return {
        kind: 'file',
        shows,
        type,
        isAnimated,
        sizeBytes: bytes.length,
        url: `${MEDIA_PATH}/${handle}`,
      }
    },
    /** Answers a page's request; null if the handle is unknown or its file is gone. */
    async answer(request: MediaRequest): Promise<MediaResponse | null> {
      const handle = request.pathname.slice(MEDIA_PATH.length + 1)
      const entry = known.get(handle)
      if (entry === undefined || !['GET', 'HEAD'].includes(request.method)) return null
      known.delete(handle)
      known.set(handle, entry)
      if ('bytes' in entry) {
        const { bytes, type, modifiedAtMs } = entry
        const file = { sizeBytes: bytes.length, modifiedAtMs, etag: `"${handle}"` }
        return toResponse(file, type, request, (first, last) =>
          Readable.from(bytes.subarray(first, last + 1)),
        )
      }
      const opened = await openShown(entry.folder, entry.path)
      if (opened.kind === 'unusable') return null
      const response = toResponse(opened, opened.type, request, (start, end) =>
        opened.handle.createReadStream({ start, end }),
      )
      if (response.body === null) await opened.handle.close()
      return response
    },
  }
}

/** Pictures, videos and sounds for pages, under unguessable handles that are valid until Sluice ends. */
export interface MediaFiles extends ReturnType<typeof createMediaFiles> {}

/** Opens a file inside a folder if its bytes are media and not too large. The caller closes the file. */
async function openShown(folder: string, path: string) {
  const file = await openMediaFile(folder, path)
  if (file === null) return { kind: 'unusable', why: 'missing', sizeBytes: null } as const
  try {
    const { sizeBytes, handle } = file
    const head = new Uint8Array(Math.min(HEAD_BYTES, sizeBytes))
    await handle.read(head, 0, head.length, 0)
    const type = findMediaType(head)
    const isTooLarge = sizeBytes > (type?.shows === 'image' ? IMAGE_MAX_BYTES : STREAM_MAX_BYTES)
    if (type !== null && !isTooLarge) return { kind: 'opened', ...file, ...type } as const
    await handle.close()
    return { kind: 'unusable', why: type === null ? 'not-media' : 'too-large', sizeBytes } as const
  } catch {
    await file.handle.close()
    return { kind: 'unusable', why: 'missing', sizeBytes: null } as const
  }
}

function toResponse(
  file: { sizeBytes: number; modifiedAtMs: number; etag: string },
  type: string,
  { method, range, ifRange, ifNoneMatch }: MediaRequest,
  read: (firstByte: number, lastByte: number) => Readable,
): MediaResponse {
  const isHead = method === 'HEAD'
  const answer = toMediaAnswer(file, { isHead, range, ifRange, ifNoneMatch, ifModifiedSince: undefined })
  const headers = {
    ...toFileHeaders(file),
    'cache-control': 'no-store',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
  }
  if (answer.status === 304) return { status: 304, headers, body: null }
  if (answer.status === 416) {
    const none = { 'content-range': `bytes */${file.sizeBytes}`, 'content-length': '0' }
    return { status: 416, headers: { ...headers, ...none }, body: null }
  }
  const { status, firstByte, lastByte } = answer
  return {
    status,
    headers: {
      ...headers,
      'content-type': type,
      'content-length': String(lastByte - firstByte + 1),
      ...(status === 206 && { 'content-range': `bytes ${firstByte}-${lastByte}/${file.sizeBytes}` }),
    },
    body: isHead || lastByte < firstByte ? null : read(firstByte, lastByte),
  }
}
