import type { MediaKind } from '../../shared/bridge/media.ts'

/** The type of a file, by its bytes and not by its name. */
export interface MediaType {
  shows: MediaKind
  /** For example `image/png`. */
  type: string
  isAnimated: boolean
}

/** How many bytes from the beginning are needed to tell a type. */
export const HEAD_BYTES = 4_096

/** Brands of ISO media files, most of which hold a video. */
const BRANDS: Readonly<Record<string, string | null>> = {
  avif: 'image/avif',
  avis: 'image/avif',
  'M4A ': 'audio/mp4',
  'M4B ': 'audio/mp4',
  // None of our browser engines shows these.
  heic: null,
  heix: null,
  hevc: null,
  mif1: null,
  msf1: null,
}

/**
 * The media type of a file by its first bytes; null if a page cannot show it, or if it could run code, as SVG
 * can. `head` has up to {@link HEAD_BYTES}.
 */
export function findMediaType(head: Uint8Array): MediaType | null {
  const type = findType(Buffer.from(head.buffer, head.byteOffset, head.byteLength))
  if (type === null) return null
  const [shows] = type.split('/')
  if (shows !== 'image' && shows !== 'video' && shows !== 'audio') return null
  return { shows, type, isAnimated: isAnimated(type, Buffer.from(head)) }
}

function findType(head: Buffer): string | null {
  const text = (from: number, to: number) => head.toString('latin1', from, to)
  if (text(0, 8) === '\x89PNG\r\n\x1a\n') return 'image/png'
  if (text(0, 3) === '\xff\xd8\xff') return 'image/jpeg'
  if (/^GIF8[79]a/.test(text(0, 6))) return 'image/gif'
  if (text(0, 2) === 'BM' && text(6, 10) === '\0\0\0\0') return 'image/bmp'
  if (text(0, 4) === 'RIFF') return { WEBP: 'image/webp', WAVE: 'audio/wav' }[text(8, 12)] ?? null
  if (text(4, 8) === 'ftyp') {
    const brand = text(8, 12)
    return brand in BRANDS ? (BRANDS[brand] ?? null) : 'video/mp4'
  }
  // Matroska and WebM.
  if (text(0, 4) === '\x1a\x45\xdf\xa3') return 'video/webm'
  if (text(0, 4) === 'OggS') return text(0, HEAD_BYTES).includes('theora') ? 'video/ogg' : 'audio/ogg'
  if (text(0, 4) === 'fLaC') return 'audio/flac'
  if (text(0, 3) === 'ID3') return 'audio/mpeg'
  return findStreamType(head)
}

/** MPEG audio and AAC begin with a frame of 11 or 12 set bits. */
function findStreamType([first = 0, second = 0, third = 0]: Buffer): string | null {
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return null
  if ((second & 0xf6) === 0xf0) return 'audio/aac'
  const hasLayer = (second & 0x06) !== 0
  const hasRates = (third & 0xf0) !== 0xf0 && (third & 0x0c) !== 0x0c
  return hasLayer && hasRates ? 'audio/mpeg' : null
}

function isAnimated(type: string, head: Buffer): boolean {
  if (type === 'image/gif') return head.includes('NETSCAPE2.0')
  if (type === 'image/png') return head.includes('acTL')
  if (type === 'image/webp')
    return head.toString('latin1', 12, 16) === 'VP8X' && ((head[20] ?? 0) & 0x02) !== 0
  return head.toString('latin1', 8, 12) === 'avis'
}
