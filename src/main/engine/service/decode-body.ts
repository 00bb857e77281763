import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib'
import { toSystemCode } from '../../../shared/messages/thrown.ts'
import { ANSWER_MAX_BYTES, type Answer } from './exchange.ts'

/** A decoded body may be this many times the size of what came; small ones may be {@link SMALL_BYTES} anyway. */
const RATIO_MAX = 200
const SMALL_BYTES = 1024 * 1024

/** Codings that one body may have, one around the other. */
const CODINGS_MAX = 3

/** The widest window that HTTP allows zstd (RFC 9659), as a power of two: 8 MiB. */
const ZSTD_WINDOW_LOG_MAX = 23

type Decode = (bytes: Buffer, maxBytes: number) => Buffer

/** By the name of the content coding (RFC 9110 §8.4.1). */
const DECODERS = new Map<string, Decode>([
  ['gzip', (bytes, maxOutputLength) => gunzipSync(bytes, { maxOutputLength })],
  ['x-gzip', (bytes, maxOutputLength) => gunzipSync(bytes, { maxOutputLength })],
  ['deflate', inflate],
  ['br', (bytes, maxOutputLength) => brotliDecompressSync(bytes, { maxOutputLength })],
  [
    'zstd',
    (bytes, maxOutputLength) =>
      zstdDecompressSync(bytes, {
        maxOutputLength,
        params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX },
      }),
  ],
])

/**
 * Decodes a body that came whole: `codings` is the Content-Encoding header, '' where there is none. Sluice asks for
 * none, and some services compress anyway. Where a body cannot be decoded within the limits, `bodyProblem` says why.
 */
export function decodeBody(bytes: Buffer, codings: string): Pick<Answer, 'body' | 'bodyProblem'> {
  const names = codings
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity')
  // Most answers: there is nothing to decode.
  if (names.length === 0 || bytes.length === 0) return { body: bytes.toString('utf8') }
  if (names.length > CODINGS_MAX) {
    return toUndecoded(`has ${names.length} content codings; at most ${CODINGS_MAX} are decoded`)
  }
  const maxBytes = Math.min(ANSWER_MAX_BYTES, Math.max(SMALL_BYTES, bytes.length * RATIO_MAX))
  let decoded = bytes
  // The last coding is the outermost.
  for (const name of names.reverse()) {
    const decode = DECODERS.get(name)
    if (decode === undefined) {
      return toUndecoded(`has the content coding "${name.slice(0, 40)}", which Sluice cannot decode`)
    }
    try {
      decoded = decode(decoded, maxBytes)
    } catch (error) {
      return toUndecoded(toReason(error, name, bytes.length))
    }
  }
  return { body: decoded.toString('utf8') }
}

/** Some services mean the bare DEFLATE format by this name, without the header of zlib. */
function inflate(bytes: Buffer, maxOutputLength: number): Buffer {
  const isZlib = bytes.length > 1 && ((bytes[0] ?? 0) & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0
  return isZlib ? inflateSync(bytes, { maxOutputLength }) : inflateRawSync(bytes, { maxOutputLength })
}

function toReason(error: unknown, name: string, sizeBytes: number): string {
  if (toSystemCode(error) !== 'ERR_BUFFER_TOO_LARGE') return `is not valid ${name}: it is damaged or cut`
  return sizeBytes * RATIO_MAX >= ANSWER_MAX_BYTES
    ? `is larger than ${ANSWER_MAX_BYTES / 1024 / 1024} MiB when decoded (${name})`
    : `grows more than ${RATIO_MAX} times when decoded (${name})`
}

function toUndecoded(reason: string): Pick<Answer, 'body' | 'bodyProblem'> {
  return { body: '', bodyProblem: `the body ${reason}` }
}
