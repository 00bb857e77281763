import iconv from 'iconv-lite'
import type { EncodingReading } from '../../../../shared/run/results.ts'
import { decodeSample } from './decode-sample.ts'
import { measureImplausibility } from './implausible-text.ts'
import { isTurkish } from './turkish-letters.ts'

/** The likely encoding of text; `readings` are this and the alternatives, empty if it is certain. */
export interface EncodingGuess {
  encoding: string
  readings: readonly EncodingReading[]
}

export type Detector = Pick<typeof import('jschardet'), 'chardet'>

/** A legacy encoding: its name for decoders and for the detector, and how likely a file of today uses it. */
interface Candidate {
  encoding: string
  detectedAs: string
  likelihood: number
}

const CANDIDATES: readonly Candidate[] = [
  ['windows-1252', 'cp1252', 1],
  ['windows-1251', 'cp1251', 1],
  ['shift_jis', 'cp932', 1],
  ['gb18030', 'gb18030', 1],
  ['windows-1250', 'cp1250', 0.97],
  ['windows-1253', 'cp1253', 0.97],
  ['windows-1255', 'cp1255', 0.97],
  ['windows-1256', 'cp1256', 0.97],
  ['windows-874', 'cp874', 0.97],
  ['euc-jp', 'euc_jis_2004', 0.97],
  ['big5', 'big5hkscs', 0.97],
  ['euc-kr', 'cp949', 0.97],
  ['windows-1254', 'cp1254', 0.95],
  ['koi8-r', 'koi8-r', 0.95],
  ['iso-8859-2', 'iso8859-2', 0.95],
  ['iso-8859-7', 'iso8859-7', 0.95],
  ['iso-8859-15', 'iso8859-15', 0.95],
  ['macintosh', 'mac-roman', 0.95],
  ['ibm866', 'cp866', 0.95],
  ['windows-1257', 'cp1257', 0.88],
  ['koi8-u', 'koi8-u', 0.93],
  ['iso-8859-8', 'iso8859-8', 0.93],
  ['cp850', 'cp850', 0.93],
  ['iso-8859-5', 'iso8859-5', 0.92],
  ['iso-8859-6', 'iso8859-6', 0.92],
  ['cp852', 'cp852', 0.92],
  ['windows-1258', 'cp1258', 0.9],
  ['iso-8859-13', 'iso8859-13', 0.9],
  ['x-mac-cyrillic', 'mac-cyrillic', 0.9],
  ['cp437', 'cp437', 0.9],
  ['cp737', 'cp737', 0.9],
  ['cp857', 'cp857', 0.9],
  ['cp858', 'cp858', 0.9],
  ['cp855', 'cp855', 0.88],
  ['cp862', 'cp862', 0.88],
  ['cp775', 'cp775', 0.88],
  ['iso-8859-4', 'iso8859-4', 0.85],
  ['maccenteuro', 'mac-latin2', 0.85],
  ['macgreek', 'mac-greek', 0.85],
  ['macturkish', 'mac-turkish', 0.85],
  ['cp865', 'cp865', 0.85],
  ['cp869', 'cp869', 0.85],
  ['iso-8859-3', 'iso8859-3', 0.8],
  ['iso-8859-10', 'iso8859-10', 0.8],
  ['iso-8859-16', 'iso8859-16', 0.8],
  ['maciceland', 'mac-iceland', 0.8],
  ['cp720', 'cp720', 0.8],
  ['cp860', 'cp860', 0.8],
  ['cp861', 'cp861', 0.8],
  ['cp863', 'cp863', 0.8],
  ['cp1125', 'cp1125', 0.8],
  ['iso-8859-14', 'iso8859-14', 0.75],
  ['cp864', 'cp864', 0.6],
].map(([encoding, detectedAs, likelihood]) => ({ encoding, detectedAs, likelihood }) as Candidate)

/** Every encoding that {@link guessLegacyEncoding} may name. */
export const LEGACY_ENCODINGS: readonly string[] = CANDIDATES.map(({ encoding }) => encoding)

/** Relative weights, as measured by `npm run bench -- encodings`. */
const WEIGHTS = { words: 0.3, lines: 0.7, likelihood: 3, implausibility: 3 }

/** Added to the detector's result, which is 0 for encodings that it leaves out. */
const LEAST_CONFIDENCE = 0.01

/** Evidence from which the detector is fully trusted. */
const TRUSTED_EVIDENCE = 12

