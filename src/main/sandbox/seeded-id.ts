import { hash } from 'node:crypto'

/** An identifier that follows from the seed and what it is given for, so that runs repeat. */
export function toSeededId(seed: string, ...parts: readonly string[]): string {
  const digits = hash('sha256', [seed, ...parts].join('\n'))
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20, 32)}`
}
