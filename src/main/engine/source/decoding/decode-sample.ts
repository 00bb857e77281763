import { createPieceDecoder } from './text-reader.ts'

/** Bytes of a file as text in an encoding; what does not decode is U+FFFD. */
export function decodeSample(bytes: Buffer, encoding: string): string {
  const decoder = createPieceDecoder(encoding)
  return (decoder.decode(bytes) + decoder.end()).toWellFormed()
}
