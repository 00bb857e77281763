import { createPieceDecoder } from './text-reader.ts'

/** Decodes bytes of a file in an encoding; undecodable ones become U+FFFD. */
export function decodeSample(bytes: Buffer, encoding: string): string {
  const decoder = createPieceDecoder(encoding)
  return (decoder.decode(bytes) + decoder.end()).toWellFormed()
}
