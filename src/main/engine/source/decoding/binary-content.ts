const SIGNATURES: readonly { bytes: readonly number[]; kind: string; hint: string }[] = [
  {
    bytes: [0x50, 0x4b, 0x03, 0x04],
    kind: 'an Excel workbook (.xlsx) or another zip archive',
    hint: 'If it is a workbook, rename it to end in .xlsx or give the format (--format xlsx); if not, unpack the archive and name the table inside it.',
  },
  {
    bytes: [0xd0, 0xcf, 0x11, 0xe0],
    kind: 'an old Excel workbook (.xls) or another Office document',
    hint: 'Open it in a spreadsheet program, save it as .xlsx or CSV UTF-8, and name that file.',
  },
  {
    bytes: [0x25, 0x50, 0x44, 0x46, 0x2d],
    kind: 'a PDF document',
    hint: 'Export the table as CSV, and name that file.',
  },
  { bytes: [0x89, 0x50, 0x4e, 0x47], kind: 'a PNG image', hint: 'Name the CSV file that lists the content.' },
  { bytes: [0xff, 0xd8, 0xff], kind: 'a JPEG image', hint: 'Name the CSV file that lists the content.' },
  {
    bytes: [0x1f, 0x8b],
    kind: 'a gzip archive',
    hint: 'Unpack it first (gunzip), and name the unpacked file.',
  },
  {
    bytes: [0x28, 0xb5, 0x2f, 0xfd],
    kind: 'a zstd archive',
    hint: 'Unpack it first, and name the CSV file.',
  },
  {
    bytes: [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20, 0x66],
    kind: 'an SQLite database',
    hint: 'Export the table as CSV, and name that file.',
  },
]

/** What a file is that is not text. */
export interface BinaryContent {
  /** As in "expected text, found a PDF document". */
  kind: string
  hint: string
}

/** Tells by its first bytes that a file is of a well-known kind that is not text, or returns null. */
export function findBinarySignature(sample: Buffer): BinaryContent | null {
  const found = SIGNATURES.find(({ bytes }) => bytes.every((byte, index) => sample[index] === byte))
  return found === undefined ? null : { kind: found.kind, hint: found.hint }
}

/** Says where the first NUL byte is, which no text but UTF-16 and UTF-32 has, or returns null. */
export function findNulByte(sample: Buffer): BinaryContent | null {
  const offset = sample.indexOf(0)
  if (offset === -1) return null
  return {
    kind: `binary data (a NUL byte at offset ${offset})`,
    hint: 'Name a CSV or TSV file. If it is text in an unusual encoding, say which one, such as --encoding utf-16le.',
  }
}
