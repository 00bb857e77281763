/** Decodes a file piece by piece; a character cut by the end of a piece is returned with the next one. */
export interface PieceDecoder {
  decode(piece: Buffer): string
  /** The rest at the file's end: the mark for broken bytes if a character was cut short, else nothing. */
  end(): string
}

/** Seven-bit encodings that neither TextDecoder nor iconv-lite decodes without losing characters. */
const SHIFTED_ENCODINGS = ['hz-gb-2312', 'iso-2022-kr', 'utf-7'] as const

export type ShiftedEncoding = (typeof SHIFTED_ENCODINGS)[number]

export function isShifted(encoding: string): encoding is ShiftedEncoding {
  return SHIFTED_ENCODINGS.some((known) => known === encoding)
}

/** A decoder of text that shifts between ASCII and other characters; `undecodable` replaces broken parts. */
export function createShiftedDecoder(encoding: ShiftedEncoding, undecodable: string): PieceDecoder {
  if (encoding === 'utf-7') return createUtf7Decoder(undecodable)
  return createPairDecoder(encoding, undecodable)
}

const ESCAPE = 0x1b
const SHIFT_OUT = 0x0e
const SHIFT_IN = 0x0f
const TILDE = 0x7e
const LINE_FEED = 0x0a

/** Pairs in HZ and ISO-2022-KR are those of GB 18030 and EUC-KR without their high bits. */
function createPairDecoder(encoding: 'hz-gb-2312' | 'iso-2022-kr', undecodable: string): PieceDecoder {
  const isHz = encoding === 'hz-gb-2312'
  const decoder = new TextDecoder(isHz ? 'gb18030' : 'euc-kr')
  let carried: Buffer = Buffer.alloc(0)
  let isShifted = false

  /** The shift sequence that begins here: null if there is none, 'cut' if the piece ends within it. */
  const findShift = (
    bytes: Buffer,
    at: number,
  ): { length: number; shifted: boolean; text?: number } | 'cut' | null => {
    const byte = bytes[at]
    const next = bytes[at + 1]
    if (isHz) {
      if (byte === LINE_FEED) return { length: 1, shifted: false, text: LINE_FEED }
      if (byte !== TILDE) return null
      if (next === undefined) return 'cut'
      if (next === 0x7b) return { length: 2, shifted: true }
      if (next === 0x7d) return { length: 2, shifted: false }
      if (isShifted) return null
      if (next === TILDE) return { length: 2, shifted: false, text: TILDE }
      return next === LINE_FEED ? { length: 2, shifted: false } : null
    }
    if (byte === SHIFT_OUT) return { length: 1, shifted: true }
    if (byte === SHIFT_IN) return { length: 1, shifted: false }
    if (byte !== ESCAPE) return null
    const sequence = bytes.subarray(at, at + DESIGNATION.length)
    if (!sequence.equals(DESIGNATION.subarray(0, sequence.length))) return null
    return sequence.length < DESIGNATION.length ? 'cut' : { length: sequence.length, shifted: isShifted }
  }

  const decode = (bytes: Buffer, isLast: boolean): string => {
    const pairs: number[] = []
    let at = 0
    while (at < bytes.length) {
      const shift = findShift(bytes, at)
      if (shift === 'cut' && !isLast) break
      if (shift !== null && shift !== 'cut') {
        isShifted = shift.shifted
        if (shift.text !== undefined) pairs.push(shift.text)
        at += shift.length
        continue
      }
      const byte = bytes[at] ?? 0
      pairs.push(isShifted && byte > 0x20 ? byte | 0x80 : byte)
      at += 1
    }
    carried = Buffer.from(bytes.subarray(at))
    return decoder.decode(Uint8Array.from(pairs), { stream: !isLast }).replaceAll('\uFFFD', undecodable)
  }

  return {
    decode: (piece) => decode(Buffer.concat([carried, piece]), false),
    end: () => decode(carried, true),
  }
}

/** Announces Korean pairs in ISO-2022-KR. */
const DESIGNATION = Buffer.from('\x1b$)C', 'latin1')

const BASE64 = /[A-Za-z0-9+/]*/y

function createUtf7Decoder(undecodable: string): PieceDecoder {
  let carried = ''
  let isShifted = false

  const decode = (text: string, isLast: boolean): string => {
    let decoded = ''
    let at = 0
    while (at < text.length) {
      if (!isShifted) {
        const plus = text.indexOf('+', at)
        const to = plus === -1 ? text.length : plus
        decoded += text.slice(at, to).replaceAll(/[\x80-\xff]/g, undecodable)
        at = to
        if (plus === -1) break
        if (plus + 1 === text.length && !isLast) break
        isShifted = true
        at = plus + 1
        if (text[at] === '-') decoded += '+'
        else if (!/[A-Za-z0-9+/]/.test(text[at] ?? '')) decoded += undecodable
      }
      BASE64.lastIndex = at
      const run = BASE64.exec(text)?.[0] ?? ''
      const end = at + run.length
      if (end === text.length && !isLast) {
        // Eight characters make three whole units.
        const whole = run.length - (run.length % 8)
        decoded += toUnits(run.slice(0, whole), undecodable)
        at += whole
        break
      }
      decoded += toUnits(run, undecodable)
      at = text[end] === '-' ? end + 1 : end
      isShifted = false
    }
    carried = text.slice(at)
    return decoded
  }

  return {
    decode: (piece) => decode(carried + piece.toString('latin1'), false),
    end: () => decode(carried, true),
  }
}

/** The UTF-16 units of a base64 run; `isWhole` unless non-zero bits are left over at its end. */
export function readUtf7Run(run: string): { units: string; isWhole: boolean } {
  const bits = (run.length * 6) % 16
  // Buffer drops bits that do not fill a byte, so the run is padded with zeros.
  const bytes = Buffer.from(`${run}AA`, 'base64')
  const whole = 2 * Math.floor((run.length * 6) / 16)
  const isWhole = bits < 6 && bytes.subarray(whole).every((byte) => byte === 0)
  return { units: Buffer.from(bytes.subarray(0, whole)).swap16().toString('utf16le'), isWhole }
}

function toUnits(run: string, undecodable: string): string {
  const { units, isWhole } = readUtf7Run(run)
  return isWhole ? units : units + undecodable
}
