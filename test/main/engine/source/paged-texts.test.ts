import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { PagedTexts } from '../../../../src/main/engine/source/xlsx/shared-strings.ts'

const listSpills = () => readdirSync(tmpdir()).filter((name) => /^sluice-[\da-f]{24}$/.test(name))

const toText = (number: number) =>
  number % 1000 === 7 ? '' : `text ${number} é😀${'x'.repeat(number % 4999 === 0 ? 200_000 : number % 50)}`

test.each([
  ['in memory', 64 * 1024 * 1024],
  ['in a file', 0],
  ['in both', 300_000],
])('texts come back by number, in any order, when they are %s', (_where, memoryBytes) => {
  const before = listSpills()
  const texts = new PagedTexts(memoryBytes)
  const count = 20_000
  for (let number = 0; number < count; number += 1) texts.push(toText(number))
  expect(texts.count).toBe(count)
  for (let number = 0; number < count; number += 1) expect(texts.get(number)).toBe(toText(number))
  for (let step = 0; step < count; step += 1) {
    const number = (step * 7919) % count
    expect(texts.get(number)).toBe(toText(number))
  }
  for (const number of [-1, count, 0.5, Number.NaN]) expect(texts.get(number)).toBeUndefined()
  texts.close()
  expect(listSpills()).toEqual(before)
})

test('pages of the file that are held while they are read have a limit in bytes', () => {
  const texts = new PagedTexts(0)
  for (let number = 0; number < 100; number += 1) texts.push(`${number}${'x'.repeat(1_000_000)}`)
  const before = process.memoryUsage().arrayBuffers
  for (let step = 0; step < 200; step += 1)
    expect(texts.get(step % 100)?.startsWith(`${step % 100}x`)).toBe(true)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(75_000_000)
  texts.close()
})
