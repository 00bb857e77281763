import { pipeline } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader } from 'yauzl'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { ForeignContent } from '../../../../shared/messages/source-messages.ts'
import { toThrownText } from '../../../../shared/messages/thrown.ts'
import { findBinarySignature, type SourceFile } from '../source-file.ts'

/** Most parts of a workbook; real ones have a few hundred at most. */
const MAX_PARTS = 20_000

/** Most bytes of their names and remarks together, which are held in memory. */
const MAX_LIST_BYTES = 4 * 1024 * 1024

/**
 * Anything compressed more than this was made to fill a disk or memory: deflate reaches 1,032, sheets 10 to
 * 40. Small parts are read whatever their ratio, since a sheet may repeat one long value.
 */
const MAX_RATIO = 200
const SMALL_BYTES = 4 * 1024 * 1024

const STORED = 0
const DEFLATED = 8
const PIECE_BYTES = 128 * 1024

/**
 * Opens a workbook's zip file, and closes it with the archive. Throws `BAD_SOURCE` if it is damaged, cut
 * short or encrypted; the file then stays open.
 */
export async function openArchive(file: SourceFile) {
  const { path } = file
  const entries = await readEntries(file)
  return {
    path,
    /** Names of the parts in lower case. */
    names: new Set(entries.keys()),
    /** Size of a part, bytes; 0 if there is none. */
    sizeOf: (name: string): number => entries.get(name.toLowerCase())?.uncompressedSize ?? 0,
    /**
     * A part's bytes, piece by piece, checked against its size and checksum. Throws `BAD_SOURCE` for a part
     * that is missing, damaged, encrypted, compressed more than real workbooks are, or larger than
     * `maxBytes`.
     */
    readPart(name: string, maxBytes: number): AsyncGenerator<Buffer, void, undefined> {
      const entry = entries.get(name.toLowerCase())
      if (entry === undefined) throw createDamageError(path, `it has no part ${name}`)
      refuseBomb(path, entry, maxBytes)
      return readEntry(file, entry)
    },
    close: (): void => file.close(),
  }
}

/** The parts of a workbook's file, each read on demand. */
export interface Archive extends Awaited<ReturnType<typeof openArchive>> {}

/** The entries of the archive's list of parts, by lower-case name. */
async function readEntries(file: SourceFile): Promise<Map<string, Entry>> {
  const { path } = file
  const entries = new Map<string, Entry>()
  let listBytes = 0
  try {
    const zip = await fromRandomAccessReaderPromise(new ListReader(file), file.sizeBytes)
    for await (const entry of zip.eachEntry()) {
      if (entries.size === MAX_PARTS) {
        throw createLimitError(path, `the workbook has more than ${formatCount(MAX_PARTS)} parts`)
      }
      listBytes += entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength
      if (listBytes > MAX_LIST_BYTES) {
        throw createLimitError(path, `its list of parts takes more than ${toMegabytes(MAX_LIST_BYTES)}`)
      }
      const name = entry.fileName.toLowerCase()
      // Programs might read either of them.
      if (entries.has(name)) throw createDamageError(path, `it has the part ${entry.fileName} twice`)
      entries.set(name, entry)
    }
  } catch (cause) {
    if (cause instanceof SluiceError) throw cause
    const reason = toThrownText(cause)
    if (reason === 'strong encryption is not supported') {
      throw new SluiceError({ id: 'workbook_protected', source: path, part: null }, { cause })
    }
    throw createDamageError(path, reason, cause)
  }
  return entries
}

/**
 * The file from which yauzl reads its list of parts. {@link readPacked} reads the parts themselves: yauzl's
 * streams share a queue of reads, and abandoning one ends the process if its read is still queued.
 */
class ListReader extends RandomAccessReader {
  readonly #file: SourceFile

  constructor(file: SourceFile) {
    super()
    this.#file = file
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    callback(null, this.#file.readInto(buffer.subarray(offset, offset + length), position).length)
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

async function* readEntry(file: SourceFile, entry: Entry): AsyncGenerator<Buffer, void, undefined> {
  const { path } = file
  let checksum = 0
  let sizeBytes = 0
  try {
    for await (const piece of openPieces(file, entry)) {
      checksum = crc32(piece, checksum)
      sizeBytes += piece.length
      if (sizeBytes > entry.uncompressedSize) break
      yield piece
    }
  } catch (cause) {
    if (cause instanceof SluiceError) throw cause
    throw createDamageError(path, `${entry.fileName}: ${toThrownText(cause)}`, cause)
  }
  if (sizeBytes !== entry.uncompressedSize) {
    throw createDamageError(path, `${entry.fileName} is not as long as the file says`)
  }
  if (checksum !== entry.crc32) {
    throw createDamageError(path, `the checksum of ${entry.fileName} does not fit its content`)
  }
}

function openPieces(file: SourceFile, entry: Entry): Iterable<Buffer> | AsyncIterable<Buffer> {
  const method = entry.compressionMethod
  if (method === STORED) return readPacked(file, entry)
  if (method !== DEFLATED) throw new Error(`unsupported compression method: ${method}`)
  return pipeline(readPacked(file, entry), createInflateRaw({ chunkSize: PIECE_BYTES }), () => undefined)
}

const LOCAL_HEADER = 0x04034b50
const LOCAL_HEADER_BYTES = 30

/**
 * A part's bytes as in the file. Each read ends before the next begins, so that the file can be closed
 * between any two. Sizes come from the list of parts: the header before a part may lack them.
 */
function* readPacked(file: SourceFile, entry: Entry): Generator<Buffer, void, undefined> {
  const header = readWhole(file, entry.relativeOffsetOfLocalHeader, LOCAL_HEADER_BYTES)
  if (header.readUInt32LE(0) !== LOCAL_HEADER) {
    throw new Error('its bytes do not start where the list of parts says')
  }
  const start =
    entry.relativeOffsetOfLocalHeader + LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28)
  const end = start + entry.compressedSize
  if (end > file.sizeBytes) throw new Error(BEYOND_END)
  for (let at = start; at < end; at += PIECE_BYTES) yield readWhole(file, at, Math.min(PIECE_BYTES, end - at))
}

const BEYOND_END = 'its bytes go beyond the end of the file'

function readWhole(file: SourceFile, offset: number, lengthBytes: number): Buffer {
  const bytes = file.readBytes(offset, lengthBytes)
  if (bytes.length < lengthBytes) throw new Error(BEYOND_END)
  return bytes
}

export function createDamageError(path: string, reason: string, cause?: unknown): Error {
  return new SluiceError({ id: 'workbook_damaged', source: path, reason }, { cause })
}

/** The error of a workbook that exceeds a limit; `reason` names it. */
export function createLimitError(path: string, reason: string): Error {
  return new SluiceError({ id: 'workbook_too_large', source: path, reason })
}

/** A count as in errors, such as 1,000,000. */
export function formatCount(count: number): string {
  return COUNT.format(count)
}

const COUNT = new Intl.NumberFormat('en-US')

function toMegabytes(sizeBytes: number): string {
  return `${formatCount(Math.round(sizeBytes / 1024 / 1024))} MiB`
}

const ZIP = [0x50, 0x4b]
const COMPOUND = [0xd0, 0xcf, 0x11, 0xe0]
const COMPOUND_HEADER_BYTES = 512

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
function createCompoundError(file: SourceFile, begin: Buffer): Error {
  // A truncated file may lack the location of its directory.
  const head = Buffer.concat([begin, Buffer.alloc(COMPOUND_HEADER_BYTES)])
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
