import { hash } from 'node:crypto'

/** Draws a number from 0 (inclusive) to 1 (exclusive). The same purpose always gives the same number. */
export type Draw = (purpose: string) => number

/**
 * Creates a source of chance that depends only on the seed, a key such as a post_id, and the number of its
 * try; not on the order of requests, nor on time.
 */
export function createDraw(seed: string, key: string, tryNumber: number): Draw {
  const state = hashInto(hashInto(hashInto(0x811c9dc5, seed), key), String(tryNumber))
  return (purpose) => mixBits(hashInto(state, purpose)) / 0x1_0000_0000
}

/** FNV-1a over UTF-16 code units, with a separator after each text. */
function hashInto(state: number, text: string): number {
  let hash = state
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return Math.imul(hash ^ 0x1f, 0x01000193)
}

/** The finalizer of MurmurHash3, which spreads every bit over the whole word. */
function mixBits(state: number): number {
  let hash = state
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** An identifier derived from the seed and its purpose, so that runs are reproducible. */
export function toSeededId(seed: string, ...parts: readonly string[]): string {
  const digits = hash('sha256', [seed, ...parts].join('\n'))
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20, 32)}`
}
