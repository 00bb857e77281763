import { expect, it } from 'vitest'
import { parseJson } from '../../../src/shared/service/parse-json.ts'

it('keeps the digits of integers that a double cannot hold, wherever they are', () => {
  const long = '12345678901234567890'
  const texts = [`{"id":${long}}`, `{"id": -${long}}`, `[0.5,${long}]`, long, `-${long}`, ` ${long}`]
  expect(texts.map(parseJson)).toEqual([
    { id: long },
    { id: `-${long}` },
    [0.5, long],
    long,
    `-${long}`,
    long,
  ])
  // Next to a score with as many digits as a double has.
  const score = 81 / 997
  expect(parseJson(`{"score":${score},"id":${long}}`)).toEqual({ score, id: long })
})

it('reads all other numbers unchanged', () => {
  const numbers = [81 / 997, -1 / 3, 1e-7 / 3, 2 ** 53 - 1, 1e300]
  expect(parseJson(JSON.stringify({ numbers }))).toEqual({ numbers })
  const texts = ['1234567890123456.5', '12345678901234567890.5e-3']
  expect(parseJson(`[${texts.join(', ')}]`)).toEqual(texts.map(Number))
})

it('takes no JSON that is nested too deeply to be read, and brackets in texts for texts', () => {
  const nest = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`
  expect(parseJson(nest(900))).toBeDefined()
  expect(parseJson(nest(200_000))).toBeUndefined()
  expect(parseJson(`${'[1,{"a":'.repeat(5_000)}0${'}]'.repeat(5_000)}`)).toBeUndefined()
  const text = `\\"${'['.repeat(5_000)}`
  expect(parseJson(JSON.stringify({ text }))).toEqual({ text })
  expect(parseJson(`[${'[],'.repeat(5_000)}0]`)).toBeDefined()
})
