import { pipeline } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import { type Entry, openPromise, type ZipFile } from 'yauzl'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { ForeignContent } from '../../../../shared/messages/source-messages.ts'
import { toThrownText } from '../../../../shared/messages/thrown.ts'
import { findBinarySignature, type SourceFile } from '../source-file.ts'

/** The parts of a workbook's file, each read where it is asked for. */
export interface Archive {
  readonly path: string
  /** Names of the parts in lower case. */
  readonly names: ReadonlySet<string>
  /** Size of a part, bytes; 0 where there is none. */
  sizeOf(name: string): number
  /**
   * A part's bytes, piece by piece, checked against its size and checksum. Throws `BAD_SOURCE` for a part that is
   * missing, damaged, encrypted, packed tighter than real workbooks are, or larger than `maxBytes`.
   */
  readPart(name: string, maxBytes: number): AsyncGenerator<Buffer, void, undefined>
  close(): void
}

/** Parts that a workbook may have; real ones have a few hundred at most. */
const MAX_PARTS = 20_000

/** Most bytes of their names and remarks, all of which are held in memory. */
const MAX_LIST_BYTES = 4 * 1024 * 1024

/**
 * What is packed tighter than this was made to fill a disk or memory: deflate comes to 1,032 at most, sheets to 10 to
 * 40. Parts up to a small size are read whatever their ratio, as a sheet of one long value again and again has it.
 */
const MAX_RATIO = 200
const SMALL_BYTES = 4 * 1024 * 1024

const DEFLATED = 8
const PIECE_BYTES = 128 * 1024

/**
 * Opens the zip file that a workbook is; `contentPath` is where its bytes are, if that is an unpacked copy. Throws
 * `BAD_SOURCE` where it is damaged or cut short.
 */
export async function openArchive(path: string, contentPath = path): Promise<Archive> {
  let zip: ZipFile
  const entries = new Map<string, Entry>()
  let listBytes = 0
  try {
    zip = await openPromise(contentPath, { autoClose: false })
  } catch (cause) {
    throw createDamageError(path, 'its list of parts cannot be found', cause)
  }
  try {
    for await (const entry of zip.eachEntry()) {
      if (entries.size === MAX_PARTS) {
        throw createLimitError(path, `the workbook has more than ${formatCount(MAX_PARTS)} parts`)
      }
      listBytes += entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength
      if (listBytes > MAX_LIST_BYTES) {
        throw createLimitError(path, `its list of parts takes more than ${toMegabytes(MAX_LIST_BYTES)}`)
      }
      entries.set(entry.fileName.toLowerCase(), entry)
    }
  } catch (cause) {
    zip.close()
    if (cause instanceof SluiceError) throw cause
    throw createDamageError(path, toThrownText(cause), cause)
  }
  return {
    path,
    names: new Set(entries.keys()),
    sizeOf: (name) => entries.get(name.toLowerCase())?.uncompressedSize ?? 0,
    readPart(name, maxBytes) {
      const entry = entries.get(name.toLowerCase())
      if (entry === undefined) throw createDamageError(path, `it has no part ${name}`)
      refuseBomb(path, entry, maxBytes)
      return readEntry(path, zip, entry)
    },
    close: () => zip.close(),
  }
}

function refuseBomb(path: string, entry: Entry, maxBytes: number): void {
  const { fileName, uncompressedSize, compressedSize } = entry
  if (entry.isEncrypted()) {
    throw new SluiceError({ id: 'workbook_protected', source: path, part: fileName })
  }
  const found = `the part ${fileName} unpacks to ${toMegabytes(uncompressedSize)}`
  if (uncompressedSize > SMALL_BYTES && uncompressedSize > compressedSize * MAX_RATIO) {
    const ratio = Math.round(uncompressedSize / Math.max(1, compressedSize))
    throw createLimitError(
      path,
      `${found}, ${formatCount(ratio)} times its packed size; parts over ${toMegabytes(SMALL_BYTES)} may unpack to at most ${MAX_RATIO} times theirs`,
    )
  }
  if (uncompressedSize > maxBytes) {
    throw createLimitError(path, `${found}; at most ${toMegabytes(maxBytes)} are read`)
  }
}

