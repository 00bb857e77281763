import { constants } from 'node:fs'
import { access, open } from 'node:fs/promises'
import { extname, join } from 'node:path'
import mime from 'mime'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { FoundProblem, ProblemCause } from '../../../../shared/messages/problem-messages.ts'
import { saySourceProblem } from '../../../../shared/messages/source-messages.ts'
import { toSystemCode } from '../../../../shared/messages/thrown.ts'
import { toFound } from '../../../../shared/run/problem.ts'
import { VIDEO_MAX_HOURS } from '../../../../shared/service/request-field.ts'
import { findNuls } from '../csv/row-check.ts'
import { chooseEncoding } from '../decoding/encoding.ts'
import { findEncodingWarnings } from '../decoding/encoding-doubt.ts'
import { createPieceDecoder, replaceUndecodable } from '../decoding/text-reader.ts'
import { openSourceFile } from '../source-file.ts'
import { nameFiles, type SourceReader, type SourceRow } from '../source-reader.ts'
import type { FolderEntry } from './walk-folder.ts'

/** Largest file whose text goes into a request, bytes. */
const TEXT_MAX_BYTES = 8 * 1024 * 1024

/** The location of a folder's files, and the encoding of its texts if the person gave one. */
export interface FolderPlace {
  root: string
  encoding: string | undefined
  /** Called for each text file with its encoding. */
  onText: (path: string, encoding: string, by: SourceReader['encodingBy']) => void
}

/** Turns an entry of a walk into a row of `FOLDER_COLUMNS`, with an error if it cannot be sent. */
export async function readFolderRow(row: number, entry: FolderEntry, place: FolderPlace): Promise<SourceRow> {
  const path = entry.path.toWellFormed()
  const kind = entry.kind === 'file' ? findFileKind(entry.path) : null
  const refuse = (cause: ProblemCause, found?: string): SourceRow => ({
    row,
    cells: [path, kind ?? '', '', '', kind === 'media' ? path : ''],
    problems: [
      { row, severity: 'error', ...cause, ...(found === undefined ? {} : { found: toFound(found) }) },
    ],
  })
  if (entry.kind === 'outside') {
    return refuse({ code: 'outside_folder' }, entry.target)
  }
  if (entry.kind === 'unreadable') return refuse({ code: 'unreadable_file' }, entry.code)
  if (entry.kind === 'special') {
    return refuse({ code: 'unknown_kind', args: { isFile: false } }, 'a socket, pipe or device')
  }
  if (kind === null) {
    return refuse({ code: 'unknown_kind', args: { isFile: true } }, toKnownBy(entry.path))
  }
  if (entry.sizeBytes === 0) return refuse({ code: 'empty_file' }, '0 bytes')
  if (kind !== 'media' && entry.sizeBytes > TEXT_MAX_BYTES) {
    return refuse(
      { code: 'oversized_row', args: { of: 'file' } },
      `${(entry.sizeBytes / 1024 / 1024).toFixed(1)} MiB`,
    )
  }
  try {
    return kind === 'media'
      ? await readMedia(row, path, join(place.root, entry.path))
      : readText(row, path, kind, place)
  } catch (error) {
    return refuse({ code: 'unreadable_file' }, toReason(error))
  }
}

function readText(
  row: number,
  path: string,
  kind: FileKind,
  { root, encoding: given, onText }: FolderPlace,
): SourceRow {
  const file = openSourceFile(join(root, path))
  try {
    const chosen = chooseEncoding(file, given)
    const { encoding, encodingBy, bomBytes } = chosen
    onText(path, encoding, encodingBy)
    const decoder = createPieceDecoder(encoding)
    const bytes = file.readBytes(bomBytes, Math.min(TEXT_MAX_BYTES, file.sizeBytes))
    const text = [decoder.decode(bytes) + decoder.end()]
    const problem = text[0]?.isWellFormed() === false ? replaceUndecodable(row, text, encoding) : null
    const [whole = ''] = text
    const cells = kind === 'text' ? [path, kind, whole, '', ''] : [path, kind, '', whole, '']
    const doubts = findEncodingWarnings(chosen).map((warning) => ({
      row,
      ...nameFiles(warning, path),
    }))
    const problems = [...doubts, ...findNuls(row, 1, [whole])]
    return { row, cells, problems: problem === null ? problems : [...problems, problem] }
  } finally {
    file.close()
  }
}

