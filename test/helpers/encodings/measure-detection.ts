import { decodeSample } from '../../../src/main/engine/source/decoding/decode-sample.ts'
import { chooseEncoding, loadDetector } from '../../../src/main/engine/source/decoding/encoding.ts'
import type { SourceFile } from '../../../src/main/engine/source/source-file.ts'
import { createEncodedTables, ENCODED_LANGUAGES } from './encoded-sentences.ts'

/**
 * Results for tables with known encodings: right, asked, wrong though reported as a guess, silently wrong.
 */
export type Detection = 'right' | 'asked' | 'wrong' | 'silent'

/** Detections in some tables, and those that were not right: encoding, language and guess. */
export interface DetectionCounts {
  counts: Record<Detection, number>
  /** Of those that asked, how many named the right encoding first, and among the alternatives. */
  askedFirst: number
  askedAmong: number
  missed: { detection: Detection; encoding: string; language: string; guess: string }[]
}

/**
 * Detects the encodings of tables with this many rows, at most `tables` per encoding and language, from a
 * folder's sentences.
 */
export async function measureDetection(
  rows: number,
  tables: number,
  folder?: string,
): Promise<DetectionCounts> {
  await loadDetector()
  const result: DetectionCounts = {
    counts: { right: 0, asked: 0, wrong: 0, silent: 0 },
    askedFirst: 0,
    askedAmong: 0,
    missed: [],
  }
  for (const [encoding, languages] of Object.entries(ENCODED_LANGUAGES)) {
    for (const language of languages.split(' ')) {
      for (const table of createEncodedTables(encoding, language, rows, folder).slice(0, tables)) {
        const chosen = chooseEncoding(toFile(table.bytes), undefined)
        const reads = (one: string) => decodeSample(table.bytes, one) === table.text
        const detection =
          chosen.readings.length > 0
            ? 'asked'
            : reads(chosen.encoding)
              ? 'right'
              : chosen.encodingBy === 'guess'
                ? 'wrong'
                : 'silent'
        result.counts[detection] += 1
        if (detection === 'asked' && reads(chosen.encoding)) result.askedFirst += 1
        if (detection === 'asked' && chosen.readings.some((one) => reads(one.encoding)))
          result.askedAmong += 1
        if (detection !== 'right') {
          result.missed.push({ detection, encoding, language, guess: chosen.encoding })
        }
      }
    }
  }
  return result
}

/** Bytes in memory as a file. */
function toFile(bytes: Buffer): SourceFile {
  return {
    path: 'table.csv',
    sizeBytes: bytes.length,
    readBytes: (offset, length) => Buffer.from(bytes.subarray(offset, offset + length)),
    readInto: (buffer, offset) => buffer.subarray(0, bytes.copy(buffer, 0, offset)),
    close: () => undefined,
  }
}
