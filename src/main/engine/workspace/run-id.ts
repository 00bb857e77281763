import { randomInt } from 'node:crypto'

/** No vowels, so no words; no letters that look like digits. */
const ALPHABET = 'bcdfghjkmnpqrstvwxz23456789'
const RANDOM_LENGTH = 4

/**
 * A new run's id: its time in UTC to the millisecond and a random tail, as in `20261121-094329-347k3f9`. Sorts by time,
 * and holds neither `_` nor `;`, so that it can be part of a post_id (docs/interface.md §2.1).
 */
export function createRunId(nowMs: number = Date.now()): string {
  const [date = '', time = ''] = new Date(nowMs).toISOString().split('T')
  const tail = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  const [clock = '', ms = ''] = time.replace('Z', '').split('.')
  return `${date.replaceAll('-', '')}-${clock.replaceAll(':', '')}-${ms}${tail}`
}