async function readMedia(row: number, path: string, file: string): Promise<SourceRow> {
  await access(file, constants.R_OK)
  const problems: FoundProblem[] = []
  const seconds = isVideo(path) ? await readVideoLength(file) : null
  if (seconds !== null && seconds > VIDEO_MAX_HOURS * 3600) {
    problems.push({
      row,
      severity: 'warning',
      code: 'video_too_long',
      args: { maxHours: VIDEO_MAX_HOURS },
      found: toClock(seconds),
    })
  }
  return { row, cells: [path, 'media', '', '', path], problems }
}

/** As in `1:12:05`. */
function toClock(seconds: number): string {
  const whole = Math.round(seconds)
  const pad = (number: number) => String(number).padStart(2, '0')
  return `${Math.floor(whole / 3600)}:${pad(Math.floor(whole / 60) % 60)}:${pad(whole % 60)}`
}

function toKnownBy(path: string): string {
  const ending = extname(path)
  return ending === '' ? 'a name without an ending' : ending
}

function toReason(error: unknown): string {
  if (error instanceof SluiceError) return saySourceProblem(error.said) ?? error.message
  return toSystemCode(error) ?? 'an unexpected error'
}

/** How a file of a folder is sent: as text, as a whole request, or as media that the service fetches. */
type FileKind = 'text' | 'request' | 'media'

const TEXT_ENDINGS = new Set(['.txt', '.text', '.md', '.markdown', '.html', '.htm'])

/** The kind of a file by its name's ending, or null for one that cannot be sent. */
export function findFileKind(path: string): FileKind | null {
  const ending = extname(path).toLowerCase()
  if (TEXT_ENDINGS.has(ending)) return 'text'
  if (ending === '.json') return 'request'
  return /^(?:image|video|audio)\//.test(toMediaType(ending)) ? 'media' : null
}

/** Whether a file is a video by its name's ending. */
function isVideo(path: string): boolean {
  return toMediaType(extname(path)).startsWith('video/')
}

function toMediaType(ending: string): string {
  return ending === '' ? '' : (mime.getType(ending) ?? '')
}

/** Most bytes read of a video to determine its length; without a limit, some would be read entirely. */
const MAX_READ_BYTES = 64 * 1024 * 1024

const CACHE_BYTES = 4 * 1024 * 1024

/**
 * Length of a video, seconds, from the head or index of its file; null if that does not tell, or the
 * container is not MP4, MOV, WebM or Matroska. Never rejects.
 */
async function readVideoLength(path: string): Promise<number | null> {
  const { CustomSource, Input, Logging, LogLevel, MATROSKA, MP4, QTFF, WEBM } = await import('mediabunny')
  // The library would write about undecodable data to the console.
  Logging.level = LogLevel.Silent
  const handle = await open(path, 'r').catch(() => null)
  if (handle === null) return null
  let leftBytes = MAX_READ_BYTES
  const source = new CustomSource({
    getSize: async () => (await handle.stat()).size,
    read: async (start, end) => {
      leftBytes -= end - start
      if (leftBytes < 0) throw new Error('the length stands nowhere near the head or the end')
      const buffer = new Uint8Array(end - start)
      await handle.read(buffer, 0, buffer.length, start)
      return buffer
    },
    maxCacheSize: CACHE_BYTES,
    prefetchProfile: 'none',
  })
  const input = new Input({ source, formats: [MP4, QTFF, WEBM, MATROSKA] })
  try {
    const seconds = (await input.getDurationFromMetadata()) ?? (await input.computeDuration())
    return Number.isFinite(seconds) && seconds > 0 ? seconds : null
  } catch {
    return null
  } finally {
    input.dispose()
    await handle.close()
  }
}
