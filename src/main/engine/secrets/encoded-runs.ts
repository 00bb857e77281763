import type { Span } from './escapes.ts'

/** By character code: 1 for the characters of base64 in either alphabet, hexadecimal digits among them. */
const IS_ENCODED = new Uint8Array(0x10000)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_') {
  IS_ENCODED[character.charCodeAt(0)] = 1
}

/**
 * Runs of at least `least` characters that may be base64 or hexadecimal. Looks at every `least`-th character first,
 * since a run of that length has one of them: ordinary text costs next to nothing.
 */
export function findEncodedRuns(text: string, least: number): Span[] {
  const runs: Span[] = []
  for (let at = least - 1; at < text.length; at += least) {
    if (!isEncoded(text, at)) continue
    const from = runs.at(-1)?.end ?? 0
    let start = at
    while (start > from && isEncoded(text, start - 1)) start -= 1
    let end = at + 1
    while (end < text.length && isEncoded(text, end)) end += 1
    if (end - start >= least) runs.push({ start, end })
    // What ended the run is no part of another one.
    at = end
  }
  return runs
}

function isEncoded(text: string, at: number): boolean {
  return IS_ENCODED[text.charCodeAt(at)] === 1
}

/** What a run may be decoded to, one character for each byte: as hexadecimal, and as base64 that begins at any of its characters. */
export function* decodeRun(run: string): Generator<string> {
  if (/^[\da-f]+$/i.test(run)) {
    yield Buffer.from(run, 'hex').toString('latin1')
    yield Buffer.from(run.slice(1), 'hex').toString('latin1')
  }
  for (let skipped = 0; skipped < 4; skipped += 1) {
    yield Buffer.from(run.slice(skipped), 'base64').toString('latin1')
  }
}
