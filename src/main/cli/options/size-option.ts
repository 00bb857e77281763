import { InvalidArgumentError } from 'commander'

const UNIT_BYTES: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1000,
  mb: 1000 ** 2,
  gb: 1000 ** 3,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
}

/** Parser of a size with its unit, `512kB`, `5MB` or `5MiB`, within a range of bytes, both ends included. */
export function createSizeParser(minimumBytes: number, maximumBytes: number): (text: string) => number {
  return (text) => {
    const match = /^(\d+\.?\d*|\.\d+)\s*([kmg]?i?b)$/i.exec(text.trim())
    const unitBytes = UNIT_BYTES[(match?.[2] ?? '').toLowerCase()]
    if (match === null || unitBytes === undefined) {
      throw new InvalidArgumentError(
        `expected a size with its unit, such as 5MB or 512kB, found \`${text}\`.`,
      )
    }
    const sizeBytes = Math.round(Number(match[1]) * unitBytes)
    if (sizeBytes < minimumBytes || sizeBytes > maximumBytes) {
      throw new InvalidArgumentError(
        `expected a size from ${minimumBytes} to ${maximumBytes} bytes, found \`${text}\`.`,
      )
    }
    return sizeBytes
  }
}