async function* readEntry(path: string, zip: ZipFile, entry: Entry): AsyncGenerator<Buffer, void, undefined> {
  let checksum = 0
  let sizeBytes = 0
  try {
    for await (const piece of await openPieces(zip, entry)) {
      checksum = crc32(piece, checksum)
      sizeBytes += piece.length
      if (sizeBytes > entry.uncompressedSize) break
      yield piece
    }
  } catch (cause) {
    throw createDamageError(path, `${entry.fileName}: ${toThrownText(cause)}`, cause)
  }
  if (sizeBytes !== entry.uncompressedSize) {
    throw createDamageError(path, `${entry.fileName} is not as long as the file says`)
  }
  if (checksum !== entry.crc32) {
    throw createDamageError(path, `the checksum of ${entry.fileName} does not fit its content`)
  }
}

async function openPieces(zip: ZipFile, entry: Entry): Promise<AsyncIterable<Buffer>> {
  if (entry.compressionMethod !== DEFLATED) return zip.openReadStreamPromise(entry)
  const packed = await zip.openReadStreamPromise(entry, { decodeFileData: false })
  // Its own stream, because the small pieces of yauzl's each cost a turn of the event loop.
  return pipeline(packed, createInflateRaw({ chunkSize: PIECE_BYTES }), () => undefined)
}

/** The error of a workbook that is not whole. */
export function createDamageError(path: string, reason: string, cause?: unknown): Error {
  return new SluiceError({ id: 'workbook_damaged', source: path, reason }, { cause })
}

/** The error of a workbook that passes a limit, which `reason` names. */
export function createLimitError(path: string, reason: string): Error {
  return new SluiceError({ id: 'workbook_too_large', source: path, reason })
}

/** A count as errors have it, such as 1,000,000. */
export function formatCount(count: number): string {
  return COUNT.format(count)
}

const COUNT = new Intl.NumberFormat('en-US')

function toMegabytes(sizeBytes: number): string {
  return `${formatCount(Math.round(sizeBytes / 1024 / 1024))} MiB`
}

const ZIP = [0x50, 0x4b]
const COMPOUND = [0xd0, 0xcf, 0x11, 0xe0]

/** Throws `BAD_SOURCE` for a file that is not a zip archive, saying what it is instead. */
export function refuseForeignFile(file: SourceFile): void {
  const head = file.readBytes(0, 4096)
  const begins = (bytes: readonly number[]) => bytes.every((byte, index) => head[index] === byte)
  if (begins(ZIP)) return
  if (begins(COMPOUND)) throw createCompoundError(file, head)
  const { path } = file
  const other = findBinarySignature(head)
  if (other !== null) {
    throw new SluiceError({ id: 'workbook_is_other', source: path, content: other })
  }
  const isPage = /^\s*<(?:!doctype html|html|table|\?xml)/i.test(head.toString('latin1').replace(/^ï»¿/, ''))
  throw new SluiceError({ id: 'workbook_is_other', source: path, content: isPage ? 'markup' : 'other' })
}

/** Old workbooks and encrypted new ones are both compound files; the names in its directory tell which. */
function createCompoundError(file: SourceFile, head: Buffer): Error {
  const sectorBytes = 1 << Math.min(head.readUInt16LE(30), 16)
  const directory = file.readBytes((head.readUInt32LE(48) + 1) * sectorBytes, 16 * 1024)
  const has = (name: string) => directory.includes(Buffer.from(name, 'utf16le'))
  if (has('EncryptedPackage')) {
    return new SluiceError({ id: 'workbook_protected', source: file.path, part: null })
  }
  return new SluiceError({
    id: 'workbook_is_other',
    source: file.path,
    content: has('Workbook') || has('Book') ? 'xls' : 'old_office',
  })
}

const FOREIGN: readonly { part: string; content: ForeignContent }[] = [
  { part: 'xl/workbook.bin', content: 'xlsb' },
  { part: 'index/document.iwa', content: 'numbers' },
  { part: 'index.zip', content: 'numbers' },
  { part: 'content.xml', content: 'ods' },
  { part: 'word/document.xml', content: 'docx' },
  { part: 'ppt/presentation.xml', content: 'pptx' },
]

/** Throws `BAD_SOURCE` for an archive that is not an Excel workbook, saying what it is instead. */
export function refuseForeignArchive({ path, names }: Archive): void {
  const foreign = FOREIGN.find(({ part }) => names.has(part))
  if (names.has('xl/workbook.xml') || (foreign === undefined && names.has('_rels/.rels'))) return
  throw new SluiceError({ id: 'workbook_is_other', source: path, content: foreign?.content ?? 'archive' })
}