/** How much more likely Windows-1254 becomes if the non-ASCII letters are Turkish. */
const TURKISH_FACTOR = 2

/** How much better than the next one the best must be: this factor, and more with little evidence. */
const CERTAIN_MARGIN = 1.25
const CERTAIN_EVIDENCE = 6
/** Encodings that map almost any bytes to a character, and so need more of them. */
const LARGE_SETS: ReadonlySet<string> = new Set(['gb18030', 'big5', 'euc-kr'])
/** Largest share of implausible characters in text considered certain. */
const CERTAIN_SHARE = 0.15

/** Encodings whose decoded text is examined, chosen by the detector and their likelihood. */
const JUDGED_CANDIDATES = 28

/** Most readings shown, including the best. */
const TOLD_READINGS = 4

/**
 * The encoding of lines that are not UTF-8. The detector knows how likely the bytes are in each language;
 * then the decoded text must make sense. Encodings in which all words read the same count as one.
 */
export function guessLegacyEncoding({ chardet }: Detector, lines: Buffer): EncodingGuess {
  const words = findWords(lines)
  const rank = (bytes: Buffer, includeEncodings: readonly string[]): ReadonlyMap<string | null, number> =>
    new Map(
      chardet
        .detectAll(bytes, {
          includeEncodings,
          emptyInputEncoding: includeEncodings[0] ?? 'cp1252',
          noMatchEncoding: includeEncodings[0] ?? 'cp1252',
          ignoreThreshold: true,
          compatNames: false,
          preferSuperset: false,
        })
        .map(({ encoding, confidence }) => [encoding, confidence]),
    )
  const all = CANDIDATES.map(({ detectedAs }) => detectedAs)
  const spaced = Buffer.from(words.join(' '), 'latin1')
  const byWords = rank(spaced, all)
  const byLines = rank(lines, all)
  const bytes = Buffer.from(words.join('\n'), 'latin1')
  // With few bytes any language may be the likeliest, so the detector says little.
  const evidence = countEvidence(words)
  const trust = Math.min(1, evidence / TRUSTED_EVIDENCE)
  const turkish = isTurkish(bytes) ? TURKISH_FACTOR : 1
  const toLikelihood = ({ encoding, detectedAs, likelihood }: Candidate): number => {
    // The detector was trained on small letters.
    const isCapital = isMostlyCapital(decodeSample(bytes, encoding))
    const toConfidence = (known: ReadonlyMap<string | null, number>, from: Buffer): number =>
      (isCapital ? rank(toSmallLetters(from, encoding), [detectedAs]) : known).get(detectedAs) ?? 0
    return (
      (toConfidence(byWords, spaced) + LEAST_CONFIDENCE) ** (trust * WEIGHTS.words) *
      (toConfidence(byLines, lines) + LEAST_CONFIDENCE) ** (trust * WEIGHTS.lines) *
      likelihood ** WEIGHTS.likelihood *
      (encoding === 'windows-1254' ? turkish : 1)
    )
  }
  const likely = CANDIDATES.map((candidate) => ({
    encoding: candidate.encoding,
    likelihood: toLikelihood(candidate),
  }))
    .sort((one, other) => other.likelihood - one.likelihood)
    .slice(0, JUDGED_CANDIDATES)
  const scored = new Map<
    string,
    { encoding: string; score: number; text: string; share: number; characters: number }
  >()
  for (const { encoding, likelihood } of likely) {
    const text = decodeSample(bytes, encoding)
    if (scored.has(text)) continue
    const { weight, characters } = measureImplausibility(text)
    // The more characters, the less likely is the same share of implausible ones.
    const score =
      likelihood * Math.exp((-WEIGHTS.implausibility * weight) / Math.sqrt(Math.max(1, characters)))
    scored.set(text, { encoding, score, text, share: weight / Math.max(1, characters), characters })
  }
  const [best, second, ...rest] = [...scored.values()].sort((a, b) => b.score - a.score)
  if (best === undefined) return { encoding: 'windows-1252', readings: [] }
  const needed = LARGE_SETS.has(best.encoding) ? 3 * CERTAIN_EVIDENCE : CERTAIN_EVIDENCE
  const margin = CERTAIN_MARGIN + needed / Math.min(best.characters, evidence)
  const katakana =
    best.encoding !== KATAKANA && mayBeKatakana(bytes)
      ? [{ encoding: KATAKANA, text: decodeSample(bytes, KATAKANA) }]
      : []
  const isCertain =
    best.share <= CERTAIN_SHARE &&
    katakana.length === 0 &&
    (second === undefined || best.score >= margin * second.score)
  if (isCertain) return { encoding: best.encoding, readings: [] }
  const others = [second, ...rest].filter((one) => one !== undefined && one.encoding !== KATAKANA)
  const told = [best, ...katakana, ...others].filter((one) => one !== undefined).slice(0, TOLD_READINGS)
  return { encoding: best.encoding, readings: told.map(toReading) }
}

