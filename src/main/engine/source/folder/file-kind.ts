import { extname } from 'node:path'
import mime from 'mime'

/** What a file of a folder becomes: text to send, a whole request, or media that the service fetches. */
export type FileKind = 'text' | 'request' | 'media'

const TEXT_ENDINGS = new Set(['.txt', '.text', '.md', '.markdown', '.html', '.htm'])

/** The kind of a file by its name's ending, or null for one that cannot be sent. */
export function findFileKind(path: string): FileKind | null {
  const ending = extname(path).toLowerCase()
  if (TEXT_ENDINGS.has(ending)) return 'text'
  if (ending === '.json') return 'request'
  return /^(?:image|video|audio)\//.test(toMediaType(ending)) ? 'media' : null
}

/** Whether a file is a video by its name's ending. */
export function isVideo(path: string): boolean {
  return toMediaType(extname(path)).startsWith('video/')
}

function toMediaType(ending: string): string {
  return ending === '' ? '' : (mime.getType(ending) ?? '')
}
