import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { PagedTexts } from '../../../../src/main/engine/source/xlsx/shared-strings.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { keepTemporaryFilesApart } from '../../../helpers/temporary-folder.ts'
import { waitFor } from '../../../helpers/wait-for.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

keepTemporaryFilesApart()

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
  const inOrder = Array.from({ length: count }, (_, number) => number)
  const scattered = inOrder.map((step) => (step * 7919) % count)
  expect([...inOrder, ...scattered].filter((number) => texts.get(number) !== toText(number))).toEqual([])
  for (const number of [-1, count, 0.5, Number.NaN]) expect(texts.get(number)).toBeUndefined()
  texts.close()
  expect(listSpills()).toEqual(before)
})

test('cached pages of the file have a limit in bytes', async () => {
  onlyInLongForm()
  const texts = new PagedTexts(0)
  for (let number = 0; number < 100; number += 1) texts.push(`${number}${'x'.repeat(1_000_000)}`)
  collectGarbage()
  const before = process.memoryUsage().arrayBuffers
  const steps = Array.from({ length: 200 }, (_, step) => step % 100)
  expect(steps.filter((number) => !texts.get(number)?.startsWith(`${number}x`))).toEqual([])
  // V8 frees the memory of collected buffers in a separate thread.
  await waitFor(() => {
    collectGarbage()
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(75_000_000)
  })
  texts.close()
})
