import { expect, it } from 'vitest'
import { LEGACY_ENCODINGS } from '../../../../src/main/engine/source/decoding/legacy-encodings.ts'
import { resolveEncoding } from '../../../../src/main/engine/source/decoding/text-reader.ts'
import { ENCODING_GROUPS } from '../../../../src/renderer/features/source/encodings.ts'

/** Detected by byte-order marks, zero bytes, strict decoding and escape sequences. */
const RECOGNISED = ['utf-8', 'utf-16le', 'utf-16be', 'utf-32le', 'utf-32be', 'utf-7']
const ESCAPED = ['iso-2022-jp', 'iso-2022-kr', 'hz-gb-2312']

const choices = ENCODING_GROUPS.flatMap(({ items }) => items.map(({ value }) => value))

it('every encoding that is recognised or guessed can be chosen on Source', () => {
  const missing = [...RECOGNISED, ...ESCAPED, ...LEGACY_ENCODINGS].filter((name) => !choices.includes(name))
  expect(missing).toEqual([])
})

it('every encoding offered on Source is known to the reader by that name, and listed once', () => {
  expect(choices.map(resolveEncoding)).toEqual(choices)
  expect(new Set(choices).size).toBe(choices.length)
})