/** The reading, in an encoding, of lines that are not UTF-8. */
export function readLinesAs(lines: Buffer, encoding: string): EncodingReading {
  return toReading({
    encoding,
    text: decodeSample(Buffer.from(findWords(lines).join('\n'), 'latin1'), encoding),
  })
}

const KATAKANA = 'shift_jis'

/** Least share of low bytes (below those of letters) in text that may be halfwidth katakana. */
const KATAKANA_SHARE = 0.1

/**
 * Whether all bytes beyond ASCII may be halfwidth katakana, which the detector does not know, and some are
 * rarely letters in other encodings.
 */
function mayBeKatakana(bytes: Buffer): boolean {
  const high = bytes.filter((byte) => byte >= 0x80)
  const low = high.filter((byte) => byte < 0xc0)
  return high.every((byte) => byte > 0xa0 && byte < 0xe0) && low.length >= KATAKANA_SHARE * high.length
}

const LEAST_CAPITALS = 4

/** Whether most letters beyond ASCII in a text are capitals. */
function isMostlyCapital(text: string): boolean {
  const capitals = text.match(/(?![A-Z])\p{Lu}/gu)?.length ?? 0
  const small = text.match(/(?![a-z])\p{Ll}/gu)?.length ?? 0
  return capitals >= LEAST_CAPITALS && capitals > 2 * small
}

function toSmallLetters(bytes: Buffer, encoding: string): Buffer {
  return iconv.encode(decodeSample(bytes, encoding).toLowerCase(), encoding.replace(/^x-/, ''))
}

/** Most words judged, and most bytes of each. */
const MAX_WORDS = 3000
const MAX_WORD_BYTES = 200

/**
 * The distinct words with bytes beyond ASCII in some lines, as Latin-1, with numbers normalised: what stands
 * at one price stands at all of them. No encoding uses these delimiters inside a character.
 */
function findWords(lines: Buffer): string[] {
  const words = new Set<string>()
  for (const [word] of lines.toString('latin1').matchAll(/[^\0- ,;"']*[\x80-\xff][^\0- ,;"']*/g)) {
    words.add(word.slice(0, MAX_WORD_BYTES).replaceAll(NUMBER, '0'))
    if (words.size === MAX_WORDS) break
  }
  return [...words]
}

/** A number that is not part of a multi-byte character. */
const NUMBER = /(?<![\x80-\xff])\d[\d.,:/-]*(?<=\d)/g

/**
 * How much the bytes beyond ASCII reveal about their encoding: the number of those with different neighbours,
 * but little if few bytes are distinct, and nothing if all may be one character. A sign repeated in every row
 * could be any sign.
 */
function countEvidence(words: readonly string[]): number {
  const contexts = new Set<string>()
  const bytes = new Set<string>()
  const runs = new Set<string>()
  for (const word of words) {
    for (const [run] of word.matchAll(/[\x80-\xff]+/g)) runs.add(run)
    for (const [byte, before, behind] of word.matchAll(/(?<=(^|.))[\x80-\xff](?=($|.))/g)) {
      bytes.add(byte)
      contexts.add(`${before}${byte} ${behind}`)
    }
  }
  const mayBeOne = bytes.size < 2 || (bytes.size === 2 && runs.size === 1)
  return mayBeOne ? 0 : Math.min(contexts.size, bytes.size ** 2)
}

const SAMPLE_CHARACTERS = 40

function toReading({ encoding, text }: { encoding: string; text: string }): EncodingReading {
  const [first = '', ...words] = text.split('\n')
  let sample = first.slice(0, SAMPLE_CHARACTERS)
  for (const word of words) {
    if (sample.length + word.length >= SAMPLE_CHARACTERS) break
    sample += ` ${word}`
  }
  return { encoding, sample: sample.toWellFormed() }
}
