import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { SluiceError } from '../../../../src/shared/messages/errors.ts'
import { findUnaccounted } from '../../../helpers/accounted/account-for-text.ts'
import { type DrawnText, drawnText } from '../../../helpers/accounted/drawn-text.ts'
import { PLANTED_FAULTS } from '../../../helpers/accounted/planted-faults.ts'
import { type ReadSource, readSource, writeSource } from './read-source.ts'

const RUNS = inject('isLong') ? 10_000 : 200
const SEED = 20_261_126

/** The reading of a drawn text; null if it is refused, since nothing of it is sent then. */
function read({ bytes, encoding, header, readBytes, quoting }: DrawnText): ReadSource | null {
  try {
    return readSource(writeSource(bytes), {
      header,
      readBytes,
      ...quoting,
      ...(encoding === undefined ? {} : { encoding }),
    })
  } catch (error) {
    if (error instanceof SluiceError) return null
    throw error
  }
}

/** What is not accounted for; reading a text in another encoding only has to be reported. */
function findFault({ text, writtenIn }: DrawnText, source: ReadSource): string {
  if (source.encoding === writtenIn) return findUnaccounted(text, source)
  const isTold = source.told.length + source.rows.flatMap(({ problems }) => problems).length > 0
  return isTold ? '' : `read in ${source.encoding} without a word`
}

test('every character of a text is in a cell, is syntax, or is reported', () => {
  let refused = 0
  fc.assert(
    fc.property(drawnText, (drawn) => {
      const source = read(drawn)
      if (source === null) refused += 1
      else expect(findFault(drawn, source), JSON.stringify(drawn.text)).toBe('')
    }),
    { numRuns: RUNS, seed: SEED },
  )
  // A reader that refuses everything would account for everything.
  expect(refused).toBeLessThan(RUNS / 3)
}, 600_000)

test.each(Object.entries(PLANTED_FAULTS))('a reader that %s is detected', (_name, plant) => {
  const { failed } = fc.check(
    fc.property(drawnText, (drawn) => {
      const source = read(drawn)
      return source === null || findFault(drawn, plant(source, drawn)) === ''
    }),
    { numRuns: 400, seed: SEED, endOnFailure: true },
  )
  expect(failed).toBe(true)
})
