import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { ForeignContent } from '../../../../shared/messages/source-messages.ts'
import { findBinarySignature } from '../decoding/binary-content.ts'
import type { SourceFile } from '../source-file.ts'
import type { Archive } from './archive.ts'

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
