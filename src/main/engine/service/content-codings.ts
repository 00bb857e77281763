import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib'
import { toSystemCode } from '../../../shared/messages/thrown.ts'

/** A decoded body may be this many times its received size; small ones may be {@link SMALL_BYTES}. */
const RATIO_MAX = 200
const SMALL_BYTES = 1024 * 1024

/** Most nested codings of one body. */
const CODINGS_MAX = 3

/** The widest window that HTTP allows zstd (RFC 9659), as a power of two: 8 MiB. */
const ZSTD_WINDOW_LOG_MAX = 23

type Decode = (bytes: Buffer, maxBytes: number) => Buffer

/** By name of the content coding (RFC 9110 §8.4.1). */
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

/** The content codings that are decoded, as an Accept-Encoding header names them. */
export const ACCEPTED_CODINGS = 'gzip, deflate, br, zstd'

/** A body without its content codings, or why it cannot be decoded, in words that follow "the body". */
export type DecodedContent =
  | { kind: 'decoded'; bytes: Buffer }
  | { kind: 'unsupported' | 'damaged' | 'oversized'; reason: string }

/**
 * Decodes a complete body: `codings` is the Content-Encoding header, '' if missing. When decoded it may have
 * at most `maxBytes`, and grow {@link RATIO_MAX} times.
 */
export function decodeContent(bytes: Buffer, codings: string, maxBytes: number): DecodedContent {
  // Most bodies need no decoding.
  if (codings === '' || bytes.length === 0) return { kind: 'decoded', bytes }
  const names = codings
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity')
  if (names.length === 0) return { kind: 'decoded', bytes }
  if (names.length > CODINGS_MAX) {
    const reason = `has ${names.length} content codings; at most ${CODINGS_MAX} are decoded`
    return { kind: 'unsupported', reason }
  }
  const limit = Math.min(maxBytes, Math.max(SMALL_BYTES, bytes.length * RATIO_MAX))
  let decoded = bytes
  // The last coding is the outermost.
  for (const name of names.reverse()) {
    const decode = DECODERS.get(name)
    if (decode === undefined) {
      const reason = `has the content coding "${name.slice(0, 40)}", which Sluice cannot decode`
      return { kind: 'unsupported', reason }
    }
    try {
      decoded = decode(decoded, limit)
    } catch (error) {
      if (toSystemCode(error) !== 'ERR_BUFFER_TOO_LARGE')
        return { kind: 'damaged', reason: `is not valid ${name}: it is damaged or cut` }
      return { kind: 'oversized', reason: toTooLong(name, limit === maxBytes ? maxBytes : null) }
    }
  }
  return { kind: 'decoded', bytes: decoded }
}

/** Some services use this name for the bare DEFLATE format, without zlib's header. */
function inflate(bytes: Buffer, maxOutputLength: number): Buffer {
  const isZlib = bytes.length > 1 && ((bytes[0] ?? 0) & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0
  return isZlib ? inflateSync(bytes, { maxOutputLength }) : inflateRawSync(bytes, { maxOutputLength })
}

/** `maxBytes` is null if the limit is the growth of a body. */
function toTooLong(name: string, maxBytes: number | null): string {
  return maxBytes === null
    ? `grows more than ${RATIO_MAX} times when decoded (${name})`
    : `is larger than ${maxBytes / 1024 / 1024} MiB when decoded (${name})`
}
