import fc from 'fast-check'
import iconv from 'iconv-lite'

/** A generated delimited text, and how it is written and read. */
export interface DrawnText {
  text: string
  bytes: Buffer
  writtenIn: string
  /** Passed to the reader; undefined if the reader must detect it. */
  encoding: string | undefined
  header: boolean
  /** Quoting options of the reader; empty in most cases. */
  quoting: { quote?: string; escape?: string }
  /** Bytes of one read. */
  readBytes: number
}

/**
 * Encodings, each with characters that tell it from others, including encodings whose second byte can be
 * ASCII's `\` or `|`.
 */
const ENCODINGS: readonly { encoding: string; mark: boolean; given: boolean; letters: string }[] = [
  { encoding: 'utf-8', mark: false, given: false, letters: 'éß漢字😀\u{10400}ÿ\u2028\ufffd' },
  { encoding: 'utf-8', mark: true, given: false, letters: 'éß漢😀\u0085' },
  { encoding: 'utf-16le', mark: true, given: false, letters: 'é漢😀\u2029\u0a0d' },
  { encoding: 'utf-16be', mark: true, given: false, letters: 'é漢😀\u2c2c\u0d0a' },
  { encoding: 'utf-16le', mark: false, given: true, letters: 'é漢😀\u0a0a' },
  { encoding: 'utf-16be', mark: false, given: true, letters: 'é漢😀\u2222' },
  { encoding: 'utf-32le', mark: false, given: true, letters: 'é漢😀' },
  { encoding: 'windows-1252', mark: false, given: true, letters: 'éß€“”ÿ\u00a0' },
  { encoding: 'iso-8859-2', mark: false, given: true, letters: 'łčžőý' },
  { encoding: 'koi8-r', mark: false, given: true, letters: 'яЪю─' },
  { encoding: 'shift_jis', mark: false, given: true, letters: '表ソ十ポ漢ｱ' },
  { encoding: 'gb18030', mark: false, given: true, letters: '漢乗亅㐀€' },
  { encoding: 'big5', mark: false, given: true, letters: '功許蓋漢' },
  { encoding: 'euc-kr', mark: false, given: true, letters: '한글漢' },
]

const SYNTAX = ['"', '"', '""', "'", '\\', '\\"', '\n', '\n', '\r\n', '\r', ' ', '\t', '\0']
const DELIMITERS = [',', ';', '\t', '|']

/** Pieces that need no quotes, so that the reader can use its fast path. */
function isPlain(piece: string): boolean {
  return /^(?:letter|foreign|[ '\t])$/.test(piece)
}

/** ASCII letters, each at most once in a short text, so that a lost or moved one is noticed. */
const ASCII_LETTERS = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ']

const drawnCell = fc.record({
  pieces: fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constant('letter') },
      fc.constantFrom(...SYNTAX, 'foreign', 'foreign', 'escaped'),
    ),
    {
      maxLength: 6,
    },
  ),
  quoted: fc.constantFrom('no', 'no', 'yes', 'open', 'late'),
})

const drawnRecord = fc.oneof(
  { weight: 6, arbitrary: fc.array(drawnCell, { minLength: 1, maxLength: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom('blank' as const, 'empty' as const, 'header' as const) },
)

/**
 * Texts that are mostly tables: ragged, broken quotes, mixed line ends, blank records, NUL, many encodings.
 */
export const drawnText: fc.Arbitrary<DrawnText> = fc
  .record({
    written: fc.constantFrom(...ENCODINGS),
    delimiter: fc.constantFrom(...DELIMITERS),
    columns: fc.integer({ min: 1, max: 4 }),
    // Tables with correct quotes and rows are as likely as others.
    tidiness: fc.constantFrom('plain', 'tidy', 'tidy', 'ragged', 'wild'),
    escapeBy: fc.constantFrom('doubling', 'doubling', 'backslash', 'nothing'),
    newlines: fc.oneof(
      fc.constantFrom(['\n'], ['\r\n'], ['\r'], ['\r\r\n']),
      fc.array(fc.constantFrom('\n', '\r\n', '\r'), { minLength: 2, maxLength: 4 }),
    ),
    header: fc.boolean(),
    quoting: fc.constantFrom(
      {},
      {},
      {},
      { escape: '\\' },
      { escape: '\\' },
      { quote: "'" },
      { quote: 'none' },
    ),
    records: fc.array(drawnRecord, { minLength: 1, maxLength: 8 }),
    isEnded: fc.boolean(),
    padding: fc.constantFrom(0, 0, 0, 5),
    readBytes: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(65_536)),
  })
  .map(
    ({
      written,
      delimiter,
      columns,
      tidiness,
      escapeBy,
      newlines,
      header,
      records,
      isEnded,
      padding,
      ...rest
    }) => {
      const isEscapeStated = 'escape' in rest.quoting
      let letters = 0
      let foreign = 0
      let lines = 0
      const endLine = () => newlines[lines++ % newlines.length] ?? '\n'
      const others = [...written.letters]
      const toPiece = (piece: string): string => {
        if (piece === 'letter') return ASCII_LETTERS[letters++ % ASCII_LETTERS.length] ?? 'a'
        if (piece === 'escaped') return `\\${delimiter}`
        if (piece === 'foreign') return others[foreign++ % others.length] ?? 'b'
        return piece
      }
      const writeCell = ({ pieces, quoted }: { pieces: string[]; quoted: string }): string => {
        const isTidy = tidiness !== 'wild'
        const text = pieces
          .filter((piece) => tidiness !== 'plain' || isPlain(piece))
          .map(toPiece)
          .join('')
        const hasDelimiter = text.replaceAll(isEscapeStated ? `\\${delimiter}` : '', '').includes(delimiter)
        const needsQuotes = isTidy && /["\r\n]/.test(text + (hasDelimiter ? '"' : ''))
        if (quoted === 'no' && !needsQuotes) return text
        if (quoted === 'late' && !isTidy) return `${text}"`
        const doubled =
          escapeBy === 'doubling' || isTidy
            ? text.replaceAll('"', '""')
            : escapeBy === 'backslash'
              ? text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')
              : text
        return `"${doubled}${quoted === 'open' && !isTidy ? '' : '"'}`
      }
      const names = Array.from({ length: columns }, (_, index) => `n${index}`).join(delimiter)
      let text = header ? names + endLine() : ''
      for (const [index, record] of records.entries()) {
        const end = index < records.length - 1 || isEnded ? endLine() : ''
        if (record === 'blank') text += end
        else if (record === 'empty') text += delimiter.repeat(columns - 1) + end
        else if (record === 'header') text += names + end
        else {
          const cells = record.map(writeCell)
          if (tidiness === 'tidy' || tidiness === 'plain') {
            while (cells.length < columns) cells.push(writeCell({ pieces: ['letter'], quoted: 'no' }))
            cells.length = columns
          }
          text += cells.join(delimiter) + end
        }
      }
      text += '\0'.repeat(padding)
      const encoded = iconv.encode(text, written.encoding, { addBOM: written.mark })
      return {
        text: iconv.decode(encoded, written.encoding, { stripBOM: written.mark }),
        bytes: encoded,
        writtenIn: written.encoding,
        encoding: written.given ? written.encoding : undefined,
        header,
        ...rest,
      }
    },
  )
