import { findBinarySignature } from '../decoding/binary-content.ts'
import { createSourceError } from '../source-error.ts'
import type { SourceFile } from '../source-file.ts'
import type { Archive } from './archive.ts'

const ZIP = [0x50, 0x4b]
const COMPOUND = [0xd0, 0xcf, 0x11, 0xe0]
const SAVE_AS = 'Open it in a spreadsheet program, save it as an Excel workbook (.xlsx) or as CSV UTF-8'

/** Throws `BAD_SOURCE` for a file that is not a zip archive, saying what it is instead. */
export function refuseForeignFile(file: SourceFile): void {
  const head = file.readBytes(0, 4096)
  const begins = (bytes: readonly number[]) => bytes.every((byte, index) => head[index] === byte)
  if (begins(ZIP)) return
  if (begins(COMPOUND)) throw createCompoundError(file, head)
  const { path } = file
  const other = findBinarySignature(head)
  if (other !== null) {
    throw createSourceError(path, `expected an Excel workbook (.xlsx), found ${other.kind}`, other.hint)
  }
  const isPage = /^\s*<(?:!doctype html|html|table|\?xml)/i.test(head.toString('latin1').replace(/^ï»¿/, ''))
  throw createSourceError(
    path,
    `expected an Excel workbook (.xlsx), found ${isPage ? 'a web page or XML document' : 'text or something else'} under that name`,
    isPage
      ? `${SAVE_AS}, and name that file.`
      : 'If it is a text table, rename it to end in .csv or give the format (--format csv); if not, save it again as .xlsx.',
  )
}

/** Old workbooks and encrypted new ones are both compound files; the names in its directory tell which. */
function createCompoundError(file: SourceFile, head: Buffer): Error {
  const sectorBytes = 1 << Math.min(head.readUInt16LE(30), 16)
  const directory = file.readBytes((head.readUInt32LE(48) + 1) * sectorBytes, 16 * 1024)
  const has = (name: string) => directory.includes(Buffer.from(name, 'utf16le'))
  if (has('EncryptedPackage')) {
    return createSourceError(
      file.path,
      'the workbook is protected with a password',
      'Open it in a spreadsheet program, save it without a password, and name that file.',
    )
  }
  return createSourceError(
    file.path,
    `expected an Excel workbook (.xlsx), found ${has('Workbook') || has('Book') ? 'an old Excel workbook (.xls)' : 'an old Office document'}`,
    `${SAVE_AS}, and name that file.`,
  )
}

const FOREIGN: readonly { part: string; kind: string }[] = [
  { part: 'xl/workbook.bin', kind: 'a binary Excel workbook (.xlsb)' },
  { part: 'index/document.iwa', kind: 'a Numbers document' },
  { part: 'index.zip', kind: 'a Numbers document' },
  { part: 'content.xml', kind: 'an OpenDocument file (.ods)' },
  { part: 'word/document.xml', kind: 'a Word document (.docx)' },
  { part: 'ppt/presentation.xml', kind: 'a PowerPoint presentation (.pptx)' },
]

/** Throws `BAD_SOURCE` for an archive that is not an Excel workbook, saying what it is instead. */
export function refuseForeignArchive({ path, names }: Archive): void {
  const foreign = FOREIGN.find(({ part }) => names.has(part))
  if (names.has('xl/workbook.xml') || (foreign === undefined && names.has('_rels/.rels'))) return
  throw createSourceError(
    path,
    `expected an Excel workbook (.xlsx), found ${foreign?.kind ?? 'a zip archive without a workbook in it'}`,
    foreign === undefined ? 'Unpack it, and name the table inside it.' : `${SAVE_AS}, and name that file.`,
  )
}
