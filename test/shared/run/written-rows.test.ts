import { expect, test } from 'vitest'
import { listMissing } from '../../../src/shared/run/written-rows.ts'

test.each([
  [{ rows: 1, first: ['7'] }, 'The stored answer to 1 row is damaged: what it says is missing in row 7'],
  [
    { rows: 3, first: ['7', '9'] },
    'The stored answers to 3 rows are damaged: what they say is missing in rows 7, 9 and 1 other',
  ],
])('rows with damaged answers are named: %j', (damaged, said) => {
  expect(listMissing({ damaged })).toEqual([said])
})
