import jschardet from 'jschardet'

const SAMPLE_BYTES = 64 * 1024
/** What a file that fits nothing else is read as: every byte has a character in it. */
const FALLBACK = 'windows-1252'

/** Encodings that the detector chooses among, by its names; the rest only take text away from Windows-1252. */
const CANDIDATES: Record<string, string> = {
  'Windows-1250': 'windows-1250',
  'Windows-1251': 'windows-1251',
  'Windows-1252': 'windows-1252',
  'Windows-1253': 'windows-1253',
  'Windows-1254': 'windows-1254',
  'Windows-1255': 'windows-1255',
  'Windows-1256': 'windows-1256',
  'Windows-1257': 'windows-1257',
  'KOI8-R': 'koi8-r',
  SHIFT_JIS: 'shift_jis',
  CP932: 'shift_jis',
  'EUC-JP': 'euc-jp',
  GB18030: 'gb18030',
  Big5: 'big5',
  CP949: 'euc-kr',
  'EUC-KR': 'euc-kr',
  'TIS-620': 'windows-874',
}

/** Below this the detector has seen too little to be believed against {@link FALLBACK}. */
const LEAST_CONFIDENCE = 0.03

/** The encoding of bytes that are no UTF-8: what the detector makes of them, else Windows-1252. */
export function guessLegacyEncoding(bytes: Buffer): string {
  const firstLine = bytes.findIndex((byte) => byte >= 0x80)
  const from = bytes.lastIndexOf(0x0a, Math.max(0, firstLine)) + 1
  const cut = bytes.subarray(from, from + SAMPLE_BYTES)
  // Whole lines only: a double-byte character cut in two would speak against its own encoding.
  const lastLine = cut.lastIndexOf(0x0a)
  const lines = cut.length === SAMPLE_BYTES && lastLine > 0 ? cut.subarray(0, lastLine + 1) : cut
  const found = jschardet
    .detectAll(lines, { detectEncodings: Object.keys(CANDIDATES) })
    .map(({ encoding, confidence }) => ({ encoding: CANDIDATES[encoding ?? ''], confidence }))
  const fallback = found.find(({ encoding }) => encoding === FALLBACK)?.confidence ?? 0
  const best = found[0]
  if (best?.encoding === undefined) return FALLBACK
  const isBelievable = best.confidence >= LEAST_CONFIDENCE && best.confidence >= 2 * fallback
  return isBelievable && decodesStrictly(lines, best.encoding) ? best.encoding : FALLBACK
}

function decodesStrictly(bytes: Buffer, encoding: string): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
