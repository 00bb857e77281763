import type { ForeignContent } from '../../../../shared/messages/source-messages.ts'

const SIGNATURES: readonly { bytes: readonly number[]; content: ForeignContent }[] = [
  { bytes: [0x50, 0x4b, 0x03, 0x04], content: 'zip' },
  { bytes: [0xd0, 0xcf, 0x11, 0xe0], content: 'office' },
  { bytes: [0x25, 0x50, 0x44, 0x46, 0x2d], content: 'pdf' },
  { bytes: [0x89, 0x50, 0x4e, 0x47], content: 'png' },
  { bytes: [0xff, 0xd8, 0xff], content: 'jpeg' },
  { bytes: [0x1f, 0x8b], content: 'gzip' },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], content: 'zstd' },
  { bytes: [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20, 0x66], content: 'sqlite' },
]

/** Tells by its first bytes that a file is of a well-known kind that is not text, or returns null. */
export function findBinarySignature(sample: Buffer): ForeignContent | null {
  const found = SIGNATURES.find(({ bytes }) => bytes.every((byte, index) => sample[index] === byte))
  return found?.content ?? null
}
