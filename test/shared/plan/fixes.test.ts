import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  addFix,
  type Fix,
  fixesSchema,
  getFixedRecord,
  listFixedFields,
  substitute,
} from '../../../src/shared/plan/fixes.ts'

test('substitutes the forbidden characters of ids so that different ids stay different', () => {
  expect(substitute('user_1;a')).toBe('user~5F1~3Ba')
  expect(substitute('a~b_')).toBe('a~7Eb~5F')
  expect(substitute('a~5Fb')).toBe('a~7E5Fb')
  expect(substitute('plain-id.7')).toBe('plain-id.7')
  const ids = ['a_b', 'a~5Fb', 'a~7E5Fb', 'a;b', 'a~3Bb', 'a~5Fb_', 'a_~b', 'a__b', '_', ';', '~', '~_', '_~']
  expect(new Set(ids.map((id) => substitute(id))).size).toBe(ids.length)
  for (const id of ids) expect(substitute(id)).not.toMatch(/[_;]/)
})

test('every id can be recovered from its substitute, so no two ids share one', () => {
  const piece = fc.oneof(
    fc.constantFrom('_', ';', '~', '~5F', '~3B', '~7E', '5F', 'a'),
    fc.string({ unit: 'binary' }),
  )
  const id = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(id, (one) => {
      const sent = substitute(one)
      const restored = sent.replaceAll(/~(..)/g, (_, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      )
      return !/[_;]/.test(sent) && restored === one
    }),
    { numRuns: 1_000 },
  )
})

test('a run of version 0.2.0 keeps its substitutes, even when it is corrected', () => {
  expect(substitute('a~5Fb', '_;')).toBe('a~5Fb')
  expect(substitute('a_~b', '_;')).toBe('a~5F~7Eb')
  const old: Fix = { kind: 'substitute', field: 'user_id', escapes: '_;' }
  expect(addFix([old], { kind: 'substitute', field: 'user_id' })).toEqual([old])
  expect(addFix([old], { kind: 'substitute', field: 'post_id' })).toHaveLength(2)
})

test('a second fix of the same place replaces the first', () => {
  const first: Fix = { kind: 'cell', row: 3, field: 'user_id', value: 'a' }
  const second: Fix = { kind: 'cell', row: 3, field: 'user_id', value: 'b', was: 'x' }
  const other: Fix = { kind: 'cell', row: 4, field: 'user_id', value: 'c' }
  expect(addFix([first, other], second)).toEqual([other, second])
  const rule: Fix = { kind: 'leave_out', problem: 'not_unique', field: 'post_id' }
  expect(addFix([rule], rule)).toEqual([rule])
})

test('names one record, which plans of earlier versions called its row', () => {
  const fixes = [
    { kind: 'cell', record: 3, field: 'user_id', value: 'a' },
    { kind: 'cell', row: 3, field: 'user_id', value: 'b' },
    { kind: 'leave_out_row', record: 4 },
    { kind: 'leave_out_row', row: 4 },
    { kind: 'split' },
  ]
  const parsed = fixesSchema.parse(fixes)
  expect(parsed.map(getFixedRecord)).toEqual([3, 3, 4, 4, null])
  expect(parsed.reduce(addFix, [] as Fix[])).toEqual([fixes[1], fixes[3], fixes[4]])
  for (const numbers of [{}, { record: 3, row: 4 }]) {
    const { error } = fixesSchema.safeParse([{ kind: 'leave_out_row', ...numbers }])
    expect(error?.issues[0]).toMatchObject({ path: [0, 'record'] })
  }
})

test("names each field whose value fixes may change, and that replies follow their parents' ids", () => {
  expect(
    listFixedFields([
      { kind: 'substitute', field: 'post_id' },
      { kind: 'cell', row: 1, field: 'text_data', value: '' },
      { kind: 'value', problem: 'required', field: 'text_data', value: 'x' },
      { kind: 'leave_out_row', row: 2 },
    ]),
  ).toEqual(['post_id', 'parent_id', 'text_data'])
})

test('refuses more fixes than a person makes, and codes that no problem has', () => {
  const many = Array.from({ length: 10_001 }, (_, i) => ({ kind: 'leave_out_row', row: i + 1 }))
  expect(fixesSchema.safeParse(many).error?.issues[0]?.message).toBe(
    'expected at most 10000 fixes; use a rule',
  )
  expect(fixesSchema.safeParse([{ kind: 'leave_out', problem: 'ugly' }]).success).toBe(false)
})
