/** A box of an MP4 file: size, name, content. */
function toBox(name: string, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(body.length + 8)
  head.write(name, 4, 'latin1')
  return Buffer.concat([head, body])
}

function toUint32(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(numbers.length * 4)
  for (const [index, number] of numbers.entries()) bytes.writeUInt32BE(number, index * 4)
  return bytes
}

const MATRIX = toUint32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)

/** An MP4 file with one video track of this many seconds and no frames. */
export function createMp4(seconds: number): Buffer {
  const movie = toBox(
    'mvhd',
    toUint32(0, 0, 0, 1000, seconds * 1000, 0x10000, 0x01000000, 0, 0),
    MATRIX,
    toUint32(0, 0, 0, 0, 0, 0, 2),
  )
  const track = toBox(
    'tkhd',
    toUint32(3, 0, 0, 1, 0, seconds * 1000, 0, 0, 0, 0),
    MATRIX,
    toUint32(320 << 16, 240 << 16),
  )
  const mediaHead = toBox('mdhd', toUint32(0, 0, 0, 1000, seconds * 1000, 0x55c40000))
  const handler = toBox('hdlr', toUint32(0, 0), Buffer.from('vide'), toUint32(0, 0, 0), Buffer.from('\0'))
  const emptyTable = (name: string) => toBox(name, toUint32(0, 0))
  const sample = toBox(
    'avc1',
    Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]),
    Buffer.alloc(16),
    Buffer.from([1, 64, 0, 240]),
    Buffer.alloc(50),
    toBox('avcC', Buffer.from([1, 66, 0, 10, 255, 224, 0])),
  )
  const table = toBox(
    'stbl',
    toBox('stsd', toUint32(0, 1), sample),
    emptyTable('stts'),
    emptyTable('stsc'),
    toBox('stsz', toUint32(0, 0, 0)),
    emptyTable('stco'),
  )
  const media = toBox('mdia', mediaHead, handler, toBox('minf', toBox('vmhd', toUint32(1, 0, 0)), table))
  return Buffer.concat([
    toBox('ftyp', Buffer.from('isom'), toUint32(512), Buffer.from('isomavc1')),
    toBox('moov', movie, toBox('trak', track, media)),
  ])
}

/** An element of a Matroska file: id, size of the content in four bytes, content. */
function toElement(id: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content)
  const idBytes = Buffer.from(id.toString(16).padStart(2, '0'), 'hex')
  const size = Buffer.alloc(4)
  size.writeUInt32BE(0x10000000 + body.length)
  return Buffer.concat([idBytes, size, body])
}

function toFloat(number: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(number)
  return bytes
}

/** A WebM file with one video track of this many seconds and no frames. */
export function createWebm(seconds: number): Buffer {
  const info = toElement(
    0x1549a966,
    toElement(0x2ad7b1, toUint32(1_000_000)),
    toElement(0x4489, toFloat(seconds * 1000)),
  )
  const video = toElement(0xe0, toElement(0xb0, Buffer.from([1, 64])), toElement(0xba, Buffer.from([240])))
  const track = toElement(
    0xae,
    toElement(0xd7, Buffer.from([1])),
    toElement(0x73c5, Buffer.from([1])),
    toElement(0x83, Buffer.from([1])),
    toElement(0x86, Buffer.from('V_VP8')),
    video,
  )
  return Buffer.concat([
    toElement(0x1a45dfa3, toElement(0x4282, Buffer.from('webm'))),
    toElement(0x18538067, info, toElement(0x1654ae6b, track)),
  ])
}
